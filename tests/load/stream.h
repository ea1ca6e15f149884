/*
 * A stream of requests. A request is sent when due if a connection of the stream is free, else as
 * soon as one is; its latency counts from when it was due. Times are ns of CLOCK_MONOTONIC. One
 * thread.
 */
#ifndef LOAD_STREAM_H
#define LOAD_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "latencies.h"
#include "plan.h"

enum { STATUSES_MAX = 12 };

/* Responses with one status. */
struct stream_answers {
    int status;
    uint64_t retry_after; /* with that header */
    struct latencies latencies;
};

struct stream_counts {
    uint64_t opened; /* connections */
    uint64_t due;
    uint64_t sent;
    uint64_t waited; /* sent late, because no connection was free */
    uint64_t answered;
    uint64_t abandoned; /* closed on purpose */
    uint64_t bytes;     /* of responses, heads included */
    /* Failures: connect failed; connection ended within a response; response not understood;
     * no response by the end of the run; never sent. */
    uint64_t refused, cut, malformed, unanswered, unsent;
    unsigned statuses;
    struct stream_answers by_status[STATUSES_MAX];
    struct latencies all; /* including unanswered and unsent requests, by age at the end */
    struct latencies lag; /* how late this program sent requests that had a free connection */
};

struct stream;

/* The stream keeps referring to PLAN and TARGET. Returns 0 or -ENOMEM. */
int stream_new(struct stream **out, const struct stream_plan *plan, const struct plan *load,
               int epoll, uint64_t seed);
void stream_free(struct stream *stream);

/* Requests become due from START to END. */
void stream_begin(struct stream *stream, uint64_t start, uint64_t end);

/* Requests that would become due after NOW do not. */
void stream_stop(struct stream *stream, uint64_t now);

/* Send what is due. Returns when to call again at the latest. */
uint64_t stream_turn(struct stream *stream, uint64_t now);

/* Handle an epoll event of the connection in data.ptr. */
void stream_event(void *connection, uint32_t events, uint64_t now);

/* True if all connections are open, or need not be before the first request; true if all requests
 * were sent and are answered or lost. */
bool stream_open(const struct stream *stream);
bool stream_done(const struct stream *stream);

/* Count outstanding requests as failed. Nothing is sent or counted afterwards. */
void stream_end(struct stream *stream, uint64_t now);

const struct stream_counts *stream_counts(const struct stream *stream);

#endif
