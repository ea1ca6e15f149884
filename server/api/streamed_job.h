/*
 * Responses that render threads compute for one client alone, and that no cache keeps. A response
 * is made in pieces, in order. The first piece decides the status. While a piece is sent, a few
 * more are made ahead, so a large response needs little memory and does not occupy a thread. One
 * event loop's, on its thread unless said otherwise.
 */
#ifndef FARLANDS_API_STREAMED_JOB_H
#define FARLANDS_API_STREAMED_JOB_H

#include "server/api/pending.h"
#include "server/core/mailbox.h"
#include "server/core/work_queue.h"
#include "server/tiles/render.h"

/* The most pieces of one job that are made or in progress at a time: at first two, and more once
 * the reader had to wait. */
enum { STREAMED_JOB_AHEAD = 4 };

enum { STREAMED_JOB_MORE = 1 };

struct streamed_job_kind {
    enum metric counter;
    /*
     * Make piece NUMBER of SUBJECT. Runs on render threads, for several pieces at once. Returns 0
     * and one reference in *OUT; or a negative code. Every few milliseconds, where it could stop
     * and be called again, it asks streamed_job_pause(TURN) whether to stop.
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
    struct run_kind run; /* names jobs whose WORK takes equally long */
    void *subject;       /* freed by the job, even on error */
    unsigned pieces;
    /* For all pieces (request_price.h); 0: little. From a second on, the client may wait longer
     * than for a tile. */
    uint64_t price;
    /* The bytes to send: LENGTH bytes from FIRST on, which is in the first piece; or all bytes, if
     * LENGTH is HTTP_LENGTH_UNKNOWN. */
    uint64_t first;
    int64_t length;
    uint64_t memory; /* bytes that one piece takes, and SUBJECT if it is large */
};

/* The caller sets the first members; the private ones are zero. */
struct streamed_jobs {
    /* Owned by the caller; they outlive the jobs. */
    struct work_queue *renderers;
    struct mailbox *mailbox;
    struct pending_requests *pending;
    unsigned *streams; /* atomic: jobs with several pieces, in all loops (limits.streams) */
    /* Private. */
    unsigned making; /* pieces on the render threads */
    bool cancelled;  /* atomic */
    uint64_t most;   /* atomic: give up jobs with a higher price; 0: none */
};

/* Begin no further pieces and skip the queued ones: responses that lack pieces are cut off. Returns
 * true if no piece is in progress; until then the mailbox must stay open. */
bool streamed_jobs_cancel(struct streamed_jobs *jobs);

/* The daemon ends in SECONDS: give up jobs that would take longer now, so that their clients get a
 * response and ask elsewhere. */
void streamed_jobs_drain(struct streamed_jobs *jobs, unsigned seconds);

/* Returns 0 if work should go on. Otherwise work returns the same code: STREAMED_JOB_MORE, to be
 * called again at the client's next turn; -ECONNRESET, because the client has left; or -ECANCELED,
 * because nobody waits any more. TURN is work's argument. */
int streamed_job_pause(void *turn);

/* Respond to CONTEXT with the result of SPEC, within CONFIG's limits. */
void streamed_job_begin(struct streamed_jobs *jobs, const struct streamed_job_spec *spec,
                        struct request_context *context, const struct config *config);

#endif
