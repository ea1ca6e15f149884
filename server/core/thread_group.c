#include "thread_group.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <uv.h>

#include "server/core/clock.h"

struct member {
    struct thread_group *group;
    unsigned number;
    pthread_t thread;
};

struct thread_group {
    void (*work)(void *context, unsigned number);
    void *context;
    uv_mutex_t lock;
    uv_cond_t ended;
    unsigned working, count;
    struct member member[];
};

static void *run(void *context)
{
    struct member *member = context;
    struct thread_group *group = member->group;
    group->work(group->context, member->number);
    uv_mutex_lock(&group->lock);
    if (--group->working == 0)
        uv_cond_signal(&group->ended);
    uv_mutex_unlock(&group->lock);
    return NULL;
}

static int start_threads(struct thread_group *group, unsigned threads)
{
    sigset_t all, before;
    int err = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    uv_mutex_lock(&group->lock); /* so that no thread ends before it is counted */
    for (; group->count < threads; group->count++) {
        struct member *member = &group->member[group->count];
        *member = (struct member){.group = group, .number = group->count};
        err = pthread_create(&member->thread, NULL, run, member);
        if (err)
            break;
    }
    group->working = group->count;
    uv_mutex_unlock(&group->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return group->count > 0 ? 0 : -err;
}

int thread_group_start(struct thread_group **out, unsigned threads,
                       void (*work)(void *context, unsigned number), void *context)
{
    struct thread_group *group = calloc(1, sizeof *group + threads * sizeof group->member[0]);
    if (!group)
        return -ENOMEM;
    group->work = work;
    group->context = context;
    int err = uv_mutex_init(&group->lock);
    if (err)
        goto fail_lock;
    err = uv_cond_init(&group->ended);
    if (err)
        goto fail_ended;
    err = start_threads(group, threads);
    if (err)
        goto fail_threads;
    *out = group;
    return 0;

fail_threads:
    uv_cond_destroy(&group->ended);
fail_ended:
    uv_mutex_destroy(&group->lock);
fail_lock:
    free(group);
    return err;
}

bool thread_group_wait(struct thread_group *group, long ms)
{
    const uint64_t until = clock_ns(NULL) + (uint64_t)ms * NS_PER_MS;
    uv_mutex_lock(&group->lock);
    while (group->working > 0 && clock_ns(NULL) < until)
        clock_wait(&group->ended, &group->lock, until);
    const bool ended = group->working == 0;
    uv_mutex_unlock(&group->lock);
    return ended;
}

void thread_group_free(struct thread_group *group)
{
    if (!group)
        return;
    for (unsigned i = 0; i < group->count; i++)
        pthread_join(group->member[i].thread, NULL);
    uv_cond_destroy(&group->ended);
    uv_mutex_destroy(&group->lock);
    free(group);
}
