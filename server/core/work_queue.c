#include "work_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

enum {
    INTERACTIVE_IN_A_ROW = 15, /* while background jobs are queued */
    NS_PER_MS = 1000000,
    PATIENCES_MAX = 3, /* that the last of a burst is estimated to wait */
    MEAN_SHIFT = 4,    /* mean_run covers about the last 2^4 jobs */
};

struct worker {
    struct work_queue *queue;
    void *thread_state;
    uint64_t began; /* its job; 0 if idle */
    uv_thread_t thread;
};

/* The queued jobs of one rank, oldest first. */
struct fifo {
    struct job *first, **last;
    unsigned length;
};

struct work_queue {
    uv_mutex_t lock;
    uv_cond_t wake;
    struct fifo fifo[JOB_RANKS];
    unsigned in_a_row;
    unsigned capacity;
    uint64_t patience; /* ns */
    uint64_t mean_run; /* ns; 0 until a job has run */
    bool stopping;
    unsigned busy;    /* workers with a job */
    unsigned started; /* threads not joined yet; the lock does not guard what follows */
    unsigned size;
    int niceness;
    unsigned batch_delay_us;
    struct worker worker[];
};

static void enqueue(struct work_queue *queue, struct job *job)
{
    struct fifo *fifo = &queue->fifo[job->rank];
    job->queued_at = uv_hrtime(); /* under the lock: no job in the FIFO is younger */
    job->next = NULL;
    *fifo->last = job;
    fifo->last = &job->next;
    fifo->length++;
}

/* Take the job that AT points to out of its FIFO, or return NULL. */
static struct job *dequeue(struct fifo *fifo, struct job **at)
{
    struct job *job = *at;
    if (!job)
        return NULL;
    *at = job->next;
    if (!*at)
        fifo->last = at;
    fifo->length--;
    return job;
}

static struct job *dequeue_next(struct work_queue *queue)
{
    struct fifo *interactive = &queue->fifo[JOB_INTERACTIVE];
    struct fifo *background = &queue->fifo[JOB_BACKGROUND];

    if (!interactive->first || (background->first && queue->in_a_row >= INTERACTIVE_IN_A_ROW)) {
        queue->in_a_row = 0;
        return dequeue(background, &background->first);
    }
    queue->in_a_row = background->first ? queue->in_a_row + 1 : 0;
    return dequeue(interactive, &interactive->first);
}

/* With the lock held, which is released meanwhile. */
static void run_job(struct worker *worker, struct job *job)
{
    struct work_queue *queue = worker->queue;

    queue->busy++;
    worker->began = uv_hrtime();
    uv_mutex_unlock(&queue->lock);
    job->run(job, worker->thread_state);
    uv_mutex_lock(&queue->lock);
    const uint64_t took = uv_hrtime() - worker->began;
    if (queue->mean_run == 0)
        queue->mean_run = took;
    else
        queue->mean_run += (took >> MEAN_SHIFT) - (queue->mean_run >> MEAN_SHIFT);
    worker->began = 0;
    queue->busy--;
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
        struct job *job = dequeue_next(queue);
        if (job) {
            run_job(worker, job);
            delayed = queue->batch_delay_us == 0;
        } else if (!delayed) {
            uv_mutex_unlock(&queue->lock);
            usleep(queue->batch_delay_us);
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
    return queue->fifo[JOB_INTERACTIVE].length + queue->fifo[JOB_BACKGROUND].length;
}

static unsigned idle(const struct work_queue *queue)
{
    return queue->size - queue->busy;
}

/* Idle threads are about to take the first jobs: those do not wait. */
static unsigned about_to_run(const struct work_queue *queue)
{
    return queued(queue) < idle(queue) ? queued(queue) : idle(queue);
}

/* Whether the queue is too long, in jobs or in time, for one more job of RANK. */
static bool is_full(const struct work_queue *queue, enum job_rank rank)
{
    const unsigned waiting = queued(queue) - about_to_run(queue);
    const uint64_t now = uv_hrtime();
    uint64_t ahead = 0;

    if (queued(queue) < idle(queue))
        return false;
    if (waiting >= queue->capacity || (rank == JOB_BACKGROUND && waiting > queue->capacity / 2))
        return true;
    for (int better = 0; better <= (int)rank; better++) {
        const struct job *first = queue->fifo[better].first;
        if (first && now - first->queued_at > queue->patience)
            return true;
        ahead += queue->fifo[better].length;
    }
    return ahead * queue->mean_run / queue->size > PATIENCES_MAX * queue->patience;
}

int work_queue_submit(struct work_queue *queue, struct job *job)
{
    int err = 0;

    uv_mutex_lock(&queue->lock);
    if (queue->stopping) {
        err = -ECANCELED;
    } else if (!job->admitted && is_full(queue, job->rank)) {
        err = -EBUSY;
    } else {
        enqueue(queue, job);
        uv_cond_signal(&queue->wake);
    }
    uv_mutex_unlock(&queue->lock);
    return err;
}

bool work_queue_promote(struct work_queue *queue, job_match *matches, const void *key)
{
    struct fifo *background = &queue->fifo[JOB_BACKGROUND];

    uv_mutex_lock(&queue->lock);
    struct job **at = &background->first;
    while (*at && !matches(*at, key))
        at = &(*at)->next;
    struct job *job = dequeue(background, at);
    if (job) {
        job->rank = JOB_INTERACTIVE;
        enqueue(queue, job);
    }
    uv_mutex_unlock(&queue->lock);
    return job != NULL;
}

void work_queue_stop(struct work_queue *queue)
{
    uv_mutex_lock(&queue->lock);
    queue->stopping = true;
    uv_cond_broadcast(&queue->wake);
    for (struct job *job; (job = dequeue_next(queue));) {
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
    const uint64_t now = uv_hrtime();
    uint64_t first = now;
    for (unsigned i = 0; i < queue->size; i++)
        if (queue->worker[i].began && queue->worker[i].began < first)
            first = queue->worker[i].began;
    uv_mutex_unlock(&queue->lock);
    return (now - first) / NS_PER_MS;
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
    for (int rank = 0; rank < JOB_RANKS; rank++)
        queue->fifo[rank].last = &queue->fifo[rank].first;
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
