#include "streamed_job.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct streamed_jobs {
    struct streamed_jobs_parts parts;
    struct render_scratch *scratch; /* for what is light */
    unsigned under_way;             /* pieces with the render threads */
    bool cancelled;                 /* atomic: no piece may be begun */
};

enum piece_state { PIECE_FREE, PIECE_MAKING, PIECE_MADE };

struct piece {
    struct job job;
    struct message message;
    struct streamed_job *streamed_job;
    unsigned index;
    enum piece_state state;
    int err; /* as work said */
    struct blob *blob;
};

struct streamed_job {
    struct pending pending; /* first: a waiting is its calculation */
    struct streamed_jobs *among;
    struct streamed_job_order order;
    bool waits;           /* for its first piece */
    bool streams;         /* it is being sent; its source is not done */
    bool starved;         /* the source has nothing until a piece comes */
    bool abandoned;       /* atomic: nobody wants it any more */
    bool counted;         /* among the streams, and those of its client */
    unsigned making;      /* pieces */
    unsigned begun, sent; /* pieces, from the first on */
    uint64_t position;    /* in the piece being sent */
    struct blob *tail;
    struct http_exchange *exchange; /* that the source is given to */
    struct sockaddr_storage client; /* where counted: its streams may outlast what asked */
    struct piece piece[STREAMED_JOB_AHEAD];
};

static struct piece *piece_of(struct streamed_job *streamed_job, unsigned index)
{
    return &streamed_job->piece[index % STREAMED_JOB_AHEAD];
}

/* But for those that render threads are at: what those make is released when they come home. */
static void release_pieces(struct streamed_job *streamed_job)
{
    for (int i = 0; i < STREAMED_JOB_AHEAD; i++) {
        struct piece *piece = &streamed_job->piece[i];
        if (piece->state == PIECE_MAKING)
            continue;
        blob_release(piece->blob);
        piece->blob = NULL;
    }
}

/* Count it among the streams of all and of its client. Returns 0; or, uncounted, -EBUSY where there
 * are too many, or -EUSERS of its client's. */
static int enter(struct streamed_job *streamed_job, const struct config *config)
{
    const struct streamed_jobs_parts *parts = &streamed_job->among->parts;
    const struct sockaddr *client = streamed_job->pending.context.client;

    if (client && client->sa_family == AF_INET)
        memcpy(&streamed_job->client, client, sizeof(struct sockaddr_in));
    else if (client && client->sa_family == AF_INET6)
        memcpy(&streamed_job->client, client, sizeof(struct sockaddr_in6));
    if (__atomic_add_fetch(parts->streams, 1, __ATOMIC_RELAXED) > config->limits.streams) {
        __atomic_fetch_sub(parts->streams, 1, __ATOMIC_RELAXED);
        return -EBUSY;
    }
    if (!client_limits_enter(parts->room->clients, (struct sockaddr *)&streamed_job->client,
                             CLIENT_STREAMS, config->limits.streams_per_client)) {
        __atomic_fetch_sub(parts->streams, 1, __ATOMIC_RELAXED);
        metrics_add(parts->metrics, METRIC_LIMITED);
        return -EUSERS;
    }
    streamed_job->counted = true;
    return 0;
}

static void leave(const struct streamed_job *streamed_job)
{
    const struct streamed_jobs_parts *parts = &streamed_job->among->parts;

    __atomic_fetch_sub(parts->streams, 1, __ATOMIC_RELAXED);
    client_limits_leave(parts->room->clients, (const struct sockaddr *)&streamed_job->client,
                        CLIENT_STREAMS);
}

/* Free it, once nothing can come to it any more. */
static void end(struct streamed_job *streamed_job)
{
    if (streamed_job->waits || streamed_job->streams)
        return;
    __atomic_store_n(&streamed_job->abandoned, true, __ATOMIC_RELAXED);
    release_pieces(streamed_job);
    if (streamed_job->making > 0)
        return;
    if (streamed_job->counted)
        leave(streamed_job);
    blob_release(streamed_job->tail);
    streamed_job->order.kind->free(streamed_job->order.subject);
    free(streamed_job);
}

/* --- On a render thread ---------------------------------------------------- */

static struct piece *piece_of_job(struct job *job)
{
    return (struct piece *)((char *)job - offsetof(struct piece, job));
}

static void on_cancel(struct job *job)
{
    struct piece *piece = piece_of_job(job);
    piece->err = -EBUSY;
    mailbox_post(piece->streamed_job->among->parts.mailbox, &piece->message);
}

static void on_work(struct job *job, void *scratch)
{
    struct piece *piece = piece_of_job(job);
    struct streamed_job *streamed_job = piece->streamed_job;
    const struct streamed_job_order *order = &streamed_job->order;

    if (__atomic_load_n(&streamed_job->abandoned, __ATOMIC_RELAXED) ||
        __atomic_load_n(&streamed_job->among->cancelled, __ATOMIC_RELAXED))
        piece->err = -ECANCELED;
    else
        piece->err = order->kind->work(order->subject, piece->index, scratch, &piece->blob);
    mailbox_post(streamed_job->among->parts.mailbox, &piece->message);
}

