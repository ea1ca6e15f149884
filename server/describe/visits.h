/* Calls a function for each of several places, on all threads, for the measures of `describe`. */
#ifndef FARLANDS_DESCRIBE_VISITS_H
#define FARLANDS_DESCRIBE_VISITS_H

#include <stddef.h>

struct farlands_scratch;

struct visits {
    int count;     /* places */
    size_t memory; /* bytes of working memory per thread, not initialized */
    /* Visit place I with a thread's SCRATCH and MEMORY. Returns 0 or a negative code. */
    int (*visit)(void *context, struct farlands_scratch *scratch, void *memory, int i);
    void *context; /* shared by all threads */
};

/*
 * Visit places 0 .. COUNT - 1 in any order, on up to THREADS threads. A visit that writes only what
 * belongs to its place gives the same results with any number of threads. After an error, places
 * that no thread has begun are left out. Returns 0; the code of a visit that failed; -ENOMEM; or
 * -EAGAIN if no thread could be started.
 */
int visits_run(const struct visits *visits, unsigned threads);

#endif
