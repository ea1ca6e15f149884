#include "work_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "server/core/clock.h"

enum {
    INTERACTIVE_IN_A_ROW = 15, /* while background jobs are queued */
    NS_PER_US = 1000,
    MS_PER_SECOND = 1000,
    PATIENCES_MAX = 3, /* that the last of a burst is estimated to wait */
    MEAN_SHIFT = 4,    /* means cover about the last 2^4 jobs */
};

struct worker {
    struct work_queue *queue;
    void *thread_state;
    uint64_t began;      /* when the slice began, ns; 0 if idle */
    uint64_t charged_us; /* for the slice, so far */
    uint64_t earlier_us; /* the job's slices before */
    bool resumes;        /* the job goes on later */
    uv_thread_t thread;
};

struct work_queue {
    uv_mutex_t lock;
    uv_cond_t wake;
    struct fair_queue rank[JOB_RANKS];
    unsigned in_a_row;
    unsigned capacity;
    uint64_t patience; /* ns */
    struct run_times times;
    uint64_t mean_run_us; /* times 2^MEAN_SHIFT */
    uint64_t longest_slice_us;
    bool stopping;
    unsigned busy;    /* workers with a job */
    unsigned started; /* threads not joined yet; the lock does not guard what follows */
    unsigned size;
    int niceness;
    unsigned batch_delay_us;
    const struct clock *clock;
    struct worker worker[];
};

static void enqueue(struct work_queue *queue, struct job *job)
{
    job->queued_at = clock_ns(queue->clock); /* under the lock: no job behind it is older */
    fair_queue_push(&queue->rank[job->rank], job);
}

static struct job *dequeue(struct work_queue *queue)
{
    struct fair_queue *interactive = &queue->rank[JOB_INTERACTIVE];
    struct fair_queue *background = &queue->rank[JOB_BACKGROUND];

    if (interactive->lines == 0 ||
        (background->lines > 0 && queue->in_a_row >= INTERACTIVE_IN_A_ROW)) {
        queue->in_a_row = 0;
        return fair_queue_pop(background);
    }
    queue->in_a_row = background->lines > 0 ? queue->in_a_row + 1 : 0;
    return fair_queue_pop(interactive);
}

/* The time of WORKER's slice so far, and the part that is not charged yet: negative if more was
 * expected. */
static int64_t uncharged(struct work_queue *queue, const struct worker *worker, uint64_t now)
{
    const uint64_t took_us = (now - worker->began) / NS_PER_US;

    if (queue->longest_slice_us < took_us)
        queue->longest_slice_us = took_us;
    return (int64_t)took_us - (int64_t)worker->charged_us;
}

/* KIND's last run took US microseconds. */
static void learn(struct work_queue *queue, struct run_kind kind, uint64_t us)
{
    run_times_learn(&queue->times, kind, us);
    if (queue->mean_run_us == 0)
        queue->mean_run_us = us << MEAN_SHIFT;
    else
        queue->mean_run_us += us - (queue->mean_run_us >> MEAN_SHIFT);
}

/* With the lock held, which is released meanwhile. The callback may free the job. */
static void run_job(struct worker *worker, struct job *job)
{
    struct work_queue *queue = worker->queue;
    const enum job_rank rank = job->rank;
    const uint64_t client = job->client;
    const struct run_kind kind = job->kind;

    queue->busy++;
    worker->began = clock_ns(queue->clock);
    worker->charged_us = fair_queue_cost_us(job);
    worker->earlier_us = job->resumed ? job->ran_us : 0;
    worker->resumes = false;
    job->worker = worker;
    uv_mutex_unlock(&queue->lock);
    job->run(job, worker->thread_state);
    uv_mutex_lock(&queue->lock);
    const uint64_t now = clock_ns(queue->clock);
    fair_queue_correct(&queue->rank[rank], client, uncharged(queue, worker, now));
    if (!worker->resumes)
        learn(queue, kind, worker->earlier_us + (now - worker->began) / NS_PER_US);
    worker->began = 0;
    queue->busy--;
}

