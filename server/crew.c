#include "crew.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct member {
    struct crew *crew;
    unsigned number;
    pthread_t thread;
};

struct crew {
    void (*work)(void *context, unsigned number);
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    unsigned working, count;
    struct member member[];
};

static void *run(void *context)
{
    struct member *member = context;
    struct crew *crew = member->crew;
    crew->work(crew->context, member->number);
    pthread_mutex_lock(&crew->lock);
    if (--crew->working == 0)
        pthread_cond_signal(&crew->ended);
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static int make_lock(struct crew *crew)
{
    pthread_condattr_t monotonic;
    if (pthread_mutex_init(&crew->lock, NULL))
        return -ENOMEM;
    int err = pthread_condattr_init(&monotonic);
    if (!err) {
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        err = pthread_cond_init(&crew->ended, &monotonic);
        pthread_condattr_destroy(&monotonic);
    }
    if (err)
        pthread_mutex_destroy(&crew->lock);
    return err ? -ENOMEM : 0;
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
        pthread_mutex_lock(&crew->lock);
        crew->working++;
        pthread_mutex_unlock(&crew->lock);
        err = pthread_create(&member->thread, NULL, run, member);
        if (err) {
            pthread_mutex_lock(&crew->lock);
            crew->working--;
            pthread_mutex_unlock(&crew->lock);
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
    int err = make_lock(crew);
    if (err) {
        free(crew);
        return err;
    }
    err = start_threads(crew, threads);
    if (err) {
        crew_free(crew);
        return err;
    }
    *out = crew;
    return 0;
}

bool crew_wait(struct crew *crew, long ms)
{
    struct timespec until;
    int err = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&crew->lock);
    while (crew->working > 0 && err != ETIMEDOUT)
        err = pthread_cond_timedwait(&crew->ended, &crew->lock, &until);
    const bool ended = crew->working == 0;
    pthread_mutex_unlock(&crew->lock);
    return ended;
}

void crew_free(struct crew *crew)
{
    if (!crew)
        return;
    for (unsigned i = 0; i < crew->count; i++)
        pthread_join(crew->member[i].thread, NULL);
    pthread_cond_destroy(&crew->ended);
    pthread_mutex_destroy(&crew->lock);
    free(crew);
}
