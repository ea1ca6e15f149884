/* Threads that do one job together and then end. Signals are for others. */
#ifndef FARLANDS_CORE_THREAD_GROUP_H
#define FARLANDS_CORE_THREAD_GROUP_H

#include <stdbool.h>

struct thread_group;

/*
 * Have THREADS of them WORK, each with its NUMBER from 0 on; or fewer, where the system has no
 * more. CONTEXT outlives them. Returns 0, or -ENOMEM or -EAGAIN where there is not even one.
 */
int thread_group_start(struct thread_group **out, unsigned threads,
                       void (*work)(void *context, unsigned number), void *context);

/* Wait until all have ended, but for MS at most: whether they have. One thread. */
bool thread_group_wait(struct thread_group *group, long ms);

/* Wait for their end. */
void thread_group_free(struct thread_group *group);

#endif