/* True if JOB, which could stop now, should let waiting jobs run. */
static bool has_to_wait(const struct work_queue *queue, const struct job *job, bool own)
{
    for (int rank = 0; rank <= (int)job->rank; rank++)
        if (own ? queue->rank[rank].lines > 0
                : fair_queue_has_others(&queue->rank[rank], job->client))
            return true;
    return false;
}

bool work_queue_go_on(struct work_queue *queue, const struct job *job, bool own)
{
    struct worker *worker = job->worker;
    const uint64_t now = clock_ns(queue->clock);

    if (now - worker->began < (uint64_t)WORK_QUEUE_SLICE_US * NS_PER_US)
        return true;
    uv_mutex_lock(&queue->lock);
    const bool stops = queue->stopping || has_to_wait(queue, job, own);
    if (!stops) {
        fair_queue_renew(&queue->rank[job->rank], job->client, uncharged(queue, worker, now));
        worker->earlier_us += (now - worker->began) / NS_PER_US;
        worker->began = now;
        worker->charged_us = 0;
    }
    uv_mutex_unlock(&queue->lock);
    return !stops;
}

static void work(void *argument)
{
    struct worker *worker = argument;
    struct work_queue *queue = worker->queue;
    bool delayed = true;

    if (queue->niceness) /* in Linux each thread has its own */
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + queue->niceness);
    uv_mutex_lock(&queue->lock);
    while (!queue->stopping) {
        struct job *job = dequeue(queue);
        if (job) {
            run_job(worker, job);
            delayed = queue->batch_delay_us == 0;
        } else if (!delayed) {
            uv_mutex_unlock(&queue->lock);
            clock_sleep(queue->clock, (uint64_t)queue->batch_delay_us * NS_PER_US);
            uv_mutex_lock(&queue->lock);
            delayed = true;
        } else {
            uv_cond_wait(&queue->wake, &queue->lock);
        }
    }
    uv_mutex_unlock(&queue->lock);
}

static unsigned queued(const struct work_queue *queue)
{
    unsigned count = 0;
    for (int rank = 0; rank < JOB_RANKS; rank++)
        count += queue->rank[rank].fresh + queue->rank[rank].admitted;
    return count;
}

static unsigned idle(const struct work_queue *queue)
{
    return queue->size - queue->busy;
}

/* Idle threads are about to take the first jobs, so the first jobs do not wait. */
static unsigned about_to_run(const struct work_queue *queue)
{
    return queued(queue) < idle(queue) ? queued(queue) : idle(queue);
}

/* How many ns a fresh job from CLIENT is expected to wait. */
static uint64_t wait_of(const struct work_queue *queue, enum job_rank rank, uint64_t client)
{
    uint64_t ahead_us = fair_queue_ahead_us(&queue->rank[rank], client);

    if (rank == JOB_BACKGROUND)
        ahead_us += queue->rank[JOB_INTERACTIVE].backlog_us;
    return ahead_us * NS_PER_US / queue->size;
}

/* True if jobs from CLIENT already wait too long. */
static bool is_late(const struct work_queue *queue, enum job_rank rank, uint64_t client)
{
    const struct job *first = fair_queue_first(&queue->rank[rank], client);

    return (first && clock_ns(queue->clock) - first->queued_at > queue->patience) ||
           wait_of(queue, rank, client) > PATIENCES_MAX * queue->patience;
}

/* Interactive jobs only: background jobs never keep them out. */
static bool is_full(const struct work_queue *queue)
{
    return queue->rank[JOB_INTERACTIVE].fresh >= queue->capacity + idle(queue);
}

