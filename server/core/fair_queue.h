/*
 * A queue that shares the threads' time among clients. Each client has a line of its own, and the
 * line that has used the least time is served next, by start-time fair queueing (Goyal, Vin and
 * Cheng, "Start-time fair queueing: a scheduling algorithm for integrated services packet switching
 * networks", 1996). So a client alone has all threads, and one of n busy clients has an nth of
 * them, whatever the number and the size of its jobs. Time that a client does not use is not saved.
 *
 * Lines are kept in a fixed table, by a hash of the client: no client can make the queue allocate.
 * Only if all lines of a set are in use do clients share one. The caller locks.
 */
#ifndef FARLANDS_CORE_FAIR_QUEUE_H
#define FARLANDS_CORE_FAIR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "server/core/run_times.h"

enum job_rank { JOB_INTERACTIVE, JOB_BACKGROUND, JOB_RANKS };

/* One piece of work, embedded in the caller's struct. Exactly one of the callbacks is called for
 * each successful submission to a work queue; it owns the job and may free it or submit it again.
 */
struct job {
    /* On one of the queue's threads, with exclusive use of that thread's THREAD_STATE. */
    void (*run)(struct job *job, void *thread_state);
    /* On any thread, if the job is shed for a client with less work, or the queue is stopped. */
    void (*cancel)(struct job *job);
    uint64_t client; /* a hash of the client's address: see client_limits_hash */
    struct run_kind kind;
    enum job_rank rank;
    /* Part of a response or search that has begun: not refused and not shed, and it runs after
     * other jobs of its client. */
    bool admitted;
    /* Private. */
    uint32_t cost_us;      /* the expected time of run, in microseconds; 0 counts as 1 */
    bool resumed;          /* it runs before other jobs of its client */
    uint64_t ran_us;       /* in runs before, if it is resumed */
    struct worker *worker; /* while it runs */
    struct line *line;     /* while queued */
    TAILQ_ENTRY(job) entry;
    uint64_t queued_at; /* ns */
};

TAILQ_HEAD(job_list, job);

/* A client's jobs. */
struct line {
    uint64_t client;
    struct job_list fresh, admitted;
    unsigned in_a_row;   /* fresh jobs taken while admitted ones waited */
    uint64_t backlog_us; /* of fresh jobs */
    int64_t used_us;     /* the virtual time at which its next job begins; 0: never used */
    TAILQ_ENTRY(line) entry;
};

enum { FAIR_QUEUE_SETS = 256, FAIR_QUEUE_WAYS = 8 };

struct fair_queue {
    TAILQ_HEAD(line_list, line) active; /* those with jobs */
    unsigned lines;                     /* active ones */
    unsigned fresh, admitted;           /* jobs */
    uint64_t backlog_us;                /* of all fresh jobs */
    int64_t now_us;                     /* virtual time: the largest begin of a job so far */
    struct line line[FAIR_QUEUE_SETS][FAIR_QUEUE_WAYS];
};

/* The expected cost of JOB, at least 1. */
uint32_t fair_queue_cost_us(const struct job *job);

void fair_queue_init(struct fair_queue *queue);

/* Put JOB last in its client's line; first, if it is resumed. */
void fair_queue_push(struct fair_queue *queue, struct job *job);

/* Take the next job, or NULL, and charge its line the expected cost. Takes time in proportion to
 * the active lines. */
struct job *fair_queue_pop(struct fair_queue *queue);

/* Take JOB, which is queued, out of its line. */
void fair_queue_remove(struct fair_queue *queue, struct job *job);

/* Charge CLIENT's line DIFFERENCE microseconds more, or less, than it was charged. */
void fair_queue_correct(struct fair_queue *queue, uint64_t client, int64_t difference);

/* CLIENT's running job is charged as if it had been put back and taken again: DIFFERENCE
 * microseconds more than it was. */
void fair_queue_renew(struct fair_queue *queue, uint64_t client, int64_t difference);

/* Whether clients besides CLIENT have jobs. */
bool fair_queue_has_others(const struct fair_queue *queue, uint64_t client);

/* The work in microseconds that is done before a new fresh job of CLIENT begins: its own backlog,
 * and as much of the other lines, but not more than there is. */
uint64_t fair_queue_ahead_us(const struct fair_queue *queue, uint64_t client);

/* The oldest fresh job of CLIENT, or of all; or NULL. */
const struct job *fair_queue_first(const struct fair_queue *queue, uint64_t client);
const struct job *fair_queue_oldest(const struct fair_queue *queue);

/* The last fresh job of the line with the largest backlog, if that is larger than the one that
 * CLIENT would have with COST_US more; or NULL. */
struct job *fair_queue_longest(struct fair_queue *queue, uint64_t client, uint32_t cost_us);

/* The queued job that MATCHES KEY, or NULL. */
typedef bool job_match(const struct job *job, const void *key);
struct job *fair_queue_find(struct fair_queue *queue, job_match *matches, const void *key);

#endif
