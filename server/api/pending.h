/*
 * Pending requests, with a per-client limit, a timeout, and disconnect detection. Refusals are
 * paced, so that a client which repeats refused requests at once gains nothing, and cannot keep the
 * loop busy. One event loop's, on its thread.
 */
#ifndef FARLANDS_API_PENDING_H
#define FARLANDS_API_PENDING_H

#include <sys/queue.h>
#include <uv.h>

#include "config/daemon/config.h"
#include "server/api/response.h"
#include "server/core/clock.h"
#include "server/core/work_queue.h"
#include "server/http/mhd_response.h"
#include "server/net/client_limits.h"

/* For requests that take long even on an idle machine: after a timeout the client would only repeat
 * them. */
enum { PENDING_LONG_MS = 60 * 1000 };

/* A pending request, embedded in the struct that waits. Zero all members, then set cancel and
 * ended.
 */
struct pending {
    /* Return true if nothing will be delivered any more, false if a delivery is under way. */
    bool (*cancel)(struct pending *pending);
    /* The request has a response and is no longer pending: free the struct around it. */
    void (*ended)(struct pending *pending);
    struct request_context *context; /* pending_begin sets this, */
    uint64_t client;                 /* and this, for struct job */
    unsigned timeout_ms;             /* 0: the default, 10 s, as for a render */
    /* Private. */
    TAILQ_ENTRY(pending) entry;
    struct pending_requests *requests;
    uint64_t since; /* ns */
    bool counted;   /* against the client's limit */
    int refused;    /* waits only until its turn to be refused with this code */
};

TAILQ_HEAD(pending_list, pending);

enum { PENDING_RETRY_MAX = 8 }; /* the most seconds in Retry-After */

struct pending_requests {
    /* The caller's. */
    uv_loop_t *loop;
    struct client_limits *clients;
    struct work_queue *renderers; /* requests wait for jobs there */
    const struct response_sinks *sinks;
    const struct clock *clock; /* NULL: the system's */
    /* Private. */
    struct pending_list waiting, refused;        /* oldest first */
    uv_timer_t pace;                             /* runs while requests are to be refused */
    struct mhd_response busy[PENDING_RETRY_MAX]; /* prepared once, by seconds, for shed requests */
    bool cancelled;
};

/* The queue rank that REQUEST asks for: background at RFC 9218's lowest urgency, which pre-renders
 * use. */
enum job_rank pending_rank(const struct http_request *request);

/* The caller's members are set, the others zero. Returns 0 or -ENOMEM. */
int pending_requests_init(struct pending_requests *requests);

/* After pending_requests_cancel, and after the loop has run the close callbacks. REQUESTS may be
 * zeroed instead of initialized. */
void pending_requests_close(struct pending_requests *requests);

/*
 * Make CONTEXT's request pending, within CONFIG's limits. Returns 0. Otherwise the request is
 * refused and ENDED will be called, or has been: -ECANCELED after pending_requests_cancel, -EUSERS
 * if the client has too many pending requests.
 */
int pending_begin(struct pending_requests *requests, struct pending *pending,
                  struct request_context *context, const struct config *config);

/* Call this when the response has been sent, or just before. Calls ended. */
void pending_end(struct pending *pending);

/* Send the error response for ERR, a negative code, and end. A refusal, -EBUSY, -EUSERS, -EDQUOT or
 * -ENOBUFS, waits for the request's turn; until then CANCEL is not called. */
void pending_fail(struct pending *pending, int err);

/* Send the error response for ERR to a request that is not pending. */
void pending_respond_error(struct request_context *context, int err);

/* Fail requests that have timed out, or whose client has left. Call this every 250 ms. */
void pending_requests_expire(struct pending_requests *requests);

/* Fail all pending requests, and later ones at once. Returns true if none is left; others get their
 * responses when their deliveries arrive. */
bool pending_requests_cancel(struct pending_requests *requests);

#endif