static bool background_is_full(const struct work_queue *queue)
{
    const unsigned fresh = queue->rank[JOB_INTERACTIVE].fresh + queue->rank[JOB_BACKGROUND].fresh;
    const struct job *oldest = fair_queue_oldest(&queue->rank[JOB_INTERACTIVE]);

    return fresh > queue->capacity / 2 + idle(queue) || fresh >= queue->capacity + idle(queue) ||
           (oldest && clock_ns(queue->clock) - oldest->queued_at > queue->patience);
}

/* Returns 0 if JOB may be queued, or -EBUSY. *VICTIM: NULL, or a job that has left the queue to
 * make room. */
static int make_room(struct work_queue *queue, const struct job *job, struct job **victim)
{
    if (job->admitted || queued(queue) < idle(queue))
        return 0;
    if (is_late(queue, job->rank, job->client))
        return -EBUSY;
    if (job->rank == JOB_BACKGROUND)
        return background_is_full(queue) ? -EBUSY : 0;
    if (!is_full(queue))
        return 0;
    *victim =
        fair_queue_longest(&queue->rank[JOB_INTERACTIVE], job->client, fair_queue_cost_us(job));
    if (!*victim)
        return -EBUSY;
    fair_queue_remove(&queue->rank[JOB_INTERACTIVE], *victim);
    return 0;
}

/* Queue JOB unless ERR says why not, and release the lock. Returns ERR. */
static int enqueue_unless(int err, struct work_queue *queue, struct job *job)
{
    if (!err)
        enqueue(queue, job);
    uv_mutex_unlock(&queue->lock);
    if (!err) /* without the lock, which the thread takes at once */
        uv_cond_signal(&queue->wake);
    return err;
}

int work_queue_submit(struct work_queue *queue, struct job *job)
{
    struct job *victim = NULL;

    uv_mutex_lock(&queue->lock);
    job->cost_us = run_times_expect(&queue->times, job->kind);
    job->resumed = false;
    int err = queue->stopping ? -ECANCELED : make_room(queue, job, &victim);
    err = enqueue_unless(err, queue, job);
    if (victim)
        victim->cancel(victim);
    return err;
}

int work_queue_resume(struct work_queue *queue, struct job *job)
{
    uv_mutex_lock(&queue->lock);
    struct worker *worker = job->worker;
    worker->resumes = true;
    job->ran_us = worker->earlier_us + (clock_ns(queue->clock) - worker->began) / NS_PER_US;
    job->resumed = true;
    return enqueue_unless(queue->stopping ? -ECANCELED : 0, queue, job);
}

bool work_queue_join(struct work_queue *queue, job_match *matches, const void *key,
                     enum job_rank rank, uint64_t client)
{
    struct job *job = NULL;

    uv_mutex_lock(&queue->lock);
    for (int i = 0; i < JOB_RANKS && !job; i++)
        job = fair_queue_find(&queue->rank[i], matches, key);
    const struct fair_queue *its = job ? &queue->rank[job->rank] : NULL;
    if (job &&
        (rank < job->rank || (rank == job->rank && fair_queue_ahead_us(its, client) <
                                                       fair_queue_ahead_us(its, job->client)))) {
        fair_queue_remove(&queue->rank[job->rank], job);
        job->rank = rank;
        job->client = client;
        enqueue(queue, job);
    }
    uv_mutex_unlock(&queue->lock);
    return job != NULL;
}

unsigned work_queue_wait_ms(struct work_queue *queue, enum job_rank rank, uint64_t client)
{
    uint64_t ns = 0;

    uv_mutex_lock(&queue->lock);
    if (queued(queue) >= idle(queue))
        ns = wait_of(queue, rank, client) + (queue->mean_run_us >> MEAN_SHIFT) * NS_PER_US;
    uv_mutex_unlock(&queue->lock);
    return (unsigned)((ns + NS_PER_MS - 1) / NS_PER_MS);
}

unsigned work_queue_retry_after(struct work_queue *queue, uint64_t client)
{
    uv_mutex_lock(&queue->lock);
    const uint64_t ms = wait_of(queue, JOB_INTERACTIVE, client) / NS_PER_MS;
    uv_mutex_unlock(&queue->lock);
    return 1 + (unsigned)(ms / MS_PER_SECOND);
}

