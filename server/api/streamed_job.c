#include "streamed_job.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "server/core/clock.h"
#include "server/net/socket_state.h"
#include "server/world/request_price.h"

enum {
    AHEAD_AT_FIRST = 2,
    CHECK_MS = 100,   /* age at which a job begins to check for a disconnect */
    UNCOUNTED = 2048, /* bytes per response that limits.memory does not count */
};

enum piece_state { PIECE_FREE, PIECE_MAKING, PIECE_MADE };

struct piece {
    struct job job;
    struct message message;
    struct streamed_job *owner;
    unsigned number;
    uint64_t begun; /* ns */
    enum piece_state state;
    int err; /* returned by work */
    struct blob *blob;
};

/*
 *     begin --- too many streams or bytes ---> REFUSED
 *       |
 *       v      first piece of several            no bytes yet
 *    PENDING -------------------------> SENDING <-------------> STARVED
 *       |                                  |     next piece        |
 *       | error, or the only piece         | source done: sent, failed, or cut off
 *       +----------------------------------+-----------------------+---> ENDED
 *
 * A job is freed in REFUSED at once, and in ENDED once no piece is in progress.
 */
enum job_state {
    JOB_PENDING, /* waits for the first piece */
    JOB_SENDING,
    JOB_STARVED, /* sending, but the next piece is not made yet */
    JOB_REFUSED, /* never counted as a stream */
    JOB_ENDED,   /* nobody needs more pieces */
};

struct streamed_job {
    struct pending pending; /* first: cast back in the callbacks */
    struct streamed_jobs *jobs;
    struct streamed_job_spec spec;
    enum job_state state; /* atomic: workers skip the pieces of ended jobs */
    unsigned making;      /* pieces on the render threads */
    unsigned begun, sent; /* pieces */
    unsigned ahead;       /* the most that exist at a time */
    uint64_t position;    /* in the piece that is sent */
    struct blob *tail;
    int socket;                     /* the client's, for the render threads, too */
    struct sockaddr_storage client; /* a copy: pieces may be made after the request has ended */
    enum job_rank rank;
    struct piece piece[STREAMED_JOB_AHEAD];
};

static void set_state(struct streamed_job *job, enum job_state state)
{
    __atomic_store_n(&job->state, state, __ATOMIC_RELAXED);
}

static bool is_stream(const struct streamed_job *job)
{
    return job->spec.pieces > 1;
}

static struct piece *piece_of(struct streamed_job *job, unsigned number)
{
    return &job->piece[number % STREAMED_JOB_AHEAD];
}

/* Count JOB as a stream, in all and for the client. Returns 0; or -EBUSY or -EUSERS if there are
 * too many. */
static int enter(struct streamed_job *job, const struct config *config)
{
    const struct streamed_jobs *jobs = job->jobs;
    const struct sockaddr *client = job->pending.context->client;

    if (client && client->sa_family == AF_INET)
        memcpy(&job->client, client, sizeof(struct sockaddr_in));
    else if (client && client->sa_family == AF_INET6)
        memcpy(&job->client, client, sizeof(struct sockaddr_in6));
    if (__atomic_add_fetch(jobs->streams, 1, __ATOMIC_RELAXED) > config->limits.streams) {
        __atomic_fetch_sub(jobs->streams, 1, __ATOMIC_RELAXED);
        return -EBUSY;
    }
    if (!client_limits_enter(jobs->pending->clients, (struct sockaddr *)&job->client,
                             CLIENT_STREAMS, config->limits.streams_per_client)) {
        __atomic_fetch_sub(jobs->streams, 1, __ATOMIC_RELAXED);
        return -EUSERS;
    }
    return 0;
}

static void leave(const struct streamed_job *job)
{
    const struct streamed_jobs *jobs = job->jobs;

    __atomic_fetch_sub(jobs->streams, 1, __ATOMIC_RELAXED);
    client_limits_leave(jobs->pending->clients, (const struct sockaddr *)&job->client,
                        CLIENT_STREAMS);
}

