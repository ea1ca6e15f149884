#include "stream.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "connection.h"
#include "random.h"

enum {
    OPENING_MAX = 64, /* concurrent connects: a listener's backlog is bounded */
    REQUEST_MAX = URL_MAX + HEADERS_MAX + 200,
};
static const uint64_t RETRY_NS = 20000000; /* after a failure to connect */
static const uint64_t NEVER = UINT64_MAX;
enum { READS = 100 }; /* a second, at a pace */

struct stream {
    const struct stream_plan *plan;
    const struct plan *load;
    int epoll;
    uint64_t moments, choices; /* generator states: for arrival times, and for the rest */
    uint64_t start, end;
    double next;                /* ns after START at which the next request is due */
    uint64_t next_read;         /* if there is a pace */
    uint64_t none_until;        /* until then no connection was free */
    unsigned opening, busy, up; /* busy: or to be sent again */
    bool stopped;
    struct connections idle, down, doomed; /* by deadline, or oldest first */
    struct stream_counts counts;
    struct connection connection[];
};

int stream_new(struct stream **out, const struct stream_plan *plan, const struct plan *load,
               int epoll, uint64_t seed)
{
    struct stream *stream =
        calloc(1, sizeof *stream + plan->connections * sizeof stream->connection[0]);
    if (!stream)
        return -ENOMEM;
    stream->plan = plan;
    stream->load = load;
    stream->epoll = epoll;
    stream->moments = seed;
    stream->choices = plan->in_order ? 0 : ~seed;
    TAILQ_INIT(&stream->idle);
    TAILQ_INIT(&stream->down);
    TAILQ_INIT(&stream->doomed);
    for (unsigned i = 0; i < plan->connections; i++) {
        struct connection *connection = &stream->connection[i];
        connection->stream = stream;
        connection->fd = -1;
        connection->source = i;
        TAILQ_INSERT_TAIL(&stream->down, connection, place);
    }
    *out = stream;
    return 0;
}

void stream_free(struct stream *stream)
{
    if (!stream)
        return;
    for (unsigned i = 0; i < stream->plan->connections; i++)
        if (stream->connection[i].fd >= 0)
            connection_close(&stream->connection[i]);
    free(stream);
}

static void fall(struct stream *stream, struct connection *connection, uint64_t not_before)
{
    connection->deadline = not_before;
    TAILQ_INSERT_TAIL(&stream->down, connection, place);
}

/* Idle from NOW on, and not to be used for PAUSE ns. */
static void rest(struct stream *stream, struct connection *connection, uint64_t now, uint64_t pause)
{
    struct connection *before = TAILQ_LAST(&stream->idle, connections);

    if (!before)
        stream->none_until = now;
    connection->state = CONNECTION_IDLE;
    connection->deadline = stream->plan->closed ? now + pause : 0;
    while (before && before->deadline > connection->deadline)
        before = TAILQ_PREV(before, connections, place);
    if (before)
        TAILQ_INSERT_AFTER(&stream->idle, before, connection, place);
    else
        TAILQ_INSERT_HEAD(&stream->idle, connection, place);
}

static void open_some(struct stream *stream, uint64_t now)
{
    struct connection *connection;

    while (stream->opening < OPENING_MAX && (connection = TAILQ_FIRST(&stream->down)) &&
           connection->deadline <= now) {
        const struct address from = plan_source(stream->plan, connection->source);
        TAILQ_REMOVE(&stream->down, connection, place);
        if (connection_open(connection, stream->epoll, &stream->load->target, &from)) {
            stream->counts.refused++;
            fall(stream, connection, now + RETRY_NS);
            return;
        }
        stream->opening++;
    }
}

static void lose(struct stream *stream, struct connection *connection)
{
    stream->up--;
    connection_close(connection);
    fall(stream, connection, 0);
}

/* Reads by the clock, or not at all; else when responses arrive. */
static bool reads_apart(const struct stream *stream)
{
    return stream->plan->pace > 0 || stream->plan->at_once > 1;
}

/* When the next request is due: of a closed loop on the first idle connection; NEVER: not before
 * something happens. */
static uint64_t next_due(const struct stream *stream)
{
    const struct stream_plan *plan = stream->plan;
    const struct connection *first = TAILQ_FIRST(&stream->idle);

    if (plan->requests && stream->counts.due >= plan->requests)
        return NEVER;
    if (!plan->closed)
        return plan->rate > 0 ? stream->start + (uint64_t)stream->next : NEVER;
    if (!first)
        return NEVER;
    return first->deadline > stream->start ? first->deadline : stream->start;
}

