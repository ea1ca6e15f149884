#include "gzip.h"

#include <libdeflate.h>

struct blob *gzip_blob(const struct blob *body, int level)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    struct blob *out = compressor && body->length > 0 ? blob_new(body->length - 1) : NULL;

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
