/*
 * Dispatches requests to handlers. Start reading here: service.c finds what the URL names, tiles.c,
 * regions.c and points.c respond, and tiles/fetch.c gets the tiles. Each event loop has its own
 * service, and everything here runs on the loop's thread.
 */
#ifndef FARLANDS_API_SERVICE_H
#define FARLANDS_API_SERVICE_H

#include "server/api/response.h"
#include "server/api/snapshot.h"
#include "server/core/mailbox.h"
#include "server/http/http.h"
#include "server/net/client_limits.h"
#include "server/tiles/fetch.h"
#include "server/world/recent_worlds.h"

enum readiness { READY, READY_NOT_DRAINING, READY_NOT_STUCK };

/* The caller owns all parts; they outlive the service. */
struct service_parts {
    uv_loop_t *loop;         /* the thread's */
    struct mailbox *mailbox; /* the loop's */
    struct fetcher *fetcher;
    struct client_limits *clients;
    struct recent_worlds *recent_worlds;
    struct response_sinks sinks;
    unsigned services; /* how many share the memory for prepared responses */
    unsigned *streams; /* atomic: large responses in progress, in all services */
    /* The text of /metrics: one reference, or NULL if out of memory. */
    struct blob *(*scrape)(void *context);
    enum readiness (*readiness)(void *context);
    /* The last reload's error, without the file's directory; empty if the reload succeeded. */
    void (*reload_error)(void *context, struct config_error *error);
    void *context;
};

struct service;

/* Takes a reference to SNAPSHOT. Returns 0 or -ENOMEM. */
int service_new(struct service **out, const struct service_parts *parts, struct snapshot *snapshot);

/* After service_cancel, and after the loop has run the close callbacks. */
void service_free(struct service *service);

/* Callbacks for http_parts, with the service as CONTEXT; state_size is sizeof (struct
 * request_context). */
void service_handle(void *context, struct http_exchange *exchange,
                    const struct http_request *request);
void service_completed(void *context, struct http_exchange *exchange, uint64_t sent);
bool service_waits(void *context, struct http_exchange *exchange, const struct blob *body);

/* Serve SNAPSHOT from now on; takes a reference. */
void service_use(struct service *service, struct snapshot *snapshot);

/* Fail pending requests that have timed out, or whose client has left. Call this every 250 ms. */
void service_expire(struct service *service);

/* The daemon drains: give up requests that take longer than limits.drain. */
void service_drain(struct service *service);

/* Fail all pending requests, and later ones at once. Returns true if none is left; others get their
 * responses when their tiles arrive. */
bool service_cancel(struct service *service);

#endif
