/* 128-bit products. Pure. */
#ifndef FARLANDS_WIDE_H
#define FARLANDS_WIDE_H

#include <stdint.h>

struct wide {
    uint64_t high, low;
};

static inline struct wide wide_multiply(uint64_t a, uint64_t b)
{
    const uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    const uint64_t low = a0 * b0, cross = a1 * b0 + (low >> 32);
    const uint64_t middle = a0 * b1 + (cross & UINT32_MAX);
    return (struct wide){a1 * b1 + (cross >> 32) + (middle >> 32),
                         middle << 32 | (low & UINT32_MAX)};
}

#endif