/* ns to the next request: exponentially distributed for Poisson arrivals. */
static double interval(struct stream *stream)
{
    double mean = 1e9 / stream->plan->rate;
    return stream->plan->poisson ? -log(1 - random_unit(&stream->moments)) * mean : mean;
}

static void spare(struct stream *stream, struct connection *connection)
{
    if (connection->deadline)
        TAILQ_REMOVE(&stream->doomed, connection, doom);
    connection->deadline = 0;
}

/* Finish the request on CONNECTION, successful or not. */
static void conclude(struct stream *stream, struct connection *connection)
{
    stream->busy--;
    connection->again = false;
    spare(stream, connection);
}

/*
 * The connection ended within a request. As clients do (RFC 9112, 9.3.1), it is sent again if the
 * server may have closed an idle connection: if there were earlier responses, and no byte of this
 * one.
 */
static void cut(struct stream *stream, struct connection *connection)
{
    if (connection->served > 0 && connection->answer.bytes == 0) {
        spare(stream, connection);
        connection->again = true;
    } else {
        stream->counts.cut++;
        conclude(stream, connection);
    }
    lose(stream, connection);
}

/* Send the request that CONNECTION's choice is, and count it as in progress. */
static void transmit(struct stream *stream, struct connection *connection)
{
    const struct stream_plan *plan = stream->plan;
    const bool again = connection->again;
    uint64_t choice = connection->choice;
    char url[URL_MAX], text[REQUEST_MAX];

    connection->state = CONNECTION_BUSY;
    connection->deadline = 0;
    answer_begin(&connection->answer);
    for (unsigned i = 0; i < plan->at_once; i++) {
        urls_next(plan->urls, plan->in_order, &choice, url);
        int length = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", url,
                              stream->load->authority, plan->headers);
        if (connection_send(connection, text, (size_t)length)) {
            cut(stream, connection);
            break;
        }
    }
    if (!again)
        stream->choices = choice;
}

static void on_opened(struct stream *stream, struct connection *connection, uint64_t now)
{
    stream->opening--;
    if (connection_opened(connection, stream->epoll, reads_apart(stream) ? 0 : EPOLLIN)) {
        stream->counts.refused++;
        connection_close(connection);
        fall(stream, connection, now + RETRY_NS);
        return;
    }
    stream->up++;
    stream->counts.opened++;
    if (connection->again)
        transmit(stream, connection);
    else
        rest(stream, connection, now, 0);
}

static void send_one(struct stream *stream, struct connection *connection, uint64_t now)
{
    const struct stream_plan *plan = stream->plan;

    connection->due = next_due(stream);
    if (plan->closed)
        connection->due = now;
    else if (connection->due <= stream->none_until)
        stream->counts.waited++;
    else
        latencies_add(&stream->counts.lag, now - connection->due);
    TAILQ_REMOVE(&stream->idle, connection, place);
    stream->counts.due++;
    stream->counts.sent++;
    stream->busy++;
    connection->choice = stream->choices;
    transmit(stream, connection);
    if (connection->state == CONNECTION_BUSY && plan->abandoned > 0 &&
        random_unit(&stream->choices) < plan->abandoned) {
        connection->deadline = now + plan->patience;
        TAILQ_INSERT_TAIL(&stream->doomed, connection, doom);
    }
}

static void send_due(struct stream *stream, uint64_t now)
{
    struct connection *connection;

    while (next_due(stream) < stream->end && next_due(stream) <= now &&
           (connection = TAILQ_FIRST(&stream->idle))) {
        send_one(stream, connection, now);
        stream->next += interval(stream);
    }
}

static void abandon_late(struct stream *stream, uint64_t now)
{
    struct connection *connection;

    while ((connection = TAILQ_FIRST(&stream->doomed)) && connection->deadline <= now) {
        conclude(stream, connection);
        stream->counts.abandoned++;
        lose(stream, connection);
    }
}

static struct stream_answers *answers_of(struct stream_counts *counts, int status)
{
    unsigned i = 0;
    while (i < counts->statuses && counts->by_status[i].status != status)
        i++;
    if (i == STATUSES_MAX)
        return &counts->by_status[i - 1];
    if (i == counts->statuses)
        counts->by_status[counts->statuses++].status = status;
    return &counts->by_status[i];
}

