#include "work_queue.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

enum {
    INTERACTIVE_IN_A_ROW = 15, /* while the background waits */
    NS_A_MS = 1000000,
    BURST = 3,      /* patiences that the last of a sudden crowd may have to wait */
    PACE_SHIFT = 4, /* the pace is that of about the last 16 jobs */
};

struct worker {
    struct work_queue *workers;
    void *thread_state;
    uint64_t since; /* when its job began; 0: it has none */
    int niceness;   /* that its thread has */
    uv_thread_t thread;
};

/* The jobs of one rank, oldest first. */
struct line {
    struct job *first, **last;
    unsigned length;
};

struct work_queue {
    uv_mutex_t lock;
    uv_cond_t wake;
    struct line lines[JOB_RANKS];
    unsigned queued; /* in both lines */
    unsigned in_a_row;
    unsigned capacity;
    uint64_t patience; /* ns */
    uint64_t pace;     /* what a job takes, ns; 0: not known yet */
    bool stopping;
    unsigned busy;  /* of the workers */
    unsigned count; /* of those that were started and not joined; their maker's thread alone */
    int niceness;
    unsigned rest_us;
    unsigned size;
    struct worker worker[];
};

static void enqueue(struct work_queue *workers, struct job *job)
{
    struct line *line = &workers->lines[job->rank];
    job->next = NULL;
    *line->last = job;
    line->last = &job->next;
    line->length++;
    workers->queued++;
}

static struct job *dequeue(struct work_queue *workers, enum job_rank rank)
{
    struct line *line = &workers->lines[rank];
    struct job *job = line->first;
    line->first = job->next;
    if (!line->first)
        line->last = &line->first;
    line->length--;
    workers->queued--;
    return job;
}

/* The job that is next, or NULL. */
static struct job *take(struct work_queue *workers)
{
    const bool interactive = workers->lines[JOB_INTERACTIVE].first;
    const bool background = workers->lines[JOB_BACKGROUND].first;

    if (!interactive && !background)
        return NULL;
    if (!interactive || (background && workers->in_a_row >= INTERACTIVE_IN_A_ROW)) {
        workers->in_a_row = 0;
        return dequeue(workers, JOB_BACKGROUND);
    }
    workers->in_a_row = background ? workers->in_a_row + 1 : 0;
    return dequeue(workers, JOB_INTERACTIVE);
}

static void note_pace(struct work_queue *workers, uint64_t took)
{
    if (workers->pace == 0)
        workers->pace = took;
    else
        workers->pace += (took >> PACE_SHIFT) - (workers->pace >> PACE_SHIFT);
}

/* On its own thread: in Linux each has a priority of its own. */
static void give_way(struct worker *worker, int niceness)
{
    if (worker->niceness == niceness)
        return;
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + niceness - worker->niceness);
    worker->niceness = niceness;
}

static void work(void *argument)
{
    struct worker *worker = argument;
    struct work_queue *workers = worker->workers;
    bool rested = true;

    uv_mutex_lock(&workers->lock);
    for (;;) {
        struct job *job = take(workers);
        if (job) {
            workers->busy++;
            worker->since = uv_hrtime();
            const int niceness = workers->niceness;
            uv_mutex_unlock(&workers->lock);
            give_way(worker, niceness);
            job->run(job, worker->thread_state);
            uv_mutex_lock(&workers->lock);
            note_pace(workers, uv_hrtime() - worker->since);
            worker->since = 0;
            workers->busy--;
            rested = false;
        } else if (workers->stopping) {
            break;
        } else if (!rested && workers->rest_us > 0) {
            const unsigned rest_us = workers->rest_us;
            uv_mutex_unlock(&workers->lock);
            usleep(rest_us);
            uv_mutex_lock(&workers->lock);
            rested = true;
        } else {
            uv_cond_wait(&workers->wake, &workers->lock);
        }
    }
    uv_mutex_unlock(&workers->lock);
}

/* Free workers take the first jobs in a moment: those do not wait. */
static unsigned about_to_run(const struct work_queue *workers)
{
    const unsigned idle = workers->size - workers->busy;
    return workers->queued < idle ? workers->queued : idle;
}

/* Whether the line is too long, in number or in time, for one more job of RANK. */
static bool is_full(const struct work_queue *workers, enum job_rank rank, uint64_t now)
{
    const unsigned pending = workers->queued - about_to_run(workers);

    if (workers->queued < workers->size - workers->busy)
        return false;
    if (pending >= workers->capacity)
        return true;
    if (rank == JOB_BACKGROUND && pending > workers->capacity / 2)
        return true;
    unsigned ahead = 0;
    for (int better = 0; better <= (int)rank; better++) {
        const struct job *first = workers->lines[better].first;
        if (first && now - first->since > workers->patience)
            return true;
        ahead += workers->lines[better].length;
    }
    return ahead * workers->pace / workers->size > BURST * workers->patience;
}

int work_queue_submit(struct work_queue *workers, struct job *job)
{
    int err = 0;

    uv_mutex_lock(&workers->lock);
    const uint64_t now = uv_hrtime(); /* under the lock: none in line is younger */
    if (workers->stopping) {
        err = -ECANCELED;
    } else if (!job->owed && is_full(workers, job->rank, now)) {
        err = -EBUSY;
    } else {
        job->since = now;
        enqueue(workers, job);
        uv_cond_signal(&workers->wake);
    }
    uv_mutex_unlock(&workers->lock);
    return err;
}

