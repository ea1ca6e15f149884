/* Threads that run one function and end (fork-join). They block all signals. */
#ifndef FARLANDS_CORE_THREAD_GROUP_H
#define FARLANDS_CORE_THREAD_GROUP_H

#include <stdbool.h>

struct thread_group;

/*
 * Start THREADS threads, each of which calls WORK with its NUMBER, from 0 on; or fewer, if the
 * system allows no more. CONTEXT must outlive them. Returns 0, -ENOMEM, or -EAGAIN if not even one
 * could be started.
 */
int thread_group_start(struct thread_group **out, unsigned threads,
                       void (*work)(void *context, unsigned number), void *context);

/* Wait for all to end, at most MS milliseconds. Returns whether they have. One thread. */
bool thread_group_wait(struct thread_group *group, long ms);

/* Wait for all to end. NULL is allowed. */
void thread_group_free(struct thread_group *group);

#endif
