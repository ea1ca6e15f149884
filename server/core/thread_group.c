#include "thread_group.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <uv.h>

struct member {
    struct crew *crew;
    unsigned number;
    pthread_t thread;
};

struct crew {
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
    struct crew *crew = member->crew;
    crew->work(crew->context, member->number);
    uv_mutex_lock(&crew->lock);
    if (--crew->working == 0)
        uv_cond_signal(&crew->ended);
    uv_mutex_unlock(&crew->lock);
    return NULL;
}

/* As many as the system lets us have. */
static int start_threads(struct crew *crew, unsigned threads)
{
    sigset_t all, before;
    int err = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (!err && crew->count < threads) {
        struct member *member = &crew->member[crew->count];
        *member = (struct member){.crew = crew, .number = crew->count};
        uv_mutex_lock(&crew->lock);
        crew->working++;
        uv_mutex_unlock(&crew->lock);
        err = pthread_create(&member->thread, NULL, run, member);
        if (err) {
            uv_mutex_lock(&crew->lock);
            crew->working--;
            uv_mutex_unlock(&crew->lock);
        } else {
            crew->count++;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return crew->count > 0 ? 0 : -err;
}

int crew_start(struct crew **out, unsigned threads, void (*work)(void *context, unsigned number),
               void *context)
{
    struct crew *crew = calloc(1, sizeof *crew + threads * sizeof crew->member[0]);
    if (!crew)
        return -ENOMEM;
    crew->work = work;
    crew->context = context;
    int err = uv_mutex_init(&crew->lock);
    if (err)
        goto fail_lock;
    err = uv_cond_init(&crew->ended);
    if (err)
        goto fail_ended;
    err = start_threads(crew, threads);
    if (err)
        goto fail_threads;
    *out = crew;
    return 0;

fail_threads:
    uv_cond_destroy(&crew->ended);
fail_ended:
    uv_mutex_destroy(&crew->lock);
fail_lock:
    free(crew);
    return err;
}

bool crew_wait(struct crew *crew, long ms)
{
    const uint64_t until = uv_hrtime() + (uint64_t)ms * 1000000;
    uv_mutex_lock(&crew->lock);
    for (uint64_t now; crew->working > 0 && (now = uv_hrtime()) < until;)
        uv_cond_timedwait(&crew->ended, &crew->lock, until - now);
    const bool ended = crew->working == 0;
    uv_mutex_unlock(&crew->lock);
    return ended;
}

void crew_free(struct crew *crew)
{
    if (!crew)
        return;
    for (unsigned i = 0; i < crew->count; i++)
        pthread_join(crew->member[i].thread, NULL);
    uv_cond_destroy(&crew->ended);
    uv_mutex_destroy(&crew->lock);
    free(crew);
}