/* Take a job that IS WHAT out of the background's line, or NULL. */
static struct job *take_from_background(struct work_queue *workers, job_key_equal *is,
                                        const void *what)
{
    struct line *line = &workers->lines[JOB_BACKGROUND];
    struct job **at = &line->first;
    while (*at && !is(*at, what))
        at = &(*at)->next;
    struct job *job = *at;
    if (!job)
        return NULL;
    *at = job->next;
    if (!*at)
        line->last = at;
    line->length--;
    workers->queued--;
    return job;
}

bool work_queue_promote(struct work_queue *workers, job_key_equal *is, const void *what)
{
    uv_mutex_lock(&workers->lock);
    struct job *job = take_from_background(workers, is, what);
    if (job) {
        job->rank = JOB_INTERACTIVE;
        job->since = uv_hrtime(); /* none in its new line is younger */
        enqueue(workers, job);
    }
    uv_mutex_unlock(&workers->lock);
    return job != NULL;
}

/* Take all jobs out of the line: those that wait. Locked. */
static struct job *take_all(struct work_queue *workers)
{
    struct job *first = NULL, **last = &first;
    for (int rank = 0; rank < JOB_RANKS; rank++) {
        struct line *line = &workers->lines[rank];
        if (!line->first)
            continue;
        *last = line->first;
        last = line->last;
        *line = (struct line){.last = &line->first};
    }
    workers->queued = 0;
    return first;
}

static void run_in_vain(struct job *job)
{
    for (struct job *next; job; job = next) {
        next = job->next; /* run may free it */
        job->run(job, NULL);
    }
}

void work_queue_cancel(struct work_queue *workers)
{
    uv_mutex_lock(&workers->lock);
    struct job *jobs = take_all(workers);
    uv_mutex_unlock(&workers->lock);
    run_in_vain(jobs);
}

void work_queue_stop(struct work_queue *workers)
{
    uv_mutex_lock(&workers->lock);
    workers->stopping = true;
    struct job *jobs = take_all(workers);
    uv_cond_broadcast(&workers->wake);
    uv_mutex_unlock(&workers->lock);
    run_in_vain(jobs);
    while (workers->count > 0)
        uv_thread_join(&workers->worker[--workers->count].thread);
}

void work_queue_set_batch_delay(struct work_queue *workers, unsigned us)
{
    uv_mutex_lock(&workers->lock);
    workers->rest_us = us;
    uv_mutex_unlock(&workers->lock);
}

void work_queue_set_nice(struct work_queue *workers, int niceness)
{
    uv_mutex_lock(&workers->lock);
    workers->niceness = niceness;
    uv_mutex_unlock(&workers->lock);
}

void work_queue_limit(struct work_queue *workers, unsigned capacity, unsigned patience_ms)
{
    uv_mutex_lock(&workers->lock);
    workers->capacity = capacity;
    workers->patience = (uint64_t)patience_ms * NS_A_MS;
    uv_mutex_unlock(&workers->lock);
}

unsigned work_queue_waiting(struct work_queue *workers)
{
    uv_mutex_lock(&workers->lock);
    const unsigned pending = workers->queued - about_to_run(workers);
    uv_mutex_unlock(&workers->lock);
    return pending;
}

unsigned work_queue_running(struct work_queue *workers)
{
    uv_mutex_lock(&workers->lock);
    const unsigned running = workers->busy + about_to_run(workers);
    uv_mutex_unlock(&workers->lock);
    return running;
}

uint64_t work_queue_longest_run_ms(struct work_queue *workers)
{
    uv_mutex_lock(&workers->lock);
    const uint64_t now = uv_hrtime();
    uint64_t first = now;
    for (unsigned i = 0; i < workers->size; i++)
        if (workers->worker[i].since && workers->worker[i].since < first)
            first = workers->worker[i].since;
    uv_mutex_unlock(&workers->lock);
    return (now - first) / NS_A_MS;
}

static int start(struct work_queue *workers, void **stations)
{
    for (; workers->count < workers->size; workers->count++) {
        struct worker *worker = &workers->worker[workers->count];
        worker->workers = workers;
        worker->thread_state = stations[workers->count];
        int err = uv_thread_create(&worker->thread, work, worker);
        if (err)
            return err;
    }
    return 0;
}

int work_queue_new(struct work_queue **out, void **stations, unsigned count, unsigned capacity,
                   unsigned patience_ms)
{
    struct work_queue *workers = calloc(1, sizeof *workers + count * sizeof *workers->worker);
    if (!workers)
        return -ENOMEM;
    workers->size = count;
    workers->capacity = capacity;
    workers->patience = (uint64_t)patience_ms * NS_A_MS;
    for (int rank = 0; rank < JOB_RANKS; rank++)
        workers->lines[rank].last = &workers->lines[rank].first;
    int err = uv_mutex_init(&workers->lock);
    if (err)
        goto fail_lock;
    err = uv_cond_init(&workers->wake);
    if (err)
        goto fail_wake;
    err = start(workers, stations);
    if (err)
        goto fail_start;
    *out = workers;
    return 0;

fail_start:
    work_queue_stop(workers);
    uv_cond_destroy(&workers->wake);
fail_wake:
    uv_mutex_destroy(&workers->lock);
fail_lock:
    free(workers);
    return err;
}

void work_queue_free(struct work_queue *workers)
{
    if (!workers)
        return;
    work_queue_stop(workers);
    uv_cond_destroy(&workers->wake);
    uv_mutex_destroy(&workers->lock);
    free(workers);
}
