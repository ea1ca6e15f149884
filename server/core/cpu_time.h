/* How long a thread has run, for measuring what work costs on a machine that others use, too. */
#ifndef FARLANDS_CORE_CPU_TIME_H
#define FARLANDS_CORE_CPU_TIME_H

#include <time.h>

/* The CPU time of the calling thread, in nanoseconds. */
static inline double cpu_time_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

#endif
