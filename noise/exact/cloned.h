/*
 * CLONED compiles a function for processors with AVX-512, with AVX2 and with neither, if gcc and
 * the loader support that, and the loader picks the best for the machine. For loops over floats in
 * one fixed order, so that all clones compute the same. The kernels (noise/kernel/) are chosen in
 * another way, which other compilers support, too.
 */
#ifndef FARLANDS_CLONED_H
#define FARLANDS_CLONED_H

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Not by levels of x86-64, for which older libgccs have no test. */
#define CLONED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONED
#endif

/* For functions that a CLONED function calls: compiled once for each clone, too. */
#define INLINE static inline __attribute__((always_inline))

#endif