/* JOB has ended: free the pieces that are made, and JOB once no other piece is in progress. */
static void release(struct streamed_job *job)
{
    for (int i = 0; i < STREAMED_JOB_AHEAD; i++) {
        struct piece *piece = &job->piece[i];
        if (piece->state == PIECE_MAKING)
            continue;
        blob_release(piece->blob);
        piece->blob = NULL;
    }
    if (job->making > 0)
        return;
    if (is_stream(job) && job->state != JOB_REFUSED)
        leave(job);
    blob_release(job->tail);
    job->spec.kind->free(job->spec.subject);
    free(job);
}

static struct piece *piece_of_job(struct job *work)
{
    return (struct piece *)((char *)work - offsetof(struct piece, job));
}

/* True if JOB's pieces from PIECE on take longer than the daemon has left. */
static bool comes_too_late(const struct streamed_job *job, const struct piece *piece)
{
    const uint64_t most = __atomic_load_n(&job->jobs->most, __ATOMIC_RELAXED);
    const struct streamed_job_spec *spec = &job->spec;
    const uint64_t left = spec->price / spec->pieces * (spec->pieces - piece->number);

    if (most == 0 || left <= most)
        return false;
    const uint64_t since = clock_ns(job->jobs->pending->clock) - piece->begun;
    return left > most + since * (PRICE_SECOND / 1000 / NS_PER_MS);
}

/* A job ends before the client's socket is closed. If the number is another client's by now, the
 * result means nothing, and nobody reads it. */
static bool has_lost_client(const struct streamed_job *job)
{
    return clock_ns(job->jobs->pending->clock) - job->pending.since >= CHECK_MS * NS_PER_MS &&
           socket_has_left(job->socket);
}

/* 0, or why PIECE need not be made. Any thread. */
static int give_up(const struct piece *piece)
{
    const struct streamed_job *job = piece->owner;

    if (__atomic_load_n(&job->state, __ATOMIC_RELAXED) == JOB_ENDED ||
        __atomic_load_n(&job->jobs->cancelled, __ATOMIC_RELAXED) || comes_too_late(job, piece))
        return -ECANCELED;
    return has_lost_client(job) ? -ECONNRESET : 0;
}

int streamed_job_pause(void *turn)
{
    const struct piece *piece = turn;
    const int err = give_up(piece);

    if (err)
        return err;
    return work_queue_go_on(piece->owner->jobs->renderers, &piece->job, true) ? 0
                                                                              : STREAMED_JOB_MORE;
}

static void on_work(struct job *work, void *scratch)
{
    struct piece *piece = piece_of_job(work);
    struct streamed_job *job = piece->owner;
    const struct streamed_job_spec *spec = &job->spec;

    piece->err = give_up(piece);
    if (!piece->err)
        piece->err = spec->kind->work(spec->subject, piece->number, scratch, &piece->blob, piece);
    mailbox_post(job->jobs->mailbox, &piece->message);
}

/* Runs on whichever thread cancels. */
static void on_work_cancelled(struct job *work)
{
    struct piece *piece = piece_of_job(work);
    piece->err = -EBUSY;
    mailbox_post(piece->owner->jobs->mailbox, &piece->message);
}

static void on_made(struct streamed_job *job, struct piece *piece);

/* On success the worker owns the piece. */
static int submit(struct streamed_job *job, struct piece *piece)
{
    struct streamed_jobs *jobs = job->jobs;
    int err = jobs->cancelled ? -ECANCELED : work_queue_submit(jobs->renderers, &piece->job);
    if (err)
        return err;
    piece->state = PIECE_MAKING;
    job->making++;
    jobs->making++;
    return 0;
}

static void on_piece(struct message *message)
{
    struct piece *piece = (struct piece *)((char *)message - offsetof(struct piece, message));
    struct streamed_job *job = piece->owner;

    job->making--;
    job->jobs->making--;
    piece->state = PIECE_MADE;
    if (job->state == JOB_ENDED) {
        release(job);
        return;
    }
    if (piece->err == STREAMED_JOB_MORE) {
        piece->job.admitted = true;
        int err = submit(job, piece);
        if (!err)
            return;
        piece->err = err;
    }
    on_made(job, piece);
}

