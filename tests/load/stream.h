/*
 * One stream of requests: each is due at its moment, goes out then if one of the
 * stream's connections is free, else as soon as one is, and is counted from the
 * moment it was due. All times are ns of CLOCK_MONOTONIC. One thread.
 */
#ifndef LOAD_STREAM_H
#define LOAD_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "latencies.h"
#include "plan.h"

enum { STATUSES_MAX = 12 };

/* The answers of one status. */
struct stream_answers {
    int status;
    uint64_t retry_after; /* those with the header */
    struct latencies latencies;
};

struct stream_counts {
    uint64_t due;
    uint64_t sent;
    uint64_t waited; /* those sent late, for want of a free connection */
    uint64_t answered;
    uint64_t abandoned; /* closed on purpose */
    uint64_t bytes;     /* of answers, heads included */
    /* What failed: connecting; the connection's end before the answer's; an
     * answer that is not understood; no answer when the run was over; never sent. */
    uint64_t refused, cut, malformed, unanswered, unsent;
    unsigned statuses;
    struct stream_answers by_status[STATUSES_MAX];
    struct latencies all; /* unanswered and unsent ones too, by their age at the end */
    struct latencies lag; /* how late this program was with requests that had not to wait */
};

struct stream;

/* Refers to PLAN and TARGET from then on. Returns 0 or -ENOMEM. */
int stream_new(struct stream **out, const struct stream_plan *plan, const struct plan *load,
               int epoll, uint64_t seed);
void stream_free(struct stream *stream);

/* Let requests be due from START on, up to END. */
void stream_begin(struct stream *stream, uint64_t start, uint64_t end);

/* Do what is due by now; returns when to come again at the latest. */
uint64_t stream_turn(struct stream *stream, uint64_t now);

/* What epoll reported of the connection with this data.ptr. */
void stream_event(void *connection, uint32_t events, uint64_t now);

/* Whether all connections are open; whether all requests are sent, and answered or lost. */
bool stream_open(const struct stream *stream);
bool stream_done(const struct stream *stream);

/* Count what is still to come as failed. Nothing is sent or counted afterwards. */
void stream_end(struct stream *stream, uint64_t now);

const struct stream_counts *stream_counts(const struct stream *stream);

#endif
