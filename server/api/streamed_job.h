/*
 * Answers that are worked out for one asker alone, on the render threads, and
 * kept nowhere. They come in pieces, in order: the first decides what the
 * answer is, the others are made while it is sent, a few at once, so that a
 * large one takes neither much memory nor a thread for its length. One event
 * loop's, on its thread, but for what says otherwise.
 */
#ifndef FARLANDS_API_STREAMED_JOB_H
#define FARLANDS_API_STREAMED_JOB_H

#include "server/api/pending.h"
#include "server/core/mailbox.h"
#include "server/core/work_queue.h"
#include "server/tiles/render.h"

/* How many pieces of one answer exist at a time, made or being made. */
enum { STREAMED_JOB_AHEAD = 4 };

/* What is worked out, and how. */
struct streamed_job_kind {
    enum metric counter;  /* of those that are asked for */
    unsigned patience_ms; /* as of struct pending */
    /*
     * Make piece INDEX of SUBJECT. A render thread, several pieces at once. Returns 0 and one
     * reference in *OUT; STREAMED_JOB_MORE: it takes longer, and is called again once others have
     * had their turn; or a negative code.
     */
    int (*work)(void *subject, unsigned index, struct render_scratch *scratch, struct blob **out);
    /* The bytes behind the last piece, when all are made: one reference, or NULL where memory is
     * out. NULL: there are none. */
    struct blob *(*tail)(void *subject);
    /* Answer CONTEXT with the bytes of GIVEN, to which the rest is added: status 200 and a body, of
     * which a part may be meant, or a source and a length. */
    void (*answer)(void *subject, const struct request_context *context,
                   struct http_response given);
    void (*free)(void *subject);
};

enum { STREAMED_JOB_MORE = 1 };

struct streamed_job_order {
    const struct streamed_job_kind *kind;
    void *subject; /* the calculation's from now on, whatever comes */
    unsigned pieces;
    /* Its only piece is made in less time than it takes to hand it over: here, at once. */
    bool light;
    /* What is sent of their bytes: COUNT of them from number FIRST on, within the first piece; or
     * all, where COUNT is HTTP_LENGTH_UNKNOWN. */
    uint64_t first;
    int64_t count;
};

struct streamed_jobs;

/* What it works with; all of it stays its maker's and outlives it. */
struct streamed_jobs_parts {
    struct work_queue *renderers;
    struct mailbox *mailbox;
    struct pending_requests *room;
    struct metrics *metrics;
    unsigned *streams; /* atomic: answers in more than one piece, of all that share the limit */
};

/* Returns 0 or a negative code. */
int streamed_jobs_new(struct streamed_jobs **out, const struct streamed_jobs_parts *parts);

/* None may be under way. */
void streamed_jobs_free(struct streamed_jobs *streamed_jobs);

/* Begin no further piece, nor work at those that wait: streams are cut off when they have none.
 * Returns whether none is being made any more: until then nothing may end, for they come home. */
bool streamed_jobs_cancel(struct streamed_jobs *streamed_jobs);

/* Have ORDER worked out and answered to CONTEXT, by CONFIG's limits. */
void streamed_job_begin(struct streamed_jobs *streamed_jobs, const struct streamed_job_order *order,
                        const struct request_context *context, const struct config *config);

#endif
