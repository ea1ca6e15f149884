/* Chunk layout: PNG specification (ISO/IEC 15948), section 5; WebP: RFC 9649, 2.3. Hash: XXH3
 * (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md), whose values do not change. */
#include "image_checksum.h"

#include <assert.h>
#include <endian.h>
#include <libdeflate.h>
#include <string.h>
/* With AVX2 or AVX-512 if the machine has it: two to four times as fast. */
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

enum {
    KEY_MAX = 256,
    CHUNK_HEAD = 8, /* length, type */
    CRC = 4,
    IEND = CHUNK_HEAD + CRC,
    END = CHUNK_HEAD + IMAGE_CHECKSUM + CRC + IEND, /* the end of a file: flKY, IEND */
};

/* libxxhash leaves the upper halves of vector registers in use. Then SSE code, which is most of
 * this program, takes up to three times as long. */
#if defined(__x86_64__)
static __attribute__((target("avx"))) void clear_upper_halves(void)
{
    __builtin_ia32_vzeroupper();
}
#endif

void image_checksum(uint8_t out[IMAGE_CHECKSUM], const uint8_t *bytes, size_t length,
                    const char *key)
{
    uint8_t both[IMAGE_CHECKSUM + KEY_MAX]; /* the hash of BYTES, then KEY */
    const size_t key_length = strlen(key);
    XXH128_canonical_t hash;

    assert(key_length <= KEY_MAX);
    XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes, length));
    memcpy(both, hash.digest, IMAGE_CHECKSUM);
    memcpy(both + IMAGE_CHECKSUM, key, key_length);
    XXH128_canonicalFromHash(&hash, XXH3_128bits(both, IMAGE_CHECKSUM + key_length));
    memcpy(out, hash.digest, IMAGE_CHECKSUM);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx"))
        clear_upper_halves();
#endif
}

void image_checksum_riff(uint8_t out[IMAGE_CHECKSUM_RIFF], const uint8_t *bytes, size_t length,
                         const char *key)
{
    memcpy(out, IMAGE_CHECKSUM_TYPE "\x10\0\0", CHUNK_HEAD);
    image_checksum(out + CHUNK_HEAD, bytes, length, key);
}

static bool verify_riff(const uint8_t *bytes, size_t length, const char *key)
{
    uint8_t end[IMAGE_CHECKSUM_RIFF];

    if (length < sizeof end)
        return false;
    length -= sizeof end;
    image_checksum_riff(end, bytes, length, key);
    return memcmp(bytes + length, end, sizeof end) == 0;
}

bool image_checksum_verify(const uint8_t *bytes, size_t length, const char *key)
{
    if (length >= 4 && memcmp(bytes, "RIFF", 4) == 0)
        return verify_riff(bytes, length, key);
    /* Checksum and CRC are filled in. */
    uint8_t end[END + 1] = "\0\0\0\x10" IMAGE_CHECKSUM_TYPE "----------------"
                           "crc-\0\0\0\0IEND\xae\x42\x60\x82";
    uint8_t *type = end + 4, *checksum = end + CHUNK_HEAD;

    if (length < END)
        return false;
    image_checksum(checksum, bytes, length - END, key);
    const uint32_t crc = htobe32(libdeflate_crc32(0, type, 4 + IMAGE_CHECKSUM));
    memcpy(checksum + IMAGE_CHECKSUM, &crc, CRC);
    return memcmp(bytes + length - END, end, END) == 0;
}