static int begin_piece(struct streamed_job *job)
{
    struct piece *piece = piece_of(job, job->begun);

    piece->job.run = on_work;
    piece->job.cancel = on_work_cancelled;
    piece->job.client = job->pending.client;
    piece->job.kind = job->spec.run;
    piece->job.rank = job->rank;
    piece->job.admitted = job->begun > 0; /* a response that has begun is to be finished */
    piece->message.deliver = on_piece;
    piece->owner = job;
    piece->number = job->begun;
    piece->begun = clock_ns(job->jobs->pending->clock);
    int err = submit(job, piece);
    if (!err)
        job->begun++;
    return err;
}

/* Begin as many pieces as may exist. An error shows in next_bytes. */
static void begin_pieces(struct streamed_job *job)
{
    while (job->begun < job->spec.pieces && job->begun < job->sent + job->ahead &&
           begin_piece(job) == 0)
        ;
}

/* How many bytes JOB and the response take with AHEAD pieces. */
static uint64_t memory_of(const struct streamed_job *job, unsigned ahead)
{
    return is_stream(job) ? ahead * job->spec.memory + HTTP_SOURCE_BUFFER : job->spec.memory;
}

/* The reader has to wait: make more pieces at a time, if memory allows. */
static void hurry(struct streamed_job *job)
{
    if (job->ahead == STREAMED_JOB_AHEAD ||
        response_hold(job->pending.context, memory_of(job, STREAMED_JOB_AHEAD)))
        return;
    job->ahead = STREAMED_JOB_AHEAD;
    begin_pieces(job);
}

static void finish_piece(struct streamed_job *job)
{
    struct piece *piece = piece_of(job, job->sent);

    blob_release(piece->blob);
    piece->blob = NULL;
    piece->state = PIECE_FREE;
    job->sent++;
    job->position = 0;
    begin_pieces(job);
}

/* The blob to send from, a piece or the tail. Returns 0; -EAGAIN if not made yet; -ENODATA behind
 * the last one; or the code with which the piece failed. */
static int next_bytes(struct streamed_job *job, struct blob **out)
{
    const struct streamed_job_spec *spec = &job->spec;

    if (job->sent < spec->pieces) {
        const struct piece *piece = piece_of(job, job->sent);
        if (piece->state != PIECE_MADE)
            return piece->state == PIECE_MAKING ? -EAGAIN : -ECANCELED;
        *out = piece->blob;
        return piece->err;
    }
    if (!spec->kind->tail)
        return -ENODATA;
    if (!job->tail)
        job->tail = spec->kind->tail(spec->subject);
    if (!job->tail)
        return -ENOMEM;
    *out = job->tail;
    return job->position == job->tail->length ? -ENODATA : 0;
}

static ssize_t read_source(void *context, void *out, size_t max)
{
    struct streamed_job *job = context;
    struct blob *blob = NULL;
    size_t read = 0;
    int err = 0;

    while (read < max && (err = next_bytes(job, &blob)) == 0) {
        const size_t left = blob->length - job->position;
        const size_t count = left < max - read ? left : max - read;
        memcpy((uint8_t *)out + read, blob->bytes + job->position, count);
        read += count;
        job->position += count;
        if (job->position == blob->length && blob != job->tail)
            finish_piece(job);
    }
    if (read == 0 && err == -EAGAIN) {
        set_state(job, JOB_STARVED);
        hurry(job);
    }
    if (read > 0 || err == -EAGAIN)
        return (ssize_t)read;
    return err == -ENODATA ? UV_EOF : err;
}

static void on_source_done(void *context)
{
    struct streamed_job *job = context;
    set_state(job, JOB_ENDED);
    release(job);
}

