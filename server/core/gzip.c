#include "gzip.h"

#include <libdeflate.h>

/* At most MOST bytes; 0: as many as it takes. */
static struct blob *pack(const struct blob *body, int level, size_t most)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    if (compressor && most == 0)
        most = libdeflate_gzip_compress_bound(compressor, body->length);
    struct blob *out = compressor ? blob_new(most) : NULL;

    if (out) {
        const size_t length = libdeflate_gzip_compress(compressor, body->bytes, body->length,
                                                       out->bytes, out->length);
        struct blob *exact = length > 0 ? blob_copy(out->bytes, length) : NULL;
        blob_release(out);
        out = exact;
    }
    libdeflate_free_compressor(compressor);
    return out;
}

struct blob *gzip_blob(const struct blob *body, int level)
{
    return body->length > 1 ? pack(body, level, body->length - 1) : NULL;
}

struct blob *gzip_blob_always(const struct blob *body, int level)
{
    return pack(body, level, 0);
}
