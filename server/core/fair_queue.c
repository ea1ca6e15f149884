#include "fair_queue.h"

#include <stddef.h>

enum {
    FRESH_IN_A_ROW = 15,         /* from one line, while it has admitted jobs */
    CORRECTION_MAX_US = 1000000, /* the disk was slow, rather than the job large */
};

/* CLIENT's line, or NULL. */
static struct line *find(const struct fair_queue *queue, uint64_t client)
{
    const struct line *set = queue->line[client % FAIR_QUEUE_SETS];

    for (int i = 0; i < FAIR_QUEUE_WAYS; i++)
        if (set[i].client == client)
            return (struct line *)&set[i];
    return NULL;
}

/* True if LINE is in the list ACTIVE. */
static bool is_active(const struct line *line)
{
    return !TAILQ_EMPTY(&line->fresh) || !TAILQ_EMPTY(&line->admitted);
}

/* A line without jobs that has no more time to pay for is free. */
static bool is_free(const struct fair_queue *queue, const struct line *line)
{
    return !is_active(line) && line->used_us <= queue->now_us;
}

/* A line for CLIENT's next job. If none is free, another client's. */
static struct line *claim(struct fair_queue *queue, uint64_t client)
{
    struct line *set = queue->line[client % FAIR_QUEUE_SETS], *line = find(queue, client);

    if (line)
        return line;
    line = set;
    while (line < set + FAIR_QUEUE_WAYS - 1 && !is_free(queue, line))
        line++;
    if (is_free(queue, line))
        line->client = client;
    return line;
}

uint32_t fair_queue_cost_us(const struct job *job)
{
    return job->cost_us > 0 ? job->cost_us : 1;
}

void fair_queue_init(struct fair_queue *queue)
{
    *queue = (struct fair_queue){0};
    TAILQ_INIT(&queue->active);
    for (int set = 0; set < FAIR_QUEUE_SETS; set++)
        for (int way = 0; way < FAIR_QUEUE_WAYS; way++) {
            TAILQ_INIT(&queue->line[set][way].fresh);
            TAILQ_INIT(&queue->line[set][way].admitted);
        }
}

void fair_queue_push(struct fair_queue *queue, struct job *job)
{
    struct line *line = claim(queue, job->client);

    if (!is_active(line)) {
        if (line->used_us < queue->now_us)
            line->used_us = queue->now_us;
        queue->lines++;
        TAILQ_INSERT_TAIL(&queue->active, line, entry);
    }
    job->line = line;
    if (job->admitted) {
        TAILQ_INSERT_TAIL(&line->admitted, job, entry);
        queue->admitted++;
    } else {
        if (job->resumed)
            TAILQ_INSERT_HEAD(&line->fresh, job, entry);
        else
            TAILQ_INSERT_TAIL(&line->fresh, job, entry);
        line->backlog_us += fair_queue_cost_us(job);
        queue->backlog_us += fair_queue_cost_us(job);
        queue->fresh++;
    }
}

void fair_queue_remove(struct fair_queue *queue, struct job *job)
{
    struct line *line = job->line;

    if (job->admitted) {
        TAILQ_REMOVE(&line->admitted, job, entry);
        queue->admitted--;
    } else {
        TAILQ_REMOVE(&line->fresh, job, entry);
        line->backlog_us -= fair_queue_cost_us(job);
        queue->backlog_us -= fair_queue_cost_us(job);
        queue->fresh--;
    }
    if (!is_active(line)) {
        queue->lines--;
        TAILQ_REMOVE(&queue->active, line, entry);
    }
}

/* The line that has used the least time, the earliest if several have; or NULL. */
static struct line *next_line(struct fair_queue *queue)
{
    struct line *next = TAILQ_FIRST(&queue->active), *line;

    for (line = next; line; line = TAILQ_NEXT(line, entry))
        if (line->used_us < next->used_us)
            next = line;
    return next;
}

struct job *fair_queue_pop(struct fair_queue *queue)
{
    struct line *line = next_line(queue);
    if (!line)
        return NULL;
    struct job *fresh = TAILQ_FIRST(&line->fresh), *admitted = TAILQ_FIRST(&line->admitted);
    struct job *job = fresh;
    if (!fresh || (admitted && line->in_a_row >= FRESH_IN_A_ROW))
        job = admitted;
    line->in_a_row = job == fresh && admitted ? line->in_a_row + 1 : 0;
    if (queue->now_us < line->used_us)
        queue->now_us = line->used_us;
    line->used_us += fair_queue_cost_us(job);
    fair_queue_remove(queue, job);
    return job;
}

void fair_queue_correct(struct fair_queue *queue, uint64_t client, int64_t difference)
{
    struct line *line = find(queue, client);

    if (line)
        line->used_us += difference < CORRECTION_MAX_US ? difference : CORRECTION_MAX_US;
}

void fair_queue_renew(struct fair_queue *queue, uint64_t client, int64_t difference)
{
    const struct line *line = find(queue, client);

    fair_queue_correct(queue, client, difference);
    if (line && queue->now_us < line->used_us)
        queue->now_us = line->used_us;
}

bool fair_queue_has_others(const struct fair_queue *queue, uint64_t client)
{
    const struct line *line = find(queue, client);

    return queue->lines > (line && is_active(line) ? 1 : 0);
}

uint64_t fair_queue_ahead_us(const struct fair_queue *queue, uint64_t client)
{
    const struct line *line = find(queue, client);
    const uint64_t in_turn = line ? line->backlog_us * queue->lines : 0;

    return in_turn < queue->backlog_us ? in_turn : queue->backlog_us;
}

const struct job *fair_queue_first(const struct fair_queue *queue, uint64_t client)
{
    const struct line *line = find(queue, client);

    return line ? TAILQ_FIRST(&line->fresh) : NULL;
}

const struct job *fair_queue_oldest(const struct fair_queue *queue)
{
    const struct job *oldest = NULL;
    const struct line *line;

    for (line = TAILQ_FIRST(&queue->active); line; line = TAILQ_NEXT(line, entry)) {
        const struct job *first = TAILQ_FIRST(&line->fresh);
        if (first && (!oldest || first->queued_at < oldest->queued_at))
            oldest = first;
    }
    return oldest;
}

struct job *fair_queue_longest(struct fair_queue *queue, uint64_t client, uint32_t cost_us)
{
    const struct line *own = find(queue, client);
    struct line *longest = NULL, *line;
    uint64_t most_us = (own ? own->backlog_us : 0) + cost_us;

    for (line = TAILQ_FIRST(&queue->active); line; line = TAILQ_NEXT(line, entry)) {
        if (line->backlog_us <= most_us)
            continue;
        most_us = line->backlog_us;
        longest = line;
    }
    return longest ? TAILQ_LAST(&longest->fresh, job_list) : NULL;
}

struct job *fair_queue_find(struct fair_queue *queue, job_match *matches, const void *key)
{
    struct line *line;
    struct job *job;

    for (line = TAILQ_FIRST(&queue->active); line; line = TAILQ_NEXT(line, entry))
        for (job = TAILQ_FIRST(&line->fresh); job; job = TAILQ_NEXT(job, entry))
            if (matches(job, key))
                return job;
    return NULL;
}
