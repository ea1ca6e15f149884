/*
 * The arithmetic of heights: IEEE 754 floats and doubles, each operation rounded by itself, to the
 * nearest, ties to even; subnormal numbers are numbers. Private to noise/.
 *
 * Heights are a contract to the last bit. So this header refuses compiler options that it can see
 * and that would give each build heights of its own, and turns off those that it can.
 */
#ifndef FARLANDS_ARITHMETIC_H
#define FARLANDS_ARITHMETIC_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

#include "noise/exact/soft_fma.h"

#if defined __FAST_MATH__ || __FINITE_MATH_ONLY__ || defined __ASSOCIATIVE_MATH__ || \
    defined __RECIPROCAL_MATH__ || defined __NO_SIGNED_ZEROS__
#error "noise/ cannot be compiled with -ffast-math or a part of it: heights would differ"
#endif
#if FLT_EVAL_METHOD != 0
#error "noise/ needs FLT_EVAL_METHOD 0, on x86 -mfpmath=sse: heights would differ"
#endif
_Static_assert(FLT_RADIX == 2 && FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53, "as in IEEE 754");
/* gcc: 0 under -fsingle-precision-constant, for example. */
#if defined __GCC_IEC_559 && __GCC_IEC_559 == 0
#error "noise/ needs floats and doubles as in IEEE 754: heights would differ"
#endif

/* No macro shows -ffp-contract=fast, gcc's default, which makes one fma of a product and a sum. */
#if defined __clang__
#pragma clang fp contract(off)
#elif defined __GNUC__
#pragma GCC optimize("fp-contract=off")
#endif

/* False if the compiler fuses or reorders operations nevertheless: clang ignores the pragma if it
 * is given -ffp-contract=fast, and no macro shows its -funsafe-math-optimizations. */
static inline bool arithmetic_is_exact(void)
{
    const volatile float unknown_a = 1 + 0x1p-12f, unknown_b = -1 - 0x1p-11f;
    const float a = unknown_a, b = unknown_b;
    return a * a + b == 0 && (a + 0x1p-30f) - a == 0; /* fused: 2^-24; reordered: 2^-30 */
}

/*
 * The host's floating-point mode. Audio threads and game engines flush subnormal numbers to zero,
 * others round upwards or trap.
 */
#if defined __SSE_MATH__

#include <xmmintrin.h>

/* All exceptions masked, nothing else set; below it are the flags of exceptions that happened. */
enum { ARITHMETIC_MODE = 0x1f80, ARITHMETIC_FLAGS = 0x3f };

struct arithmetic {
    unsigned mode;
};

static inline bool arithmetic_is_plain(const struct arithmetic *host)
{
    return (host->mode & ~(unsigned)ARITHMETIC_FLAGS) == ARITHMETIC_MODE;
}

static inline struct arithmetic arithmetic_begin(void)
{
    const struct arithmetic host = {_mm_getcsr()};
    if (!arithmetic_is_plain(&host))
        _mm_setcsr(ARITHMETIC_MODE);
    return host;
}

static inline void arithmetic_end(const struct arithmetic *host)
{
    if (!arithmetic_is_plain(host))
        _mm_setcsr(host->mode);
}

#elif defined __aarch64__

struct arithmetic {
    uint64_t mode;
};

static inline void arithmetic_set(uint64_t mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory");
}

static inline struct arithmetic arithmetic_begin(void)
{
    struct arithmetic host;
    __asm__ volatile("mrs %0, fpcr" : "=r"(host.mode));
    if (host.mode)
        arithmetic_set(0);
    return host;
}

static inline void arithmetic_end(const struct arithmetic *host)
{
    if (host->mode)
        arithmetic_set(host->mode);
}

#elif defined __wasm__

/* Has one mode only. */
struct arithmetic {
    char none;
};

static inline struct arithmetic arithmetic_begin(void)
{
    return (struct arithmetic){0};
}

static inline void arithmetic_end(const struct arithmetic *host)
{
    (void)host;
}

#else

#include <fenv.h>

struct arithmetic {
    fenv_t mode;
};

static inline struct arithmetic arithmetic_begin(void)
{
    struct arithmetic host;
    fegetenv(&host.mode);
    fesetenv(FE_DFL_ENV);
    return host;
}

static inline void arithmetic_end(const struct arithmetic *host)
{
    fesetenv(&host->mode);
}

#endif

/*
 * At the head of each public function that computes: the mode above up to the end of the block, and
 * then the host's again. A compiler may move arithmetic of the block itself across both, so compute
 * in a function that is not inlined.
 */
#define WITH_PLAIN_ARITHMETIC                                                                  \
    __attribute__((cleanup(arithmetic_end), unused)) const struct arithmetic host_arithmetic = \
        arithmetic_begin()

/* Such a function. */
#define ARITHMETIC __attribute__((noinline))

#endif
