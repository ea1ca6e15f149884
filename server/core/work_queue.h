/*
 * The render threads and the bounded line of jobs in front of them. Threads of
 * our own, since several loops share them, and since libuv's pool has neither
 * ranks nor a bound, and ends the process where a thread cannot be had.
 */
#ifndef FARLANDS_CORE_WORK_QUEUE_H
#define FARLANDS_CORE_WORK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum job_rank { JOB_INTERACTIVE, JOB_BACKGROUND, JOB_RANKS };

/* One piece of work. Embed it in what the work needs to know. */
struct job {
    /*
     * On a worker's thread, with a station that is its alone meanwhile; or,
     * where it waited in vain, with a THREAD_STATE of NULL on the thread that
     * cancels or stops. The job is the callee's again from its first line on:
     * it may free it or submit it anew.
     */
    void (*run)(struct job *job, void *thread_state);
    enum job_rank rank;
    bool owed; /* part of an answer that has begun: not refused, but for work_queue_stop */
    /* Private. */
    struct job *next;
    uint64_t since; /* when it began to wait */
};

struct work_queue;

/*
 * Start COUNT threads, each with one of STATIONS (which stay the caller's and
 * are never NULL). CAPACITY and PATIENCE_MS as for work_queue_limit. Returns 0, or
 * a negative code, -EAGAIN where threads cannot be had: then none runs.
 */
int work_queue_new(struct work_queue **out, void **stations, unsigned count, unsigned capacity,
                   unsigned patience_ms);

/*
 * Have a thread that has worked rest for US microseconds before it waits to be
 * woken: small jobs that come one after another are then done a few at a time, and
 * waking is what they cost. A job that comes out of the blue does not wait for that. Any thread.
 */
void work_queue_set_batch_delay(struct work_queue *workers, unsigned us);

/* Have the threads give way to others of the process, by NICENESS (setpriority(2)), from their
 * next job on. Any thread; best effort. */
void work_queue_set_nice(struct work_queue *workers, int niceness);

/* Stops them first, if nobody did. Not on a worker's thread. */
void work_queue_free(struct work_queue *workers);

/* Everything below: any thread. */

/*
 * From now on up to CAPACITY jobs may wait, and more may come while the first
 * in line has not waited for longer than PATIENCE_MS, and the last would not have to
 * wait for thrice as long at the pace that jobs have: so the line is as short
 * in time as it is in number, and no worker idles for it.
 */
void work_queue_limit(struct work_queue *workers, unsigned capacity, unsigned patience_ms);

/*
 * Have JOB run, by rank, in order within a rank; where both ranks wait, one job
 * in 16 is of the background. Returns 0; -ECANCELED after work_queue_stop; -EBUSY
 * where CAPACITY jobs wait, or the first one of its rank or of a better one has
 * waited too long, or, for the background, more than half of CAPACITY is taken.
 * On error run is not called. A job that a free worker is about to take does
 * not wait, and finds a place whatever the capacity is.
 */
int work_queue_submit(struct work_queue *workers, struct job *job);

/*
 * Have the job of the background that IS WHAT, if one waits, wait as an interactive one, behind
 * those that do already. Returns whether there was one. IS holds up all workers.
 */
typedef bool job_key_equal(const struct job *job, const void *what);
bool work_queue_promote(struct work_queue *workers, job_key_equal *is, const void *what);

/* Run the jobs that wait now in vain, on this thread. Those that run go on, and so do workers. */
void work_queue_cancel(struct work_queue *workers);

/* Refuse new jobs, run the waiting ones in vain, wait for those that run, and end the threads.
 * Not on a worker's thread; once, or again after the first call has returned. */
void work_queue_stop(struct work_queue *workers);

/* Jobs that wait, and jobs that run or are about to. */
unsigned work_queue_waiting(struct work_queue *workers);
unsigned work_queue_running(struct work_queue *workers);

/* For how long that job has run which has run longest, in ms; 0 where none runs. */
uint64_t work_queue_longest_run_ms(struct work_queue *workers);

#endif
