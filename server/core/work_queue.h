/*
 * A bounded queue of jobs of two ranks, shared fairly by their clients, and the threads that run
 * them. libuv's own pool has neither ranks nor a bound, is shared with file I/O, and aborts if a
 * thread cannot be created.
 */
#ifndef FARLANDS_CORE_WORK_QUEUE_H
#define FARLANDS_CORE_WORK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "server/core/clock.h"
#include "server/core/fair_queue.h"

struct work_queue;

struct work_queue_options {
    unsigned threads;
    void **thread_states; /* one per thread, the caller's; the array itself is copied */
    unsigned capacity;    /* these two: see work_queue_limit */
    unsigned patience_ms;
    int niceness;              /* added to the threads' (setpriority(2)); best effort */
    const struct clock *clock; /* of waits and runs; NULL: the system's */
    /*
     * How long a thread that has worked sleeps before it waits to be woken. Small jobs that
     * follow one another are then run in batches, since waking a thread is most of their cost. A
     * job submitted to an idle queue is not delayed.
     */
    unsigned batch_delay_us;
};

/* Returns 0 or a negative code, -EAGAIN if not all threads can be created: then none runs. */
int work_queue_new(struct work_queue **out, const struct work_queue_options *options);

/* Stops it first, if necessary. Not on one of its threads. */
void work_queue_free(struct work_queue *queue);

/* Refuse new jobs, cancel the queued ones, and wait for running jobs and the threads to end. Not
 * on one of its threads; a second call does nothing. */
void work_queue_stop(struct work_queue *queue);

/* Everything below: any thread. */

/*
 * From now on queue up to CAPACITY interactive jobs, and accept a job only if the oldest one of its
 * client has waited for at most PATIENCE_MS, and the new one is expected to wait for at most three
 * times that. So the queue can be long while it is fast, and no thread runs dry for want of room.
 */
void work_queue_limit(struct work_queue *queue, unsigned capacity, unsigned patience_ms);

/* How long a job runs before it gives others their turn, if it can. */
enum { WORK_QUEUE_SLICE_US = 4000 };

/*
 * Run JOB, as struct fair_queue orders the jobs of a rank: interactive jobs first, but one job in
 * 16 is a background one if both are queued. A line is charged the time that its jobs took.
 *
 * Returns 0; -ECANCELED after work_queue_stop; or -EBUSY if work_queue_limit's times are exceeded.
 * If CAPACITY jobs are queued, the client with the largest backlog loses its last job, which is
 * cancelled; if that is JOB's client, JOB is refused with -EBUSY instead. A background job is also
 * refused if more than half of CAPACITY is taken, or an interactive one has waited for too long.
 * On error no callback is called. Admitted jobs, and jobs that an idle thread can take at once, are
 * always accepted and do not count.
 */
int work_queue_submit(struct work_queue *queue, struct job *job);

/*
 * JOB, which runs on this thread, could stop here and go on later. Returns true if it need not: it
 * has run for less than a slice, or no other client waits (with OWN: no other job at all). What it
 * has taken so far is charged then. Otherwise it is to submit itself again, or work_queue_resume.
 */
bool work_queue_go_on(struct work_queue *queue, const struct job *job, bool own);

/* JOB's run is about to return, and it goes on later: it is the next of its client, and never
 * refused. Returns 0, or -ECANCELED after work_queue_stop: then it is the caller's. */
int work_queue_resume(struct work_queue *queue, struct job *job);

/*
 * One more client wants the queued job that MATCHES KEY: make it interactive if RANK is, and move
 * it to CLIENT's line if it would run earlier there. All threads wait while MATCHES runs. Returns
 * true if such a job was queued.
 */
bool work_queue_join(struct work_queue *queue, job_match *matches, const void *key,
                     enum job_rank rank, uint64_t client);

/* The time in ms that a new job of CLIENT is expected to wait for a thread, that of the jobs which
 * run now included. */
unsigned work_queue_wait_ms(struct work_queue *queue, enum job_rank rank, uint64_t client);

/* The seconds after which a job of CLIENT is likely to be accepted: 1 or more. */
unsigned work_queue_retry_after(struct work_queue *queue, uint64_t client);

/* Jobs that no thread is about to take; and those that run, or are about to. */
unsigned work_queue_waiting(struct work_queue *queue);
unsigned work_queue_running(struct work_queue *queue);

/* How long the oldest running job has run, in ms; 0 if none runs. A job that goes on, and is
 * charged, runs anew. */
uint64_t work_queue_longest_run_ms(struct work_queue *queue);

/* The longest time in us that a job kept its thread before it asked whether to go on. */
uint64_t work_queue_longest_slice_us(struct work_queue *queue);

#endif
