/* Threads that do one job together and then end. Signals are for others. */
#ifndef FARLANDS_CORE_THREAD_GROUP_H
#define FARLANDS_CORE_THREAD_GROUP_H

#include <stdbool.h>

struct crew;

/*
 * Have THREADS of them WORK, each with its NUMBER from 0 on; or fewer, where the system has no
 * more. CONTEXT outlives them. Returns 0, or -ENOMEM or -EAGAIN where there is not even one.
 */
int crew_start(struct crew **out, unsigned threads, void (*work)(void *context, unsigned number),
               void *context);

/* Wait until all have ended, but for MS at most: whether they have. One thread. */
bool crew_wait(struct crew *crew, long ms);

/* Wait for their end. */
void crew_free(struct crew *crew);

#endif
