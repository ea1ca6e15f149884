#include "workers.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct workers {
    uv_loop_t *loop;
    unsigned capacity, waiting, running;
    struct job *first, **last; /* the line, oldest first */
    unsigned free_count;
    void *free_stations[];
};

int workers_new(struct workers **out, uv_loop_t *loop, void **stations, unsigned count,
                unsigned capacity)
{
    struct workers *workers = calloc(1, sizeof *workers + count * sizeof *stations);
    if (!workers)
        return -ENOMEM;
    workers->loop = loop;
    workers->capacity = capacity;
    workers->last = &workers->first;
    workers->free_count = count;
    for (unsigned i = 0; i < count; i++)
        workers->free_stations[i] = stations[i];
    *out = workers;
    return 0;
}

void workers_free(struct workers *workers)
{
    assert(!workers || (workers->waiting == 0 && workers->running == 0));
    free(workers);
}

static void on_run(uv_work_t *work)
{
    struct job *job = work->data;
    job->run(job, job->station);
}

static void start(struct workers *workers, struct job *job);

static void on_done(uv_work_t *work, int status)
{
    struct job *job = work->data;
    struct workers *workers = job->workers;
    assert(status == 0); /* libuv is never asked to cancel */

    workers->running--;
    workers->free_stations[workers->free_count++] = job->station;
    struct job *next = workers->first;
    if (next) {
        workers->first = next->next;
        if (!workers->first)
            workers->last = &workers->first;
        workers->waiting--;
        start(workers, next);
    }
    job->done(job);
}

static void start(struct workers *workers, struct job *job)
{
    job->station = workers->free_stations[--workers->free_count];
    job->work.data = job;
    workers->running++;
    int err = uv_queue_work(workers->loop, &job->work, on_run, on_done);
    assert(err == 0); /* fails only without a callback */
    (void)err;
}

int workers_submit(struct workers *workers, struct job *job)
{
    if (workers->free_count == 0 && workers->waiting >= workers->capacity)
        return -EBUSY;
    job->workers = workers;
    job->next = NULL;
    job->cancelled = false;
    if (workers->free_count > 0) {
        start(workers, job);
    } else {
        *workers->last = job;
        workers->last = &job->next;
        workers->waiting++;
    }
    return 0;
}

void workers_cancel(struct workers *workers)
{
    struct job *job = workers->first;

    workers->first = NULL;
    workers->last = &workers->first;
    workers->waiting = 0;
    for (struct job *next; job; job = next) {
        next = job->next; /* done may free it */
        job->cancelled = true;
        job->done(job);
    }
}

unsigned workers_waiting(const struct workers *workers)
{
    return workers->waiting;
}

unsigned workers_running(const struct workers *workers)
{
    return workers->running;
}