/* Read at most MOST bytes of a response. */
static void on_answer(struct stream *stream, struct connection *connection, uint64_t now,
                      size_t most)
{
    const struct stream_plan *plan = stream->plan;
    struct answer *answer = &connection->answer;
    const uint64_t before = answer->bytes;

    int whole = answer_read(answer, connection->fd, most);
    stream->counts.bytes += answer->bytes - before;
    if (whole == 0)
        return;
    if (whole < 0 && whole != -EBADMSG) {
        cut(stream, connection);
        return;
    }
    conclude(stream, connection);
    if (whole < 0) {
        stream->counts.malformed++;
        lose(stream, connection);
        return;
    }
    connection->served++;
    struct stream_answers *answers = answers_of(&stream->counts, answer->status);
    stream->counts.answered++;
    answers->retry_after += answer->retry_after;
    latencies_add(&answers->latencies, now - connection->due);
    latencies_add(&stream->counts.all, now - connection->due);
    if (answer->close || answer->unbounded)
        lose(stream, connection);
    else
        rest(stream, connection, now,
             plan->obeys && answer->status == 503 ? answer->seconds * UINT64_C(1000000000)
                                                  : plan->pause);
}

/* Read a share of a second's bytes of each response. */
static void read_at_pace(struct stream *stream, uint64_t now)
{
    const struct stream_plan *plan = stream->plan;

    if (plan->pace <= 0 || now < stream->next_read)
        return;
    stream->next_read = now + UINT64_C(1000000000) / READS;
    for (unsigned i = 0; i < plan->connections; i++)
        if (stream->connection[i].state == CONNECTION_BUSY)
            on_answer(stream, &stream->connection[i], now, (size_t)(plan->pace / READS));
}

void stream_begin(struct stream *stream, uint64_t start, uint64_t end)
{
    stream->start = start;
    stream->end = end;
    stream->next = stream->plan->poisson ? interval(stream) : 0;
}

uint64_t stream_turn(struct stream *stream, uint64_t now)
{
    struct connection *connection;
    uint64_t wake = NEVER;

    abandon_late(stream, now);
    open_some(stream, now);
    send_due(stream, now);
    read_at_pace(stream, now);
    if (next_due(stream) < stream->end && !TAILQ_EMPTY(&stream->idle))
        wake = next_due(stream);
    if (stream->plan->pace > 0 && stream->next_read < wake)
        wake = stream->next_read;
    if ((connection = TAILQ_FIRST(&stream->doomed)) && connection->deadline < wake)
        wake = connection->deadline;
    connection = TAILQ_FIRST(&stream->down);
    if (connection && stream->opening < OPENING_MAX && connection->deadline < wake)
        wake = connection->deadline;
    return wake;
}

void stream_event(void *context, uint32_t events, uint64_t now)
{
    struct connection *connection = context;
    struct stream *stream = connection->stream;

    switch (connection->state) {
    case CONNECTION_OPENING:
        on_opened(stream, connection, now);
        break;
    case CONNECTION_IDLE:
        /* No request was pending: the server closed the connection. */
        TAILQ_REMOVE(&stream->idle, connection, place);
        lose(stream, connection);
        break;
    case CONNECTION_BUSY:
        if (reads_apart(stream) && events & (EPOLLHUP | EPOLLERR))
            cut(stream, connection);
        else
            on_answer(stream, connection, now, ANSWER_READ_MAX);
        break;
    case CONNECTION_DOWN:
        break;
    }
}

bool stream_open(const struct stream *stream)
{
    return stream->plan->closed || stream->up == stream->plan->connections;
}

bool stream_done(const struct stream *stream)
{
    const struct stream_plan *plan = stream->plan;
    bool reached = plan->requests && stream->counts.due >= plan->requests;
    bool endless = plan->closed || plan->rate <= 0;
    return stream->busy == 0 &&
           (endless ? reached || stream->stopped : next_due(stream) >= stream->end);
}

void stream_stop(struct stream *stream, uint64_t now)
{
    if (stream->end > now)
        stream->end = now;
    stream->stopped = true;
}

void stream_end(struct stream *stream, uint64_t now)
{
    for (unsigned i = 0; i < stream->plan->connections; i++) {
        struct connection *connection = &stream->connection[i];
        if (connection->state != CONNECTION_BUSY && !connection->again)
            continue;
        stream->counts.unanswered++;
        latencies_add(&stream->counts.all, now - connection->due);
        if (connection->state == CONNECTION_BUSY) {
            conclude(stream, connection);
            lose(stream, connection);
        }
    }
    for (; !stream->plan->closed && next_due(stream) < stream->end;
         stream->next += interval(stream)) {
        stream->counts.due++;
        stream->counts.unsent++;
        latencies_add(&stream->counts.all, now - next_due(stream));
    }
}

const struct stream_counts *stream_counts(const struct stream *stream)
{
    return &stream->counts;
}
