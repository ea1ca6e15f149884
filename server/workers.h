/*
 * The waiting line in front of libuv's thread pool. libuv's own line is a FIFO
 * without bound or priorities and is shared with file I/O, so at most as many
 * jobs as there are stations are handed to it, and the rest wait here.
 */
#ifndef FARLANDS_WORKERS_H
#define FARLANDS_WORKERS_H

#include <stdbool.h>
#include <uv.h>

/* One piece of work. Embed it in what the work needs to know; zero it first. */
struct job {
    /* On a thread of the pool, with a station that is its alone meanwhile. */
    void (*run)(struct job *job, void *station);
    /* Afterwards, on the loop's thread; the job may be freed or submitted again here. */
    void (*done)(struct job *job);
    bool cancelled; /* it waited in vain: run was not called */
    /* Private. */
    struct job *next;
    struct workers *workers;
    void *station;
    uv_work_t work;
};

struct workers;

/*
 * COUNT jobs at once, each at one of STATIONS (which stay the caller's), and up
 * to CAPACITY waiting. libuv must have been given COUNT threads or more
 * (UV_THREADPOOL_SIZE, before its first use). Returns 0 or -ENOMEM.
 */
int workers_new(struct workers **out, uv_loop_t *loop, void **stations, unsigned count,
                unsigned capacity);

/* No job may be waiting or running. */
void workers_free(struct workers *workers);

/* Queue JOB. Loop thread. Returns 0; -EBUSY where the line is full: the job is untouched. */
int workers_submit(struct workers *workers, struct job *job);

/* Call done, with cancelled set, for every job that waits. Loop thread. */
void workers_cancel(struct workers *workers);

/* Jobs waiting, and jobs running. Loop thread. */
unsigned workers_waiting(const struct workers *workers);
unsigned workers_running(const struct workers *workers);

#endif
