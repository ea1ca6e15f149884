/* The layout of chunks: PNG specification (ISO/IEC 15948), section 5. */
#include "image_verify.h"

#include <libdeflate.h>
#include <string.h>

enum { SIGNATURE = 8, CHUNK_OVERHEAD = 12, IHDR_LENGTH = 13 };

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool is(const uint8_t *chunk, const char *type)
{
    return memcmp(chunk + 4, type, 4) == 0;
}

bool image_verify(const uint8_t *bytes, size_t length, uint32_t width, uint32_t height)
{
    static const uint8_t signature[SIGNATURE] = {137, 'P', 'N', 'G', '\r', '\n', 26, '\n'};
    bool seen_idat = false;

    if (length < SIGNATURE || memcmp(bytes, signature, SIGNATURE) != 0)
        return false;
    for (size_t at = SIGNATURE; length - at >= CHUNK_OVERHEAD;) {
        const uint8_t *chunk = bytes + at;
        size_t data = big_endian(chunk);
        if (data > length - at - CHUNK_OVERHEAD)
            return false;
        /* Of type and data. A wrong length shows, since no chunk would follow. */
        if (libdeflate_crc32(0, chunk + 4, data + 4) != big_endian(chunk + 8 + data))
            return false;
        if ((at == SIGNATURE) != is(chunk, "IHDR"))
            return false;
        if (at == SIGNATURE && (data != IHDR_LENGTH || big_endian(chunk + 8) != width ||
                                big_endian(chunk + 12) != height))
            return false;
        seen_idat = seen_idat || is(chunk, "IDAT");
        at += data + CHUNK_OVERHEAD;
        if (is(chunk, "IEND"))
            return seen_idat && at == length;
    }
    return false;
}
