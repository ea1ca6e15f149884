/* Threads that run one function and end (fork-join). They block all signals. */
#ifndef FARLANDS_CORE_THREAD_GROUP_H
#define FARLANDS_CORE_THREAD_GROUP_H

#include <stdbool.h>

struct thread_group;

/*
 * Start THREADS threads, or fewer if the system allows no more. Each calls WORK with a NUMBER, from
 * 0 on. CONTEXT must outlive them. Returns 0, -ENOMEM, or -EAGAIN if not even one could be started.
 */
int thread_group_start(struct thread_group **out, unsigned threads,
                       void (*work)(void *context, unsigned number), void *context);

/* Wait up to MS milliseconds for all threads to end. Returns true if they have. One thread. */
bool thread_group_wait(struct thread_group *group, long ms);

/* Wait for all threads to end, and free GROUP, which may be NULL. */
void thread_group_free(struct thread_group *group);

#endif
