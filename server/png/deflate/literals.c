#include "literals.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static inline __attribute__((always_inline)) void
put_four(struct bits *bits, const struct literal_codes *codes, const uint8_t *bytes)
{
    uint64_t word = 0;
    unsigned count = 0;
    for (int k = 0; k < LITERALS_AT_ONCE; k++) {
        word |= (uint64_t)codes->code[bytes[k]] << count;
        count += codes->length[bytes[k]];
    }
    bits_put(bits, word, count);
}

static inline __attribute__((always_inline)) void
put_plain(struct bits *bits, const struct literal_codes *codes, const uint8_t *bytes, size_t length)
{
    size_t i = 0;
    for (; i + LITERALS_AT_ONCE <= length; i += LITERALS_AT_ONCE)
        put_four(bits, codes, bytes + i);
    for (; i < length; i++)
        bits_put(bits, codes->code[bytes[i]], codes->length[bytes[i]]);
}

void literals_put_plain(struct bits *bits, const struct literal_codes *codes, const uint8_t *bytes,
                        size_t length)
{
    struct bits local = *bits; /* so that it stays in registers */
    put_plain(&local, codes, bytes, length);
    *bits = local;
}

#if defined(__x86_64__)

/* BMI2 shifts by any register and without flags. */
__attribute__((target("bmi2"))) static void
put_bmi2(struct bits *bits, const struct literal_codes *codes, const uint8_t *bytes, size_t length)
{
    struct bits local = *bits;
    put_plain(&local, codes, bytes, length);
    *bits = local;
}

#define VBMI __attribute__((target("avx512f,avx512bw,avx512vbmi,bmi2")))
#define VBMI_INLINE VBMI __attribute__((always_inline)) static inline

/* A table with 256 bytes, in registers. */
struct table {
    __m512i part[4];
};

VBMI_INLINE struct table load_table(const uint8_t *bytes)
{
    struct table table;
    for (int i = 0; i < 4; i++)
        table.part[i] = _mm512_loadu_si512(bytes + 64 * i);
    return table;
}

VBMI_INLINE __m512i look_up(const struct table *table, __m512i index)
{
    const __m512i low = _mm512_permutex2var_epi8(table->part[0], index, table->part[1]);
    const __m512i high = _mm512_permutex2var_epi8(table->part[2], index, table->part[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high);
}

/* Words with several codes, and how many bits of each word are used. */
struct words {
    __m512i bits, count;
};

/* Join two 16-bit codes to a 32-bit word, and two of those to a 64-bit word. */
VBMI_INLINE struct words join_four(__m512i codes, __m512i lengths)
{
    const __m512i low_16 = _mm512_set1_epi32(0xffff), low_32 = _mm512_set1_epi64(0xffffffff);
    __m512i first = _mm512_and_si512(lengths, low_16);
    __m512i second = _mm512_srli_epi32(codes, 16);
    codes = _mm512_or_si512(_mm512_and_si512(codes, low_16), _mm512_sllv_epi32(second, first));
    lengths = _mm512_add_epi32(first, _mm512_srli_epi32(lengths, 16));
    first = _mm512_and_si512(lengths, low_32);
    second = _mm512_srli_epi64(codes, 32);
    codes = _mm512_or_si512(_mm512_and_si512(codes, low_32), _mm512_sllv_epi64(second, first));
    return (struct words){codes, _mm512_add_epi64(first, _mm512_srli_epi64(lengths, 32))};
}

/* In each 128 bits, join the upper word to the lower one. */
VBMI_INLINE struct words join_eight(struct words four)
{
    const __m512i upper = _mm512_unpackhi_epi64(four.bits, four.bits);
    const __m512i more = _mm512_unpackhi_epi64(four.count, four.count);
    return (struct words){_mm512_or_si512(four.bits, _mm512_sllv_epi64(upper, four.count)),
                          _mm512_add_epi64(four.count, more)};
}

/* 64 bytes at a time: look up all codes, then join eight codes per word if they are short enough,
 * as nearly always, otherwise four. */
VBMI static void put_vbmi(struct bits *bits, const struct literal_codes *codes,
                          const uint8_t *bytes, size_t length)
{
    struct bits local = *bits;
    size_t i = 0;

    if (length >= 64) {
        uint8_t low[LITERALS], high[LITERALS];
        for (int k = 0; k < LITERALS; k++) {
            low[k] = (uint8_t)codes->code[k];
            high[k] = (uint8_t)(codes->code[k] >> 8);
        }
        const struct table lows = load_table(low), highs = load_table(high);
        const struct table lengths = load_table(codes->length);
        const __m512i zero = _mm512_setzero_si512(), most = _mm512_set1_epi64(BITS_AT_ONCE);
        for (; i + 64 <= length; i += 64) {
            const __m512i at = _mm512_loadu_si512(bytes + i);
            const __m512i l = look_up(&lows, at), h = look_up(&highs, at);
            const __m512i n = look_up(&lengths, at);
            /* The first and the last 8 bytes in each 16. */
            const struct words a =
                join_four(_mm512_unpacklo_epi8(l, h), _mm512_unpacklo_epi8(n, zero));
            const struct words b =
                join_four(_mm512_unpackhi_epi8(l, h), _mm512_unpackhi_epi8(n, zero));
            const struct words a8 = join_eight(a), b8 = join_eight(b);
            const __m512i longest = _mm512_max_epi32(a8.count, b8.count);
            uint64_t word[2][8], count[2][8];
            if (_mm512_mask_cmpgt_epi64_mask(0x55, longest, most) == 0) {
                _mm512_storeu_si512(word[0], a8.bits);
                _mm512_storeu_si512(word[1], b8.bits);
                _mm512_storeu_si512(count[0], a8.count);
                _mm512_storeu_si512(count[1], b8.count);
                for (int k = 0; k < 8; k += 2)
                    for (int half = 0; half < 2; half++)
                        bits_put(&local, word[half][k], (unsigned)count[half][k]);
            } else {
                _mm512_storeu_si512(word[0], a.bits);
                _mm512_storeu_si512(word[1], b.bits);
                _mm512_storeu_si512(count[0], a.count);
                _mm512_storeu_si512(count[1], b.count);
                for (int k = 0; k < 8; k += 2)
                    for (int half = 0; half < 2; half++)
                        for (int l4 = 0; l4 < 2; l4++)
                            bits_put(&local, word[half][k + l4], (unsigned)count[half][k + l4]);
            }
        }
    }
    put_plain(&local, codes, bytes + i, length - i);
    *bits = local;
}

#endif

literals_put *literals_best(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("bmi2"))
        return put_vbmi;
    if (__builtin_cpu_supports("bmi2"))
        return put_bmi2;
#endif
    return literals_put_plain;
}
