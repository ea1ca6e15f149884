#include "streamed_job.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct calculations {
    struct calculations_parts parts;
    struct easel *easel; /* for what is light */
    unsigned under_way;  /* pieces with the render threads */
    bool cancelled;      /* atomic: no piece may be begun */
};

enum piece_state { PIECE_FREE, PIECE_MAKING, PIECE_MADE };

struct piece {
    struct job job;
    struct letter letter;
    struct calculation *calculation;
    unsigned index;
    enum piece_state state;
    int err; /* as work said */
    struct blob *blob;
};

struct calculation {
    struct waiting waiting; /* first: a waiting is its calculation */
    struct calculations *among;
    struct calculation_order order;
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
    struct piece piece[CALCULATION_AHEAD];
};

static struct piece *piece_of(struct calculation *calculation, unsigned index)
{
    return &calculation->piece[index % CALCULATION_AHEAD];
}

/* But for those that render threads are at: what those make is released when they come home. */
static void release_pieces(struct calculation *calculation)
{
    for (int i = 0; i < CALCULATION_AHEAD; i++) {
        struct piece *piece = &calculation->piece[i];
        if (piece->state == PIECE_MAKING)
            continue;
        blob_release(piece->blob);
        piece->blob = NULL;
    }
}

/* Count it among the streams of all and of its client. Returns 0; or, uncounted, -EBUSY where there
 * are too many, or -EUSERS of its client's. */
static int enter(struct calculation *calculation, const struct config *config)
{
    const struct calculations_parts *parts = &calculation->among->parts;
    const struct sockaddr *client = calculation->waiting.asker.client;

    if (client && client->sa_family == AF_INET)
        memcpy(&calculation->client, client, sizeof(struct sockaddr_in));
    else if (client && client->sa_family == AF_INET6)
        memcpy(&calculation->client, client, sizeof(struct sockaddr_in6));
    if (__atomic_add_fetch(parts->streams, 1, __ATOMIC_RELAXED) > config->limits.streams) {
        __atomic_fetch_sub(parts->streams, 1, __ATOMIC_RELAXED);
        return -EBUSY;
    }
    if (!clients_enter(parts->room->clients, (struct sockaddr *)&calculation->client,
                       CLIENT_STREAMS, config->limits.streams_per_client)) {
        __atomic_fetch_sub(parts->streams, 1, __ATOMIC_RELAXED);
        metrics_add(parts->metrics, METRIC_LIMITED);
        return -EUSERS;
    }
    calculation->counted = true;
    return 0;
}

static void leave(const struct calculation *calculation)
{
    const struct calculations_parts *parts = &calculation->among->parts;

    __atomic_fetch_sub(parts->streams, 1, __ATOMIC_RELAXED);
    clients_leave(parts->room->clients, (const struct sockaddr *)&calculation->client,
                  CLIENT_STREAMS);
}

/* Free it, once nothing can come to it any more. */
static void end(struct calculation *calculation)
{
    if (calculation->waits || calculation->streams)
        return;
    __atomic_store_n(&calculation->abandoned, true, __ATOMIC_RELAXED);
    release_pieces(calculation);
    if (calculation->making > 0)
        return;
    if (calculation->counted)
        leave(calculation);
    blob_release(calculation->tail);
    calculation->order.kind->free(calculation->order.subject);
    free(calculation);
}

/* --- On a render thread ---------------------------------------------------- */

static void on_work(struct job *job, void *easel)
{
    struct piece *piece = (struct piece *)((char *)job - offsetof(struct piece, job));
    struct calculation *calculation = piece->calculation;
    const struct calculation_order *order = &calculation->order;

    if (!easel)
        piece->err = -EBUSY;
    else if (__atomic_load_n(&calculation->abandoned, __ATOMIC_RELAXED) ||
             __atomic_load_n(&calculation->among->cancelled, __ATOMIC_RELAXED))
        piece->err = -ECANCELED;
    else
        piece->err = order->kind->work(order->subject, piece->index, easel, &piece->blob);
    mailbox_post(calculation->among->parts.mailbox, &piece->letter);
}

/* --- On the loop's --------------------------------------------------------- */

static void landed(struct calculation *calculation, struct piece *piece);

