/*
 * A queue that shares the threads' time among clients. Each client has a line, and the line that
 * has used the least time is served next, by start-time fair queueing (Goyal, Vin and Cheng,
 * "Start-time fair queueing: a scheduling algorithm for integrated services packet switching
 * networks", 1996). So a client alone has all threads, and each of n busy clients has an nth of
 * their time, however many jobs it submits and however large they are. A client cannot save unused
 * time.
 *
 * Lines are in a fixed table, by the client's hash, so no client can make the queue allocate.
 * Clients share a line only if a whole set of lines is in use. The caller locks.
 */
#ifndef FARLANDS_CORE_FAIR_QUEUE_H
#define FARLANDS_CORE_FAIR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "server/core/run_times.h"

enum job_rank { JOB_INTERACTIVE, JOB_BACKGROUND, JOB_RANKS };

/* One piece of work, embedded in the caller's struct. Each successful submission to a work queue
 * calls exactly one callback, which owns the job and may free or resubmit it. */
struct job {
    /* On a queue thread, with exclusive use of the thread's THREAD_STATE. */
    void (*run)(struct job *job, void *thread_state);
    /* On any thread, if the job is shed for a client with less work, or the queue is stopped. */
    void (*cancel)(struct job *job);
    uint64_t client; /* a hash of the client's address: see client_limits_hash */
    struct run_kind kind;
    enum job_rank rank;
    /* Part of a response or search that has begun: not refused and not shed, but other jobs from
     * the same client run first. */
    bool admitted;
    /* Private. */
    uint32_t cost_us;      /* the expected time of run, in microseconds; 0 counts as 1 */
    bool resumed;          /* runs before the client's other jobs */
    uint64_t ran_us;       /* in earlier runs, if resumed */
    struct worker *worker; /* while the job runs */
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
    uint64_t backlog_us; /* expected, of fresh jobs */
    int64_t used_us;     /* the virtual time at which the next job begins; 0: never used */
    TAILQ_ENTRY(line) entry;
};

enum { FAIR_QUEUE_SETS = 256, FAIR_QUEUE_WAYS = 8 };

struct fair_queue {
    TAILQ_HEAD(line_list, line) active; /* lines with jobs */
    unsigned lines;                     /* active ones */
    unsigned fresh, admitted;           /* jobs */
    uint64_t backlog_us;                /* of all fresh jobs */
    int64_t now_us;                     /* virtual time: when the latest job began */
    struct line line[FAIR_QUEUE_SETS][FAIR_QUEUE_WAYS];
};

/* The expected cost of JOB, at least 1. */
uint32_t fair_queue_cost_us(const struct job *job);

void fair_queue_init(struct fair_queue *queue);

/* Put JOB last in the client's line; first, if resumed. */
void fair_queue_push(struct fair_queue *queue, struct job *job);

/* Take the next job, or NULL, and charge the line the expected cost. The time is linear in the
 * number of active lines. */
struct job *fair_queue_pop(struct fair_queue *queue);

/* Remove JOB, which is queued. */
void fair_queue_remove(struct fair_queue *queue, struct job *job);

/* Charge CLIENT's line DIFFERENCE microseconds more; less, if negative. */
void fair_queue_correct(struct fair_queue *queue, uint64_t client, int64_t difference);

/* Charge CLIENT's running job DIFFERENCE microseconds more, as if it had been put back and taken
 * again. */
void fair_queue_renew(struct fair_queue *queue, uint64_t client, int64_t difference);

/* Whether clients besides CLIENT have jobs. */
bool fair_queue_has_others(const struct fair_queue *queue, uint64_t client);

/* Work in microseconds ahead of a new fresh job from CLIENT: the client's own backlog and as much
 * from each other line, but no more than all lines have. */
uint64_t fair_queue_ahead_us(const struct fair_queue *queue, uint64_t client);

/* CLIENT's oldest fresh job, and the oldest in all lines; or NULL. */
const struct job *fair_queue_first(const struct fair_queue *queue, uint64_t client);
const struct job *fair_queue_oldest(const struct fair_queue *queue);

/* The last fresh job in the line with the largest backlog, if CLIENT's would be smaller even with
 * COST_US more; or NULL. */
struct job *fair_queue_longest(struct fair_queue *queue, uint64_t client, uint32_t cost_us);

/* The queued job that MATCHES KEY, or NULL. */
typedef bool job_match(const struct job *job, const void *key);
struct job *fair_queue_find(struct fair_queue *queue, job_match *matches, const void *key);

#endif
