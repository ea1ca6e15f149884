/*
 * Files that may be tiles; half of the mutations repair the checksum. A second implementation
 * accepts the same files. An accepted file is not accepted for another key, or with a flipped bit.
 */
#include "server/png/image_checksum.h"

#include <xxhash.h>
#include <zlib.h>

#include "tests/fuzz/fuzz.h"

#define KEY "0123456789abcdef/relief/1/2/3.png"

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed);

enum { END = 12 + IMAGE_CHECKSUM + 12 };

static bool is_riff(const uint8_t *bytes, size_t length)
{
    return length >= 4 && memcmp(bytes, "RIFF", 4) == 0;
}

static size_t end_of(bool riff)
{
    return riff ? IMAGE_CHECKSUM_RIFF : END;
}

/* The end of a PNG, or a RIFF file, after BYTES: step by step, with neither the functions for the
 * machine at hand nor libdeflate. */
static void write_end(uint8_t *end, const uint8_t *bytes, size_t length, bool riff)
{
    static const uint8_t head[] = "\0\0\0\20flKY", riff_head[] = "flKY\20\0\0";
    static const uint8_t tail[] = "\0\0\0\0IEND\xae\x42\x60\x82";
    XXH3_state_t *state = XXH3_createState();
    XXH128_canonical_t content, both;

    must(state, "out of memory");
    XXH3_128bits_reset(state);
    for (size_t i = 0; i < length; i += 100)
        XXH3_128bits_update(state, bytes + i, length - i < 100 ? length - i : 100);
    XXH128_canonicalFromHash(&content, XXH3_128bits_digest(state));
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, content.digest, sizeof content.digest);
    XXH3_128bits_update(state, KEY, strlen(KEY));
    XXH128_canonicalFromHash(&both, XXH3_128bits_digest(state));
    XXH3_freeState(state);
    memcpy(end, riff ? riff_head : head, 8);
    memcpy(end + 8, both.digest, IMAGE_CHECKSUM);
    if (riff)
        return;
    const uint32_t crc = (uint32_t)crc32(0, end + 4, 4 + IMAGE_CHECKSUM);
    for (int i = 0; i < 4; i++)
        end[8 + IMAGE_CHECKSUM + i] = (uint8_t)(crc >> (24 - 8 * i));
    memcpy(end + END - 12, tail, 12);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    size = LLVMFuzzerMutate(bytes, size, max_size);
    const bool riff = is_riff(bytes, size);
    if (seed & 1 && size >= end_of(riff))
        write_end(bytes + size - end_of(riff), bytes, size - end_of(riff), riff);
    return size;
}

static bool is_whole(const uint8_t *bytes, size_t size)
{
    const bool riff = is_riff(bytes, size);
    const size_t length = end_of(riff);
    uint8_t end[END];
    if (size < length)
        return false;
    write_end(end, bytes, size - length, riff);
    return memcmp(bytes + size - length, end, length) == 0;
}

/* A CRC of the input selects the byte and the bit to change. */
static void check_damaged(const uint8_t *bytes, size_t size)
{
    const uint32_t choice = (uint32_t)crc32(0, bytes, (uInt)size);
    const size_t at = choice % size;
    uint8_t *copy = input_copy(bytes, size);
    copy[at] ^= (uint8_t)(1u << (choice >> 29));
    must(!image_checksum_verify(copy, size, KEY), "with a bit of byte %zu changed", at);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const bool accepted = image_checksum_verify(bytes, size, KEY);

    must(accepted == is_whole(bytes, size), "the second implementation returns %d", !accepted);
    if (accepted) {
        must(!image_checksum_verify(bytes, size, KEY " "), "accepted for another key");
        must(!image_checksum_verify(bytes, size, ""), "accepted without a key");
        check_damaged(bytes, size);
    }
    return 0;
}
