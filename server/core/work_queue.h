/*
 * A bounded queue of jobs of two ranks, and the threads that run them. libuv's own pool has
 * neither ranks nor a bound, is shared with file I/O, and aborts if a thread cannot be created.
 */
#ifndef FARLANDS_CORE_WORK_QUEUE_H
#define FARLANDS_CORE_WORK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum job_rank { JOB_INTERACTIVE, JOB_BACKGROUND, JOB_RANKS };

/* One piece of work, embedded in the caller's struct. Exactly one of the callbacks is called for
 * each successful submission; it owns the job and may free it or submit it again. */
struct job {
    /* On one of the queue's threads, with exclusive use of that thread's THREAD_STATE. */
    void (*run)(struct job *job, void *thread_state);
    /* On the thread that stops the queue, if the job was still queued. */
    void (*cancel)(struct job *job);
    enum job_rank rank;
    bool admitted; /* part of a response that has begun: refused only by a stopped queue */
    /* Private. */
    struct job *next;
    uint64_t queued_at;
};

struct work_queue;

struct work_queue_options {
    unsigned threads;
    void **thread_states; /* one per thread, the caller's; the array itself is copied */
    unsigned capacity;    /* these two: see work_queue_limit */
    unsigned patience_ms;
    int niceness; /* added to the threads' (setpriority(2)); best effort */
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
 * From now on queue up to CAPACITY jobs, and accept more only if the oldest one has waited for at
 * most PATIENCE_MS and the new one is estimated to wait for at most three times that. So the queue
 * can be long while it is fast, and no thread runs dry for want of room.
 */
void work_queue_limit(struct work_queue *queue, unsigned capacity, unsigned patience_ms);

/*
 * Run JOB: interactive jobs first, in order within a rank, but one job in 16 is a background one
 * if both are queued. Returns 0; -ECANCELED after work_queue_stop; or -EBUSY if CAPACITY jobs are
 * queued, if work_queue_limit's times are exceeded (by jobs of this rank or a better one), or, for
 * a background job, if more than half of CAPACITY is taken. On error no callback is called. A job
 * that an idle thread can take at once is always accepted.
 */
int work_queue_submit(struct work_queue *queue, struct job *job);

/*
 * Make the queued background job that MATCHES KEY interactive, behind those that are queued
 * already. Returns whether there was one. All threads wait while MATCHES runs.
 */
typedef bool job_match(const struct job *job, const void *key);
bool work_queue_promote(struct work_queue *queue, job_match *matches, const void *key);

/* Jobs that no thread is about to take; and those that run, or are about to. */
unsigned work_queue_waiting(struct work_queue *queue);
unsigned work_queue_running(struct work_queue *queue);

/* How long the oldest running job has run, in ms; 0 if none runs. */
uint64_t work_queue_longest_run_ms(struct work_queue *queue);

#endif
