/*
 * Responses computed on the render threads for one client alone, and not cached. They are made in
 * pieces, in order. The first piece decides the response; a few more are made ahead while it is
 * sent, so that a large response needs little memory and does not occupy a thread. One event
 * loop's, on its thread unless said otherwise.
 */
#ifndef FARLANDS_API_STREAMED_JOB_H
#define FARLANDS_API_STREAMED_JOB_H

#include "server/api/pending.h"
#include "server/core/mailbox.h"
#include "server/core/work_queue.h"
#include "server/tiles/render.h"

/* The most pieces of one job that exist at a time, made or being made: at first two, and more once
 * its reader had to wait for one. */
enum { STREAMED_JOB_AHEAD = 4 };

enum { STREAMED_JOB_MORE = 1 };

struct streamed_job_kind {
    enum metric counter;
    /*
     * Make piece NUMBER of SUBJECT. Runs on render threads, for several pieces at once. Returns 0
     * and one reference in *OUT; or a negative code. Whenever it could stop and be called again,
     * once in some milliseconds or more often, it asks streamed_job_pause(TURN) whether to.
     */
    int (*work)(void *subject, unsigned number, struct render_scratch *scratch, struct blob **out,
                void *turn);
    /* The bytes behind the last piece, once all are made: one reference, or NULL if out of memory.
     * May be NULL: there are none. */
    struct blob *(*tail)(void *subject);
    /* Respond to CONTEXT with BYTES: a body, perhaps a part of it, or a source and its length. */
    void (*respond)(void *subject, struct request_context *context, struct http_response bytes);
    void (*free)(void *subject);
};

struct streamed_job_spec {
    const struct streamed_job_kind *kind;
    struct run_kind run; /* what decides how long WORK takes */
    void *subject;       /* freed by the job, even on error */
    unsigned pieces;
    /* Of all pieces (request_price.h); 0: little. From a second on, its client may wait for longer
     * than for a tile. */
    uint64_t price;
    /* The bytes to send: LENGTH from number FIRST on, which is in the first piece; or all of them,
     * if LENGTH is HTTP_LENGTH_UNKNOWN. */
    uint64_t first;
    int64_t length;
    uint64_t memory; /* bytes of one piece, and of SUBJECT if it is large */
};

/* The caller sets its members, the others are zero. */
struct streamed_jobs {
    /* The caller's; they outlive the jobs. */
    struct work_queue *renderers;
    struct mailbox *mailbox;
    struct pending_requests *pending;
    unsigned *streams; /* atomic: jobs of several pieces, of all that share limits.streams */
    /* Private. */
    unsigned making; /* pieces on the render threads */
    bool cancelled;  /* atomic */
    uint64_t most;   /* atomic: give up jobs with a higher price; 0: none */
};

/* Begin no further pieces and skip the queued ones: responses that lack pieces are cut off. Returns
 * true if none is being made any more; until then the mailbox must stay open. */
bool streamed_jobs_cancel(struct streamed_jobs *jobs);

/* The daemon ends in SECONDS: give up now what would take longer, so that its clients get a
 * response and ask elsewhere. */
void streamed_jobs_drain(struct streamed_jobs *jobs, unsigned seconds);

/* 0: work goes on. Otherwise it returns this: STREAMED_JOB_MORE, to be called again when it is its
 * client's turn again; -ECONNRESET, as the client has left; or -ECANCELED, as nobody waits any
 * more. TURN is what work was called with. */
int streamed_job_pause(void *turn);

/* Respond to CONTEXT with the result of SPEC, within CONFIG's limits. */
void streamed_job_begin(struct streamed_jobs *jobs, const struct streamed_job_spec *spec,
                        struct request_context *context, const struct config *config);

#endif
