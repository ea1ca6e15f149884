#include "repeats.h"

#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "server/core/multiversion.h"

/* Of 64 bytes: bit i is set if byte i equals the one DISTANCE before. */
static inline uint64_t same_of_64(const uint8_t *bytes, size_t distance)
{
    uint64_t mask = 0;
#if defined(__x86_64__)
    for (int i = 0; i < 64; i += 16) {
        const void *here = bytes + i, *there = bytes + i - distance;
        const __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128(here), _mm_loadu_si128(there));
        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(same) << i;
    }
#else
    for (int i = 0; i < 64; i++)
        mask |= (uint64_t)(bytes[i] == bytes[i - (ptrdiff_t)distance]) << i;
#endif
    return mask;
}

/* Masks for all LENGTH bytes, padded with zeros. */
static void find_same(uint64_t *masks, const uint8_t *bytes, size_t length, size_t distance)
{
    const size_t words = (length + 63) / 64;

    masks[0] = 0;
    for (size_t i = distance; i < 64 && i < length; i++)
        masks[0] |= (uint64_t)(bytes[i] == bytes[i - distance]) << i;
    for (size_t i = 1; i < words; i++)
        masks[i] = same_of_64(bytes + 64 * i, distance);
    if (length % 64)
        masks[words - 1] &= (UINT64_C(1) << length % 64) - 1;
    masks[words] = masks[words + 1] = 0;
}

/* Bit i is set if REPEATS_MIN bits from i on are; NEXT holds the 64 bits after HERE. */
static inline uint64_t run_starts(uint64_t here, uint64_t next)
{
    here &= here >> 1 | next << 63;
    next &= next >> 1;
    here &= here >> 2 | next << 62;
    next &= next >> 2;
    return here & (here >> 4 | next << 60);
}

_Static_assert(REPEATS_MIN == 8, "run_starts doubles three times");

/* Mark the starts of runs at either distance. */
MULTIVERSION
static void find_starts(uint64_t *restrict out, const uint64_t *restrict near_same,
                        const uint64_t *restrict far_same, size_t words)
{
    for (size_t i = 0; i < words; i++)
        out[i] =
            run_starts(near_same[i], near_same[i + 1]) | run_starts(far_same[i], far_same[i + 1]);
}

/* How many consecutive bits are set from AT on. */
static inline size_t run_length(const uint64_t *masks, size_t at)
{
    size_t end = at;
    for (;;) {
        const unsigned shift = end & 63;
        const uint64_t others =
            ~(masks[end / 64] >> shift | masks[end / 64 + 1] << 1 << (63 - shift));
        if (others)
            return end + (size_t)__builtin_ctzll(others) - at;
        end += 64;
    }
}

size_t repeats_find(struct piece *pieces, uint64_t *masks, const uint8_t *bytes, size_t length,
                    unsigned pixel_bytes)
{
    const size_t words = (length + 63) / 64;
    uint64_t *starts = masks, *near_same = masks + words + 2, *far_same = near_same;
    size_t count = 0, begin = 0; /* in the current piece */

    if (length == 0)
        return 0;
    find_same(near_same, bytes, length, 1);
    if (pixel_bytes > 1) {
        far_same = near_same + words + 2;
        find_same(far_same, bytes, length, pixel_bytes);
    }
    find_starts(starts, near_same, far_same, words);
    for (size_t at = 0; at < length;) {
        const size_t word = at / 64;
        const uint64_t next = starts[word] & UINT64_MAX << at % 64;
        if (!next) {
            at = (word + 1) * 64;
            continue;
        }
        const size_t first = word * 64 + (size_t)__builtin_ctzll(next);
        const size_t near_run = run_length(near_same, first), far_run = run_length(far_same, first);
        const size_t run = near_run >= far_run ? near_run : far_run;
        pieces[count++] = (struct piece){(uint32_t)(first - begin), (uint32_t)run & 0xffffff,
                                         near_run >= far_run ? 1 : pixel_bytes & 0xff};
        begin = at = first + run;
    }
    pieces[count++] = (struct piece){(uint32_t)(length - begin), 0, 1};
    return count;
}
