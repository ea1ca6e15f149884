#include "pending.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "server/api/forwarded.h"

enum {
    LATE_MS = 10 * 1000, /* who waits is told to come again; a render is finished and kept */
    LEFT_MS = 250,       /* who has waited for so long is looked after */
};

#define BUSY "too many renders are waiting; try again"

enum job_rank pending_rank(const struct http_request *request)
{
    const char *urgency = request->priority ? strstr(request->priority, "u=") : NULL;
    return urgency && urgency[2] == '7' ? JOB_BACKGROUND : JOB_INTERACTIVE;
}

void pending_refused(const struct request_context *context, int err)
{
    switch (err) {
    case -EBUSY:
        response_error(context, 503, BUSY);
        break;
    case -EUSERS:
        response_error(context, 503, "too many of your requests are under way; try again");
        break;
    case -ETIMEDOUT:
        response_error(context, 503, "the render takes long; try again");
        break;
    case -ECANCELED:
        response_error(context, 503, "the server is stopping; try again");
        break;
    case -ECONNRESET:
        response_error(context, 503, "you seemed to have left");
        break;
    case -ENOMEM:
        response_error(context, 503, "out of memory; try again");
        break;
    default:
        response_error(context, 500, "it could not be rendered");
    }
}

int pending_requests_init(struct pending_requests *room, struct client_limits *clients,
                          const struct response_sinks *sinks)
{
    *room = (struct pending_requests){.clients = clients, .sinks = sinks};
    return response_make_error(&room->refusal, 503, BUSY);
}

void pending_requests_close(struct pending_requests *room)
{
    assert(!room->first);
    mhd_response_drop(&room->refusal);
}

int pending_begin(struct pending_requests *room, struct pending *pending,
                  const struct request_context *context, const struct config *config)
{
    if (room->cancelled) {
        pending_refused(context, -ECANCELED);
        return -ECANCELED;
    }
    pending->context = *context;
    pending->context.client = forwarded_client(&config->site, context->request, &pending->address);
    if (!client_limits_enter(room->clients, pending->context.client, CLIENT_MISSES,
                             config->limits.misses_per_client)) {
        metrics_add(room->sinks->metrics, METRIC_LIMITED);
        pending_refused(context, -EUSERS);
        return -EUSERS;
    }
    pending->room = room;
    pending->since = uv_hrtime();
    pending->next = room->first;
    pending->self = &room->first;
    if (pending->next)
        pending->next->self = &pending->next;
    room->first = pending;
    return 0;
}

void pending_end(struct pending *pending)
{
    *pending->self = pending->next;
    if (pending->next)
        pending->next->self = pending->self;
    client_limits_leave(pending->room->clients, pending->context.client, CLIENT_MISSES);
    pending->ended(pending);
}

/* In a flood that is what most answers are: -EBUSY. */
void pending_refuse(struct pending *pending, int err)
{
    struct pending_requests *room = pending->room;

    if (err == -EBUSY)
        metrics_add(room->sinks->metrics, METRIC_SHED);
    else if (err == -ETIMEDOUT)
        metrics_add(room->sinks->metrics, METRIC_LATE);
    if (err == -EBUSY && !http_closes(pending->context.exchange))
        response_send_cached(&pending->context, &room->refusal);
    else
        pending_refused(&pending->context, err);
    pending_end(pending);
}

static void give_up(struct pending *pending, int err)
{
    if (pending->forget(pending))
        pending_refuse(pending, err);
}

void pending_requests_expire(struct pending_requests *room)
{
    const uint64_t now = uv_hrtime();

    for (struct pending *pending = room->first, *next; pending; pending = next) {
        const uint64_t ms = (now - pending->since) / 1000000;
        next = pending->next;
        if (ms >= (pending->patience_ms ? pending->patience_ms : LATE_MS))
            give_up(pending, -ETIMEDOUT);
        else if (ms >= LEFT_MS && http_has_left(pending->context.exchange))
            give_up(pending, -ECONNRESET);
    }
}

bool pending_requests_cancel(struct pending_requests *room)
{
    room->cancelled = true;
    for (struct pending *pending = room->first, *next; pending; pending = next) {
        next = pending->next;
        give_up(pending, -ECANCELED);
    }
    return !room->first;
}
