/*
 * For MemorySanitizer, included before each file: look-up instructions, rewritten lane by lane. The
 * sanitizer assumes that the real instructions read all their arguments. But a kernel's vector may
 * have unwritten last lanes, and the kernel looks up only written ones; and MemorySanitizer does
 * not check the memory that a real gather reads.
 */
#ifndef FARLANDS_TESTS_LANES_H
#define FARLANDS_TESTS_LANES_H

#if defined __AVX2__
#include <immintrin.h>

static inline __m256 lanes_permutevar8x32(__m256 table, __m256i index)
{
    const __v8sf from = (__v8sf)table;
    const __v8si at = (__v8si)index;
    __v8sf out;
    for (int i = 0; i < 8; i++)
        out[i] = from[at[i] & 7];
    return (__m256)out;
}
#define _mm256_permutevar8x32_ps lanes_permutevar8x32

static inline __m256 lanes_gather(const float *table, __m256i index)
{
    const __v8si at = (__v8si)index;
    __v8sf out;
    for (int i = 0; i < 8; i++)
        out[i] = table[at[i]];
    return (__m256)out;
}
#undef _mm256_i32gather_ps
#define _mm256_i32gather_ps(table, index, scale) lanes_gather(table, index)
#endif

#if defined __AVX512F__
static inline __m512 lanes_permutexvar(__m512i index, __m512 table)
{
    const __v16sf from = (__v16sf)table;
    const __v16si at = (__v16si)index;
    __v16sf out;
    for (int i = 0; i < 16; i++)
        out[i] = from[at[i] & 15];
    return (__m512)out;
}
#define _mm512_permutexvar_ps lanes_permutexvar

static inline __m512 lanes_permutex2var(__m512 low, __m512i index, __m512 high)
{
    const __v16si at = (__v16si)index;
    __v16sf from[2] = {(__v16sf)low, (__v16sf)high}, out;
    for (int i = 0; i < 16; i++)
        out[i] = from[at[i] >> 4 & 1][at[i] & 15];
    return (__m512)out;
}
#define _mm512_permutex2var_ps lanes_permutex2var
#endif

#endif