/* Send the only piece, BLOB, and take it over. */
static void send_whole(const struct streamed_job_spec *spec, struct request_context *context,
                       struct blob *blob)
{
    context->from = FROM_RENDER;
    if (spec->kind->tail)
        blob = blob_join(blob, spec->kind->tail(spec->subject));
    if (blob)
        spec->kind->respond(spec->subject, context,
                            (struct http_response){
                                .body = blob,
                                .first = spec->first,
                                .count = spec->length < 0 ? 0 : (size_t)spec->length,
                            });
    else
        pending_respond_error(context, -ENOMEM);
    blob_release(blob);
}

/* Begin to send. The job may be freed when this returns. */
static void send_stream(struct streamed_job *job)
{
    const struct streamed_job_spec *spec = &job->spec;
    const struct http_source source = {read_source, on_source_done, job};

    assert(spec->first < job->piece[0].blob->length);
    job->position = spec->first;
    job->pending.context->from = FROM_RENDER;
    spec->kind->respond(spec->subject, job->pending.context,
                        (struct http_response){.source = &source, .length = spec->length});
}

static void count_abandoned(const struct streamed_job *job)
{
    metrics_add(job->jobs->pending->sinks->metrics, METRIC_ABANDONED);
}

static void on_first_made(struct streamed_job *job)
{
    struct piece *first = &job->piece[0];

    if (first->err) {
        if (first->err == -ECONNRESET)
            count_abandoned(job);
        pending_fail(&job->pending, first->err);
    } else if (is_stream(job)) {
        set_state(job, JOB_SENDING);
        pending_end(&job->pending);
        send_stream(job);
    } else {
        send_whole(&job->spec, job->pending.context, blob_hold(first->blob));
        pending_end(&job->pending);
    }
}

static void on_made(struct streamed_job *job, struct piece *piece)
{
    if (job->state == JOB_PENDING && piece->number == 0) {
        on_first_made(job);
    } else if (job->state == JOB_STARVED && piece->number == job->sent) {
        set_state(job, JOB_SENDING);
        http_wake(job->pending.context->exchange);
    }
}

/* Nothing to undo: pieces are released when they arrive. */
static bool on_cancel(struct pending *pending)
{
    count_abandoned((struct streamed_job *)pending);
    return true;
}

static void on_ended(struct pending *pending)
{
    struct streamed_job *job = (struct streamed_job *)pending;
    if (job->state == JOB_PENDING)
        set_state(job, JOB_ENDED);
    if (job->state != JOB_SENDING)
        release(job);
}

void streamed_job_begin(struct streamed_jobs *jobs, const struct streamed_job_spec *spec,
                        struct request_context *context, const struct config *config)
{
    struct streamed_job *job = calloc(1, sizeof *job);
    if (!job) {
        pending_respond_error(context, -ENOMEM);
        spec->kind->free(spec->subject);
        return;
    }
    job->pending.cancel = on_cancel;
    job->pending.ended = on_ended;
    job->pending.timeout_ms = spec->price >= PRICE_SECOND ? PENDING_LONG_MS : 0;
    job->socket = http_socket(context->exchange);
    job->jobs = jobs;
    job->spec = *spec;
    job->ahead = AHEAD_AT_FIRST;
    job->rank = pending_rank(context->request);
    set_state(job, JOB_REFUSED);
    if (pending_begin(jobs->pending, &job->pending, context, config))
        return;
    metrics_add(jobs->pending->sinks->metrics, spec->kind->counter);
    const uint64_t memory = memory_of(job, job->ahead);
    int err = memory > UNCOUNTED ? response_hold(context, memory) : 0;
    if (!err && is_stream(job))
        err = enter(job, config);
    if (!err) {
        set_state(job, JOB_PENDING);
        err = begin_piece(job);
    }
    if (err)
        pending_fail(&job->pending, err);
    else
        begin_pieces(job);
}

void streamed_jobs_drain(struct streamed_jobs *jobs, unsigned seconds)
{
    __atomic_store_n(&jobs->most, seconds * PRICE_SECOND, __ATOMIC_RELAXED);
}

bool streamed_jobs_cancel(struct streamed_jobs *jobs)
{
    __atomic_store_n(&jobs->cancelled, true, __ATOMIC_RELAXED);
    return jobs->making == 0;
}
