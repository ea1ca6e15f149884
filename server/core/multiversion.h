/*
 * MULTIVERSION compiles a function once per x86-64 level, if gcc and the loader support that, and
 * the loader picks the best for the machine. For loops over pixels in plain C, on integers or on
 * floats in one fixed order, so that all versions compute the same.
 */
#ifndef FARLANDS_CORE_MULTIVERSION_H
#define FARLANDS_CORE_MULTIVERSION_H

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MULTIVERSION
#endif

/* For functions that a MULTIVERSION function calls: compiled once per level, too. */
#define INLINE static inline __attribute__((always_inline))

#endif