void work_queue_stop(struct work_queue *queue)
{
    uv_mutex_lock(&queue->lock);
    queue->stopping = true;
    uv_cond_broadcast(&queue->wake);
    for (struct job *job; (job = dequeue(queue));) {
        uv_mutex_unlock(&queue->lock);
        job->cancel(job); /* may submit it again, in vain */
        uv_mutex_lock(&queue->lock);
    }
    uv_mutex_unlock(&queue->lock);
    while (queue->started > 0)
        uv_thread_join(&queue->worker[--queue->started].thread);
}

void work_queue_limit(struct work_queue *queue, unsigned capacity, unsigned patience_ms)
{
    uv_mutex_lock(&queue->lock);
    queue->capacity = capacity;
    queue->patience = (uint64_t)patience_ms * NS_PER_MS;
    uv_mutex_unlock(&queue->lock);
}

unsigned work_queue_waiting(struct work_queue *queue)
{
    uv_mutex_lock(&queue->lock);
    const unsigned waiting = queued(queue) - about_to_run(queue);
    uv_mutex_unlock(&queue->lock);
    return waiting;
}

unsigned work_queue_running(struct work_queue *queue)
{
    uv_mutex_lock(&queue->lock);
    const unsigned running = queue->busy + about_to_run(queue);
    uv_mutex_unlock(&queue->lock);
    return running;
}

uint64_t work_queue_longest_run_ms(struct work_queue *queue)
{
    uv_mutex_lock(&queue->lock);
    const uint64_t now = clock_ns(queue->clock);
    uint64_t first = now;
    for (unsigned i = 0; i < queue->size; i++)
        if (queue->worker[i].began && queue->worker[i].began < first)
            first = queue->worker[i].began;
    uv_mutex_unlock(&queue->lock);
    return (now - first) / NS_PER_MS;
}

uint64_t work_queue_longest_slice_us(struct work_queue *queue)
{
    uv_mutex_lock(&queue->lock);
    const uint64_t us = queue->longest_slice_us;
    uv_mutex_unlock(&queue->lock);
    return us;
}

static int start_threads(struct work_queue *queue, void **thread_states)
{
    for (; queue->started < queue->size; queue->started++) {
        struct worker *worker = &queue->worker[queue->started];
        worker->queue = queue;
        worker->thread_state = thread_states[queue->started];
        int err = uv_thread_create(&worker->thread, work, worker);
        if (err)
            return err;
    }
    return 0;
}

int work_queue_new(struct work_queue **out, const struct work_queue_options *options)
{
    struct work_queue *queue = calloc(1, sizeof *queue + options->threads * sizeof *queue->worker);
    if (!queue)
        return -ENOMEM;
    queue->size = options->threads;
    queue->niceness = options->niceness;
    queue->batch_delay_us = options->batch_delay_us;
    queue->clock = options->clock;
    for (int rank = 0; rank < JOB_RANKS; rank++)
        fair_queue_init(&queue->rank[rank]);
    int err = uv_mutex_init(&queue->lock);
    if (err)
        goto fail_lock;
    err = uv_cond_init(&queue->wake);
    if (err)
        goto fail_wake;
    work_queue_limit(queue, options->capacity, options->patience_ms);
    err = start_threads(queue, options->thread_states);
    if (err)
        goto fail_start;
    *out = queue;
    return 0;

fail_start:
    work_queue_stop(queue);
    uv_cond_destroy(&queue->wake);
fail_wake:
    uv_mutex_destroy(&queue->lock);
fail_lock:
    free(queue);
    return err;
}

void work_queue_free(struct work_queue *queue)
{
    if (!queue)
        return;
    work_queue_stop(queue);
    uv_cond_destroy(&queue->wake);
    uv_mutex_destroy(&queue->lock);
    free(queue);
}