static int submit(struct calculation *calculation, struct piece *piece)
{
    struct calculations *among = calculation->among;
    int err = among->cancelled ? -ECANCELED : workers_submit(among->parts.renderers, &piece->job);
    if (err)
        return err;
    piece->state = PIECE_MAKING;
    calculation->making++;
    among->under_way++;
    return 0;
}

static void on_piece(struct letter *letter)
{
    struct piece *piece = (struct piece *)((char *)letter - offsetof(struct piece, letter));
    struct calculation *calculation = piece->calculation;

    calculation->making--;
    calculation->among->under_way--;
    piece->state = PIECE_MADE;
    if (!calculation->waits && !calculation->streams) {
        end(calculation);
        return;
    }
    if (piece->err == CALCULATION_MORE) {
        piece->job.owed = true;
        /* A few that take long would be the whole line otherwise, and all others refused. */
        piece->job.rank = JOB_BACKGROUND;
        int err = submit(calculation, piece); /* once it is submitted, the piece is the worker's */
        if (!err)
            return;
        piece->err = err;
    }
    landed(calculation, piece);
}

static int begin_piece(struct calculation *calculation)
{
    struct piece *piece = piece_of(calculation, calculation->begun);

    piece->job.run = on_work;
    /* Those behind the first: an answer that has begun is to be finished, but not before others'
     * first ones. */
    piece->job.rank =
        calculation->begun > 0 ? JOB_BACKGROUND : waiting_rank(calculation->waiting.asker.request);
    piece->job.owed = calculation->begun > 0;
    piece->letter.deliver = on_piece;
    piece->calculation = calculation;
    piece->index = calculation->begun;
    int err = submit(calculation, piece);
    if (!err)
        calculation->begun++;
    return err;
}

/* As many as may be under way. What cannot be begun is told of when it is to be sent. */
static void begin_pieces(struct calculation *calculation)
{
    while (calculation->begun < calculation->order.pieces &&
           calculation->begun < calculation->sent + CALCULATION_AHEAD &&
           begin_piece(calculation) == 0)
        ;
}

static void finish_piece(struct calculation *calculation)
{
    struct piece *piece = piece_of(calculation, calculation->sent);

    blob_release(piece->blob);
    piece->blob = NULL;
    piece->state = PIECE_FREE;
    calculation->sent++;
    calculation->position = 0;
    begin_pieces(calculation);
}

/* The bytes that are next: a piece's or the tail's. Returns 0; -EAGAIN where they are not made yet;
 * -ENODATA behind the last; or why there are none. */
static int next_bytes(struct calculation *calculation, struct blob **out)
{
    const struct calculation_order *order = &calculation->order;

    if (calculation->sent < order->pieces) {
        const struct piece *piece = piece_of(calculation, calculation->sent);
        if (piece->state != PIECE_MADE) /* what is being made is its worker's */
            return piece->state == PIECE_MAKING ? -EAGAIN : -ECANCELED;
        *out = piece->blob;
        return piece->err;
    }
    if (!order->kind->tail)
        return -ENODATA;
    if (!calculation->tail)
        calculation->tail = order->kind->tail(order->subject);
    *out = calculation->tail;
    return !calculation->tail                                   ? -ENOMEM
           : calculation->position == calculation->tail->length ? -ENODATA
                                                                : 0;
}

static ssize_t read_source(void *context, void *out, size_t max)
{
    struct calculation *calculation = context;
    struct blob *blob = NULL;
    size_t read = 0;
    int err = 0;

    while (read < max && (err = next_bytes(calculation, &blob)) == 0) {
        const size_t there = blob->length - calculation->position;
        const size_t part = there < max - read ? there : max - read;
        memcpy((uint8_t *)out + read, blob->bytes + calculation->position, part);
        read += part;
        calculation->position += part;
        if (calculation->position == blob->length && blob != calculation->tail)
            finish_piece(calculation);
    }
    calculation->starved = read == 0 && err == -EAGAIN;
    if (read > 0 || calculation->starved)
        return (ssize_t)read;
    return err == -ENODATA ? UV_EOF : err;
}

static void end_source(void *context)
{
    struct calculation *calculation = context;
    calculation->streams = false;
    end(calculation);
}

