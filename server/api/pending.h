/*
 * Those who wait for an answer: within what one client may wait for at once,
 * not for ever, and not after they have left. One event loop's, on its thread.
 */
#ifndef FARLANDS_API_PENDING_H
#define FARLANDS_API_PENDING_H

#include "config/config.h"
#include "server/api/response.h"
#include "server/core/work_queue.h"
#include "server/http/mhd_response.h"
#include "server/net/client_limits.h"

/* One who waits. Embed it in what is waited for; zero it, and set forget. */
struct pending {
    /* See to it that nothing lands any more, and return true; or false where it is on its way. */
    bool (*forget)(struct pending *pending);
    /* It waits no longer and has been answered: free what it is part of. */
    void (*ended)(struct pending *pending);
    struct request_context context; /* of pending_begin's; from is the callee's to set */
    unsigned patience_ms;           /* how long it may wait; 0: for 10 s, as for a render */
    /* Private. */
    struct pending *next, **self;
    struct pending_requests *room;
    uint64_t since; /* ns */
    struct sockaddr_storage address;
};

struct pending_requests {
    struct client_limits *clients;      /* its maker's, which outlive it */
    const struct response_sinks *sinks; /* as well */
    struct pending *first;              /* the youngest; private, as what follows */
    struct mhd_response refusal;        /* made once, for all who are shed */
    bool cancelled;
};

/* The rank that REQUEST wants to be rendered with: the lowest urgency of RFC 9218, "background",
 * is what pre-renders ask with. */
enum job_rank pending_rank(const struct http_request *request);

/* Returns 0 or -ENOMEM. */
int pending_requests_init(struct pending_requests *room, struct client_limits *clients,
                          const struct response_sinks *sinks);

/* Nobody may be waiting. A zeroed one has nothing to close. */
void pending_requests_close(struct pending_requests *room);

/* CONTEXT begins to wait, by CONFIG's limits. Returns 0; -ECANCELED after pending_requests_cancel,
 * or -EUSERS where its client waits for too much: then it does not, and was told. */
int pending_begin(struct pending_requests *room, struct pending *pending,
                  const struct request_context *context, const struct config *config);

/* It has been answered. Calls ended. */
void pending_end(struct pending *pending);

/* Answer that there will be nothing, for the reason ERR (see pending_refused), and end. */
void pending_refuse(struct pending *pending, int err);

/* Answer one who did not begin to wait: why there is nothing, a negative code. */
void pending_refused(const struct request_context *context, int err);

/* Answer those who have waited for too long, and give up on those who have left; to be called
 * every 250 ms. */
void pending_requests_expire(struct pending_requests *room);

/* Answer all with a refusal, and whoever would begin to wait from now on. Returns whether nobody
 * waits any more: the others are answered when what is on its way to them lands. */
bool pending_requests_cancel(struct pending_requests *room);

#endif