/* --- On the loop's --------------------------------------------------------- */

static void landed(struct streamed_job *streamed_job, struct piece *piece);

static int submit(struct streamed_job *streamed_job, struct piece *piece)
{
    struct streamed_jobs *among = streamed_job->among;
    int err =
        among->cancelled ? -ECANCELED : work_queue_submit(among->parts.renderers, &piece->job);
    if (err)
        return err;
    piece->state = PIECE_MAKING;
    streamed_job->making++;
    among->under_way++;
    return 0;
}

static void on_piece(struct message *message)
{
    struct piece *piece = (struct piece *)((char *)message - offsetof(struct piece, message));
    struct streamed_job *streamed_job = piece->streamed_job;

    streamed_job->making--;
    streamed_job->among->under_way--;
    piece->state = PIECE_MADE;
    if (!streamed_job->waits && !streamed_job->streams) {
        end(streamed_job);
        return;
    }
    if (piece->err == STREAMED_JOB_MORE) {
        piece->job.admitted = true;
        /* A few that take long would be the whole line otherwise, and all others refused. */
        piece->job.rank = JOB_BACKGROUND;
        int err = submit(streamed_job, piece); /* once it is submitted, the piece is the worker's */
        if (!err)
            return;
        piece->err = err;
    }
    landed(streamed_job, piece);
}

static int begin_piece(struct streamed_job *streamed_job)
{
    struct piece *piece = piece_of(streamed_job, streamed_job->begun);

    piece->job.run = on_work;
    piece->job.cancel = on_cancel;
    /* Those behind the first: an answer that has begun is to be finished, but not before others'
     * first ones. */
    piece->job.rank = streamed_job->begun > 0 ? JOB_BACKGROUND
                                              : pending_rank(streamed_job->pending.context.request);
    piece->job.admitted = streamed_job->begun > 0;
    piece->message.deliver = on_piece;
    piece->streamed_job = streamed_job;
    piece->index = streamed_job->begun;
    int err = submit(streamed_job, piece);
    if (!err)
        streamed_job->begun++;
    return err;
}

/* As many as may be under way. What cannot be begun is told of when it is to be sent. */
static void begin_pieces(struct streamed_job *streamed_job)
{
    while (streamed_job->begun < streamed_job->order.pieces &&
           streamed_job->begun < streamed_job->sent + STREAMED_JOB_AHEAD &&
           begin_piece(streamed_job) == 0)
        ;
}

static void finish_piece(struct streamed_job *streamed_job)
{
    struct piece *piece = piece_of(streamed_job, streamed_job->sent);

    blob_release(piece->blob);
    piece->blob = NULL;
    piece->state = PIECE_FREE;
    streamed_job->sent++;
    streamed_job->position = 0;
    begin_pieces(streamed_job);
}

/* The bytes that are next: a piece's or the tail's. Returns 0; -EAGAIN where they are not made yet;
 * -ENODATA behind the last; or why there are none. */
static int next_bytes(struct streamed_job *streamed_job, struct blob **out)
{
    const struct streamed_job_order *order = &streamed_job->order;

    if (streamed_job->sent < order->pieces) {
        const struct piece *piece = piece_of(streamed_job, streamed_job->sent);
        if (piece->state != PIECE_MADE) /* what is being made is its worker's */
            return piece->state == PIECE_MAKING ? -EAGAIN : -ECANCELED;
        *out = piece->blob;
        return piece->err;
    }
    if (!order->kind->tail)
        return -ENODATA;
    if (!streamed_job->tail)
        streamed_job->tail = order->kind->tail(order->subject);
    *out = streamed_job->tail;
    return !streamed_job->tail                                    ? -ENOMEM
           : streamed_job->position == streamed_job->tail->length ? -ENODATA
                                                                  : 0;
}

static ssize_t read_source(void *context, void *out, size_t max)
{
    struct streamed_job *streamed_job = context;
    struct blob *blob = NULL;
    size_t read = 0;
    int err = 0;

    while (read < max && (err = next_bytes(streamed_job, &blob)) == 0) {
        const size_t there = blob->length - streamed_job->position;
        const size_t part = there < max - read ? there : max - read;
        memcpy((uint8_t *)out + read, blob->bytes + streamed_job->position, part);
        read += part;
        streamed_job->position += part;
        if (streamed_job->position == blob->length && blob != streamed_job->tail)
            finish_piece(streamed_job);
    }
    streamed_job->starved = read == 0 && err == -EAGAIN;
    if (read > 0 || streamed_job->starved)
        return (ssize_t)read;
    return err == -ENODATA ? UV_EOF : err;
}

static void end_source(void *context)
{
    struct streamed_job *streamed_job = context;
    streamed_job->streams = false;
    end(streamed_job);
}

