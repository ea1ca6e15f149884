/*
 * The arithmetic of heights: IEEE 754 floats and doubles. Each operation rounds by itself, to
 * nearest, ties to even, and subnormal numbers are kept. Private to noise/.
 *
 * Heights are a contract to the last bit. With some compiler options each build would have other
 * heights, so this header refuses such options if a macro shows them, and turns off the rest by a
 * pragma.
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
/* gcc sets the macro to 0 under -fsingle-precision-constant, for example. */
#if defined __GCC_IEC_559 && __GCC_IEC_559 == 0
#error "noise/ needs floats and doubles as in IEEE 754: heights would differ"
#endif

/* No macro shows -ffp-contract=fast, gcc's default, which fuses a product and a sum into one fma.
 */
#if defined __clang__
#pragma clang fp contract(off)
#elif defined __GNUC__
#pragma GCC optimize("fp-contract=off")
#endif

/* False if the compiler fuses or reorders operations nevertheless. For example, clang ignores the
 * pragma under -ffp-contract=fast, and no macro shows -funsafe-math-optimizations. */
static inline bool arithmetic_is_exact(void)
{
    const volatile float unknown_a = 1 + 0x1p-12f, unknown_b = -1 - 0x1p-11f;
    const float a = unknown_a, b = unknown_b;
    return a * a + b == 0 && (a + 0x1p-30f) - a == 0; /* fused: 2^-24; reordered: 2^-30 */
}

/*
 * The host's floating-point mode. Audio threads and game engines flush subnormal numbers to zero,
 * for example; other hosts round upwards, or trap.
 */
#if defined __SSE_MATH__

#include <xmmintrin.h>

/* Mode: all exceptions are masked, and nothing else is set. Flags: exceptions that happened, which
 * change no result. */
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

/* WebAssembly has no other mode. */
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
 * Stands at the head of each public function that computes. Sets the mode above, and restores the
 * host's mode at the end of the block. A compiler may move arithmetic in the block across both, so
 * the function computes by calling another one that is not inlined:
 */
#define WITH_PLAIN_ARITHMETIC                                                                  \
    __attribute__((cleanup(arithmetic_end), unused)) const struct arithmetic host_arithmetic = \
        arithmetic_begin()

/* ... such as a function with this attribute. */
#define ARITHMETIC __attribute__((noinline))

#endif
