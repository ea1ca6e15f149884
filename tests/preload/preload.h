/*
 * What the parts of the preloaded library share: the file by which the test that started the
 * program steers it, and how a replaced function finds the original. clocks.c moves and stops the
 * time, faults.c makes calls fail. preload.mjs is the test's side.
 */
#ifndef FARLANDS_TESTS_PRELOAD_H
#define FARLANDS_TESTS_PRELOAD_H

/* The headers must not define checked forms of the functions that the library replaces. */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

/* In the order of CALLS in preload.mjs. */
enum call {
    WRITE,
    READ,
    OPEN,
    CREATE,
    RENAME,
    UNLINK,
    MKDIR,
    ACCEPT,
    FORGET,
    ALLOCATE,
    ENCODE,
    CALLS
};

/* 64 bytes, so that threads that count different calls do not share a cache line. */
struct rule {
    int32_t error;        /* the errno to fail with; 0 = delay only */
    int32_t every;        /* one in this many calls is hit; 0 = none */
    int32_t amount;       /* delay of a hit call in ms of the steady clock */
    int32_t cap;          /* limit of bytes per read or write; 0 = none */
    int32_t least, most;  /* sizes of allocations that count; most 0 = no upper bound */
    uint32_t seed;        /* not 0: hits are random, one in EVERY */
    uint32_t calls, hits; /* counted here */
    uint32_t unused[7];
};

/* Times are ns. */
struct clocks {
    int64_t wall;   /* ahead of the time of day */
    int64_t steady; /* ahead of the clocks that never jump: CLOCK_MONOTONIC and its kin */
    int64_t frozen; /* not 0: they stand */
    int64_t least;  /* of the time at which they stand, before STEADY is added */
};

/* A thread. */
struct sleeper {
    int32_t pid, tid; /* 0: unused */
    uint32_t seen;    /* 1 + the edition that it has slept through; 0: it is awake */
    uint32_t unused[13];
};

enum { SLEEPERS = 256 };

/*
 * The test writes the other CLOCKS, and then EDITION, a single byte that tells which ones count: so
 * no thread reads a half of either. Each edition also asks all threads whether they are at rest.
 */
struct shared {
    struct clocks clocks[2];
    uint8_t edition;
    uint8_t unused[59];
    uint32_t turns; /* how often a thread has been woken, or its time has come */
    int64_t latest; /* the latest real time that a thread has read */
    uint8_t unused_as_well[56];
    struct rule rules[CALLS];
    struct sleeper sleepers[SLEEPERS];
};
#pragma GCC visibility push(hidden)

extern struct shared *shared;
extern const char *directory; /* NULL: only the time of day is moved */

/* Sleep until the steady clock has moved on by MS, or *SET is 0. */
void sleep_while(const int32_t *set, int32_t ms);

#pragma GCC visibility pop

/* The same function in the next library, usually the C library. */
#define FOUND(name, lookup)                       \
    ({                                            \
        static __typeof__(&(name)) next;          \
        if (!next)                                \
            next = (__typeof__(&(name)))(lookup); \
        next;                                     \
    })
#define NEXT(name) FOUND(name, dlsym(RTLD_NEXT, #name))
/* On x86-64 there is an old form, too, which dlsym would find. */
#define NEXT_ON_CONDITION(name) \
    FOUND(name, dlvsym(RTLD_NEXT, #name, "GLIBC_2.3.2") ?: dlsym(RTLD_NEXT, #name))

#endif
