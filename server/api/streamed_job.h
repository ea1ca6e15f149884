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
#include "server/core/token_bucket.h"
#include "server/core/work_queue.h"
#include "server/tiles/render.h"

/* The most pieces of one job that exist at a time, made or being made: at first two, and more once
 * its reader had to wait for one. */
enum { STREAMED_JOB_AHEAD = 4 };

enum { STREAMED_JOB_MORE = 1 };

/* How long a render thread works on one job before others have their turn, more or less. */
enum { STREAMED_JOB_SLICE_US = 4000 };

struct streamed_job_kind {
    enum metric counter;
    unsigned timeout_ms; /* as in struct pending */
    /*
     * Make piece NUMBER of SUBJECT. Runs on render threads, for several pieces at once. Returns 0
     * and one reference in *OUT; STREAMED_JOB_MORE if it is not done, to be called again when
     * it is its client's turn again; or a negative code.
     */
    int (*work)(void *subject, unsigned number, struct render_scratch *scratch, struct blob **out);
    /* The estimated time of one call of WORK, in microseconds, right within a factor of 2. */
    uint32_t (*cost_us)(const void *subject, unsigned number);
    /* The bytes behind the last piece, once all are made: one reference, or NULL if out of memory.
     * May be NULL: there are none. */
    struct blob *(*tail)(void *subject);
    /* Respond to CONTEXT with BYTES: a body, perhaps a part of it, or a source and its length. */
    void (*respond)(void *subject, struct request_context *context, struct http_response bytes);
    void (*free)(void *subject);
};

struct streamed_job_spec {
    const struct streamed_job_kind *kind;
    void *subject; /* freed by the job, even on error */
    unsigned pieces;
    /* The bytes to send: LENGTH from number FIRST on, which is in the first piece; or all of them,
     * if LENGTH is HTTP_LENGTH_UNKNOWN. */
    uint64_t first;
    int64_t length;
    uint64_t memory; /* bytes of one piece, and of SUBJECT if it is large */
};

struct streamed_jobs {
    /* The caller's; they outlive the jobs. */
    struct work_queue *renderers;
    struct mailbox *mailbox;
    struct pending_requests *pending;
    unsigned *streams; /* atomic: jobs of several pieces, of all that share limits.streams */
    /* Private. */
    struct render_scratch *scratch; /* for jobs that run on the loop */
    struct token_bucket budget;     /* the loop's time for them */
    unsigned making;                /* pieces on the render threads */
    bool cancelled;                 /* atomic */
};

/* The caller's members are set, the others zero. Returns 0 or a negative code. */
int streamed_jobs_init(struct streamed_jobs *jobs);

/* No piece may be being made. JOBS may be zeroed instead of initialized. */
void streamed_jobs_close(struct streamed_jobs *jobs);

/* Begin no further pieces and skip the queued ones: responses that lack pieces are cut off. Returns
 * true if none is being made any more; until then the mailbox must stay open. */
bool streamed_jobs_cancel(struct streamed_jobs *jobs);

/*
 * Respond to CONTEXT with the result of SPEC, within CONFIG's limits. If its only piece is expected
 * to take less time than handing it to a render thread, it is made at once, as long as all such
 * jobs take no more than a tenth of the loop's time.
 */
void streamed_job_begin(struct streamed_jobs *jobs, const struct streamed_job_spec *spec,
                        struct request_context *context, const struct config *config);

#endif