/* The only piece is there: BLOB, whose reference is taken. */
static void give_whole(const struct streamed_job_order *order,
                       const struct request_context *context, struct blob *blob)
{
    if (order->kind->tail)
        blob = blob_join(blob, order->kind->tail(order->subject));
    if (blob)
        order->kind->answer(order->subject, context,
                            (struct http_response){
                                .status = 200,
                                .body = blob,
                                .first = order->first,
                                .count = order->count < 0 ? 0 : (size_t)order->count,
                            });
    else
        pending_refused(context, -ENOMEM);
    blob_release(blob);
}

/* The first piece is there: so is the answer, or as much of it as is needed to begin. */
static void give(struct streamed_job *streamed_job)
{
    const struct streamed_job_order *order = &streamed_job->order;
    const struct request_context *context = &streamed_job->pending.context;

    if (order->pieces == 1) {
        give_whole(order, context, blob_hold(streamed_job->piece[0].blob));
        return;
    }
    assert(order->first < streamed_job->piece[0].blob->length);
    const struct http_source source = {read_source, end_source, streamed_job};
    streamed_job->streams = true;
    streamed_job->position = order->first;
    streamed_job->exchange = context->exchange;
    order->kind->answer(
        order->subject, context,
        (struct http_response){.status = 200, .source = &source, .length = order->count});
}

static void landed(struct streamed_job *streamed_job, struct piece *piece)
{
    if (!streamed_job->waits) {
        if (streamed_job->starved && piece->index == streamed_job->sent) {
            streamed_job->starved = false;
            http_wake(streamed_job->exchange);
        }
    } else if (piece->index > 0) {
        /* The first decides. */
    } else if (piece->err) {
        pending_refuse(&streamed_job->pending, piece->err);
    } else {
        streamed_job->pending.context.from = FROM_RENDER;
        give(streamed_job);
        pending_end(&streamed_job->pending);
    }
}

/* Its pieces come home when they will. */
static bool forget(struct pending *pending)
{
    struct streamed_job *streamed_job = (struct streamed_job *)pending;
    metrics_add(streamed_job->among->parts.metrics, METRIC_ABANDONED);
    return true;
}

static void ended(struct pending *pending)
{
    struct streamed_job *streamed_job = (struct streamed_job *)pending;
    streamed_job->waits = false;
    end(streamed_job);
}

static void make_at_once(struct streamed_jobs *streamed_jobs,
                         const struct streamed_job_order *order, struct request_context context)
{
    struct blob *blob = NULL;
    int err = order->kind->work(order->subject, 0, streamed_jobs->scratch, &blob);

    context.from = FROM_RENDER;
    metrics_add(streamed_jobs->parts.metrics, order->kind->counter);
    if (err)
        pending_refused(&context, err);
    else
        give_whole(order, &context, blob);
    order->kind->free(order->subject);
}

void streamed_job_begin(struct streamed_jobs *streamed_jobs, const struct streamed_job_order *order,
                        const struct request_context *context, const struct config *config)
{
    if (order->light) {
        make_at_once(streamed_jobs, order, *context);
        return;
    }
    struct streamed_job *streamed_job = calloc(1, sizeof *streamed_job);
    if (!streamed_job) {
        pending_refused(context, -ENOMEM);
        order->kind->free(order->subject);
        return;
    }
    streamed_job->pending.forget = forget;
    streamed_job->pending.ended = ended;
    streamed_job->pending.patience_ms = order->kind->patience_ms;
    streamed_job->among = streamed_jobs;
    streamed_job->order = *order;
    if (pending_begin(streamed_jobs->parts.room, &streamed_job->pending, context, config)) {
        order->kind->free(order->subject);
        free(streamed_job);
        return;
    }
    streamed_job->waits = true;
    metrics_add(streamed_jobs->parts.metrics, order->kind->counter);
    int err = order->pieces > 1 ? enter(streamed_job, config) : 0;
    if (!err)
        err = begin_piece(streamed_job);
    if (err)
        pending_refuse(&streamed_job->pending, err);
    else
        begin_pieces(streamed_job);
}

bool streamed_jobs_cancel(struct streamed_jobs *streamed_jobs)
{
    __atomic_store_n(&streamed_jobs->cancelled, true, __ATOMIC_RELAXED);
    return streamed_jobs->under_way == 0;
}

int streamed_jobs_new(struct streamed_jobs **out, const struct streamed_jobs_parts *parts)
{
    struct streamed_jobs *streamed_jobs = calloc(1, sizeof *streamed_jobs);
    if (!streamed_jobs)
        return -ENOMEM;
    int err = render_scratch_new(&streamed_jobs->scratch);
    if (err) {
        free(streamed_jobs);
        return err;
    }
    streamed_jobs->parts = *parts;
    *out = streamed_jobs;
    return 0;
}

void streamed_jobs_free(struct streamed_jobs *streamed_jobs)
{
    if (!streamed_jobs)
        return;
    render_scratch_free(streamed_jobs->scratch);
    free(streamed_jobs);
}