/* The only piece is there: BLOB, whose reference is taken. */
static void give_whole(const struct calculation_order *order, const struct asker *asker,
                       struct blob *blob)
{
    if (order->kind->tail)
        blob = blob_join(blob, order->kind->tail(order->subject));
    if (blob)
        order->kind->answer(order->subject, asker,
                            (struct http_answer){
                                .status = 200,
                                .body = blob,
                                .first = order->first,
                                .count = order->count < 0 ? 0 : (size_t)order->count,
                            });
    else
        waiting_refused(asker, -ENOMEM);
    blob_release(blob);
}

/* The first piece is there: so is the answer, or as much of it as is needed to begin. */
static void give(struct calculation *calculation)
{
    const struct calculation_order *order = &calculation->order;
    const struct asker *asker = &calculation->waiting.asker;

    if (order->pieces == 1) {
        give_whole(order, asker, blob_hold(calculation->piece[0].blob));
        return;
    }
    assert(order->first < calculation->piece[0].blob->length);
    const struct http_source source = {read_source, end_source, calculation};
    calculation->streams = true;
    calculation->position = order->first;
    calculation->exchange = asker->exchange;
    order->kind->answer(
        order->subject, asker,
        (struct http_answer){.status = 200, .source = &source, .length = order->count});
}

static void landed(struct calculation *calculation, struct piece *piece)
{
    if (!calculation->waits) {
        if (calculation->starved && piece->index == calculation->sent) {
            calculation->starved = false;
            http_wake(calculation->exchange);
        }
    } else if (piece->index > 0) {
        /* The first decides. */
    } else if (piece->err) {
        waiting_refuse(&calculation->waiting, piece->err);
    } else {
        calculation->waiting.asker.from = FROM_RENDER;
        give(calculation);
        waiting_end(&calculation->waiting);
    }
}

/* Its pieces come home when they will. */
static bool forget(struct waiting *waiting)
{
    struct calculation *calculation = (struct calculation *)waiting;
    metrics_add(calculation->among->parts.metrics, METRIC_ABANDONED);
    return true;
}

static void ended(struct waiting *waiting)
{
    struct calculation *calculation = (struct calculation *)waiting;
    calculation->waits = false;
    end(calculation);
}

static void make_at_once(struct calculations *calculations, const struct calculation_order *order,
                         struct asker asker)
{
    struct blob *blob = NULL;
    int err = order->kind->work(order->subject, 0, calculations->easel, &blob);

    asker.from = FROM_RENDER;
    metrics_add(calculations->parts.metrics, order->kind->counter);
    if (err)
        waiting_refused(&asker, err);
    else
        give_whole(order, &asker, blob);
    order->kind->free(order->subject);
}

void calculation_begin(struct calculations *calculations, const struct calculation_order *order,
                       const struct asker *asker, const struct config *config)
{
    if (order->light) {
        make_at_once(calculations, order, *asker);
        return;
    }
    struct calculation *calculation = calloc(1, sizeof *calculation);
    if (!calculation) {
        waiting_refused(asker, -ENOMEM);
        order->kind->free(order->subject);
        return;
    }
    calculation->waiting.forget = forget;
    calculation->waiting.ended = ended;
    calculation->waiting.patience_ms = order->kind->patience_ms;
    calculation->among = calculations;
    calculation->order = *order;
    if (waiting_begin(calculations->parts.room, &calculation->waiting, asker, config)) {
        order->kind->free(order->subject);
        free(calculation);
        return;
    }
    calculation->waits = true;
    metrics_add(calculations->parts.metrics, order->kind->counter);
    int err = order->pieces > 1 ? enter(calculation, config) : 0;
    if (!err)
        err = begin_piece(calculation);
    if (err)
        waiting_refuse(&calculation->waiting, err);
    else
        begin_pieces(calculation);
}

bool calculations_cancel(struct calculations *calculations)
{
    __atomic_store_n(&calculations->cancelled, true, __ATOMIC_RELAXED);
    return calculations->under_way == 0;
}

int calculations_new(struct calculations **out, const struct calculations_parts *parts)
{
    struct calculations *calculations = calloc(1, sizeof *calculations);
    if (!calculations)
        return -ENOMEM;
    int err = easel_new(&calculations->easel);
    if (err) {
        free(calculations);
        return err;
    }
    calculations->parts = *parts;
    *out = calculations;
    return 0;
}

void calculations_free(struct calculations *calculations)
{
    if (!calculations)
        return;
    easel_free(calculations->easel);
    free(calculations);
}
