/*
 * A bounded queue for jobs of two ranks, shared fairly by clients, and the threads that run the
 * jobs. libuv's own pool has neither ranks nor a bound, is shared with file I/O, and aborts if a
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
    void **thread_states; /* one per thread, owned by the caller; the array itself is copied */
    unsigned capacity;    /* these two: see work_queue_limit */
    unsigned patience_ms;
    int niceness;              /* added to the threads' (setpriority(2)); best effort */
    const struct clock *clock; /* for waits and runs; NULL: the system's */
    /*
     * How long a thread that has worked sleeps before it waits to be woken. Small jobs that follow
     * one another then run in batches, because waking a thread costs more than they do. A job
     * submitted to an idle queue is not delayed.
     */
    unsigned batch_delay_us;
};

/* Returns 0 or a negative code, -EAGAIN if not all threads can be created: then none runs. */
int work_queue_new(struct work_queue **out, const struct work_queue_options *options);

/* Stops the queue first, if necessary. Not on a queue thread. */
void work_queue_free(struct work_queue *queue);

/* Refuse new jobs, cancel the queued ones, and wait for running jobs and threads to end. Not on a
 * queue thread; a second call does nothing. */
void work_queue_stop(struct work_queue *queue);

/* Everything below: any thread. */

/*
 * From now on queue up to CAPACITY interactive jobs, and accept a job only if the client's oldest
 * one has waited for at most PATIENCE_MS, and the new one is expected to wait for at most three
 * times as long. So the queue may be long while jobs are fast, and threads always have enough jobs.
 */
void work_queue_limit(struct work_queue *queue, unsigned capacity, unsigned patience_ms);

/* How long a job runs before others have a turn, if the job can stop. */
enum { WORK_QUEUE_SLICE_US = 4000 };

/*
 * Run JOB. Interactive jobs come first, but one job in 16 is a background one if both ranks are
 * queued; within a rank struct fair_queue decides. A line is charged the time that the jobs took.
 *
 * Returns 0; -ECANCELED after work_queue_stop; or -EBUSY if work_queue_limit's times are exceeded.
 * If CAPACITY jobs are queued, the last job from the client with the largest backlog is cancelled;
 * if that is JOB's client, JOB is refused with -EBUSY instead. A background job is also refused if
 * more than half of CAPACITY is taken, or if an interactive job has waited too long. On error no
 * callback is called. Admitted jobs, and jobs that an idle thread can take at once, are always
 * accepted and do not count.
 */
int work_queue_submit(struct work_queue *queue, struct job *job);

/*
 * JOB, which runs on this thread, could stop here and go on later. Returns true if JOB should go
 * on, because it has run for less than a slice, or because no other client waits (with OWN: no
 * other job at all). The time so far is charged then. Otherwise JOB should submit itself again, or
 * call work_queue_resume.
 */
bool work_queue_go_on(struct work_queue *queue, const struct job *job, bool own);

/* JOB's run is about to return, and JOB goes on later, before the client's other jobs; never
 * refused. Returns 0, or -ECANCELED after work_queue_stop: then the caller owns JOB. */
int work_queue_resume(struct work_queue *queue, struct job *job);

/*
 * One more client wants the queued job that MATCHES KEY. The job becomes interactive if RANK is,
 * and moves to CLIENT's line if it would run earlier there. All threads wait while MATCHES runs.
 * Returns true if such a job was queued.
 */
bool work_queue_join(struct work_queue *queue, job_match *matches, const void *key,
                     enum job_rank rank, uint64_t client);

/* How many ms a new job from CLIENT is expected to wait for a thread, including for the jobs that
 * run now. */
unsigned work_queue_wait_ms(struct work_queue *queue, enum job_rank rank, uint64_t client);

/* After how many seconds a job from CLIENT is likely to be accepted: 1 or more. */
unsigned work_queue_retry_after(struct work_queue *queue, uint64_t client);

/* How many jobs wait, not counting those that a thread is about to take; and how many run, or are
 * about to. */
unsigned work_queue_waiting(struct work_queue *queue);
unsigned work_queue_running(struct work_queue *queue);

/* How long the oldest running job has run, in ms; 0 if none runs. Counts anew when a job that goes
 * on is charged. */
uint64_t work_queue_longest_run_ms(struct work_queue *queue);

/* The longest time in us that a job kept its thread before it asked whether to go on. */
uint64_t work_queue_longest_slice_us(struct work_queue *queue);

#endif
