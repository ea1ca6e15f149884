#include "stream.h"

#include <arpa/inet.h>
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

struct stream {
    const struct stream_plan *plan;
    const struct plan *load;
    int epoll;
    uint64_t moments, choices; /* generator states: for arrival times, and for the rest */
    uint64_t start, end;
    double next;         /* ns after START at which the next request is due */
    uint64_t none_until; /* until then no connection was free */
    unsigned opening, busy, up;
    struct connections idle, down, doomed; /* oldest first */
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
    stream->choices = ~seed;
    TAILQ_INIT(&stream->idle);
    TAILQ_INIT(&stream->down);
    TAILQ_INIT(&stream->doomed);
    for (unsigned i = 0; i < plan->connections; i++) {
        struct connection *connection = &stream->connection[i];
        connection->stream = stream;
        connection->fd = -1;
        if (plan->first)
            connection->source = htonl(plan->first + i % (plan->last - plan->first + 1));
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

static void rest(struct stream *stream, struct connection *connection, uint64_t now)
{
    if (TAILQ_EMPTY(&stream->idle))
        stream->none_until = now;
    connection->state = CONNECTION_IDLE;
    TAILQ_INSERT_TAIL(&stream->idle, connection, place);
}

static void open_some(struct stream *stream, uint64_t now)
{
    struct connection *connection;

    while (stream->opening < OPENING_MAX && (connection = TAILQ_FIRST(&stream->down)) &&
           connection->deadline <= now) {
        TAILQ_REMOVE(&stream->down, connection, place);
        if (connection_open(connection, stream->epoll, &stream->load->target)) {
            stream->counts.refused++;
            fall(stream, connection, now + RETRY_NS);
            return;
        }
        stream->opening++;
    }
}

static void on_opened(struct stream *stream, struct connection *connection, uint64_t now)
{
    stream->opening--;
    if (connection_opened(connection, stream->epoll)) {
        stream->counts.refused++;
        connection_close(connection);
        fall(stream, connection, now + RETRY_NS);
        return;
    }
    stream->up++;
    rest(stream, connection, now);
}

static void lose(struct stream *stream, struct connection *connection)
{
    stream->up--;
    connection_close(connection);
    fall(stream, connection, 0);
}

static uint64_t next_due(const struct stream *stream)
{
    return stream->start + (uint64_t)stream->next;
}

/* ns to the next request: exponentially distributed for Poisson arrivals. */
static double interval(struct stream *stream)
{
    double mean = 1e9 / stream->plan->rate;
    return stream->plan->poisson ? -log(1 - random_unit(&stream->moments)) * mean : mean;
}

/* Finish the request on CONNECTION, successful or not. */
static void conclude(struct stream *stream, struct connection *connection)
{
    stream->busy--;
    if (connection->deadline)
        TAILQ_REMOVE(&stream->doomed, connection, doom);
    connection->deadline = 0;
}

static void send_one(struct stream *stream, struct connection *connection, uint64_t now)
{
    const struct stream_plan *plan = stream->plan;
    char url[URL_MAX], text[REQUEST_MAX];

    connection->due = next_due(stream);
    if (connection->due <= stream->none_until)
        stream->counts.waited++;
    else
        latencies_add(&stream->counts.lag, now - connection->due);
    urls_next(plan->urls, &stream->choices, url);
    int length = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", url,
                          stream->load->authority, plan->headers);
    TAILQ_REMOVE(&stream->idle, connection, place);
    stream->counts.due++;
    stream->counts.sent++;
    if (connection_send(connection, text, (size_t)length)) {
        stream->counts.cut++;
        lose(stream, connection);
        return;
    }
    connection->state = CONNECTION_BUSY;
    stream->busy++;
    answer_begin(&connection->answer);
    connection->deadline = 0;
    if (plan->abandoned > 0 && random_unit(&stream->choices) < plan->abandoned) {
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

static void on_answer(struct stream *stream, struct connection *connection, uint64_t now)
{
    struct answer *answer = &connection->answer;

    int whole = answer_read(answer, connection->fd);
    if (whole == 0)
        return;
    conclude(stream, connection);
    stream->counts.bytes += answer->bytes;
    if (whole < 0) {
        *(whole == -EBADMSG ? &stream->counts.malformed : &stream->counts.cut) += 1;
        lose(stream, connection);
        return;
    }
    struct stream_answers *answers = answers_of(&stream->counts, answer->status);
    stream->counts.answered++;
    answers->retry_after += answer->retry_after;
    latencies_add(&answers->latencies, now - connection->due);
    latencies_add(&stream->counts.all, now - connection->due);
    if (answer->close || answer->unbounded)
        lose(stream, connection);
    else
        rest(stream, connection, now);
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
    if (next_due(stream) < stream->end && !TAILQ_EMPTY(&stream->idle))
        wake = next_due(stream);
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
    (void)events;

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
        on_answer(stream, connection, now);
        break;
    case CONNECTION_DOWN:
        break;
    }
}

bool stream_open(const struct stream *stream)
{
    return stream->up == stream->plan->connections;
}

bool stream_done(const struct stream *stream)
{
    return next_due(stream) >= stream->end && stream->busy == 0;
}

void stream_end(struct stream *stream, uint64_t now)
{
    for (unsigned i = 0; i < stream->plan->connections; i++) {
        struct connection *connection = &stream->connection[i];
        if (connection->state != CONNECTION_BUSY)
            continue;
        stream->counts.unanswered++;
        latencies_add(&stream->counts.all, now - connection->due);
        conclude(stream, connection);
        lose(stream, connection);
    }
    for (; next_due(stream) < stream->end; stream->next += interval(stream)) {
        stream->counts.due++;
        stream->counts.unsent++;
        latencies_add(&stream->counts.all, now - next_due(stream));
    }
}

const struct stream_counts *stream_counts(const struct stream *stream)
{
    return &stream->counts;
}
