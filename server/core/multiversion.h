/*
 * Loops over pixels that are worth wider vectors than every machine has: gcc
 * builds a function marked so once for each level of x86-64, and the loader
 * picks the best, where it can. The loops are plain C over integers, or over floats with one
 * order of operations, so that all versions compute the same.
 */
#ifndef FARLANDS_CORE_MULTIVERSION_H
#define FARLANDS_CORE_MULTIVERSION_H

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MULTIVERSION
#endif

#endif
