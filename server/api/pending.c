#include "pending.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
    TIMEOUT_MS = 10 * 1000, /* the render itself goes on, for the retry */
    CHECK_MS = 250,         /* the age from which on disconnects are checked for */
};

#define BUSY "too many renders of this client are queued; retry later"

enum job_rank pending_rank(const struct http_request *request)
{
    const char *urgency = request->priority ? strstr(request->priority, "u=") : NULL;
    return urgency && urgency[2] == '7' ? JOB_BACKGROUND : JOB_INTERACTIVE;
}

void pending_respond_error(struct request_context *context, int err)
{
    static const struct {
        int err;
        const char *why;
    } reasons[] = {
        {-EBUSY, BUSY},
        {-EUSERS, "too many pending requests from this client; retry later"},
        {-EDQUOT,
         "this client reads too slowly: too many bytes wait for it; read them, then retry"},
        {-ENOBUFS, "too many bytes wait for clients; retry later"},
        {-ETIMEDOUT, "render timed out; retry later"},
        {-ECANCELED, "server is shutting down; retry later"},
        {-ECONNRESET, "client disconnected"},
        {-ENOMEM, "out of memory; retry later"},
    };

    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].err == err) {
            response_error(context, 503, reasons[i].why);
            return;
        }
    response_error(context, 500, "render failed");
}

int pending_requests_init(struct pending_requests *requests, struct client_limits *clients,
                          struct work_queue *renderers, const struct response_sinks *sinks)
{
    int err = 0;

    *requests =
        (struct pending_requests){.clients = clients, .renderers = renderers, .sinks = sinks};
    for (unsigned i = 0; i < PENDING_RETRY_MAX && !err; i++)
        err = response_prepare_busy(&requests->busy[i], i + 1, BUSY);
    return err;
}

void pending_requests_close(struct pending_requests *requests)
{
    assert(!requests->first);
    for (int i = 0; i < PENDING_RETRY_MAX; i++)
        mhd_response_drop(&requests->busy[i]);
}

int pending_begin(struct pending_requests *requests, struct pending *pending,
                  struct request_context *context, const struct config *config)
{
    if (requests->cancelled) {
        pending_respond_error(context, -ECANCELED);
        return -ECANCELED;
    }
    if (!client_limits_enter(requests->clients, context->client, CLIENT_MISSES,
                             config->limits.misses_per_client)) {
        metrics_add(requests->sinks->metrics, METRIC_LIMITED);
        pending_respond_error(context, -EUSERS);
        return -EUSERS;
    }
    pending->context = context;
    pending->requests = requests;
    pending->since = uv_hrtime();
    pending->next = requests->first;
    pending->self = &requests->first;
    if (pending->next)
        pending->next->self = &pending->next;
    requests->first = pending;
    return 0;
}

void pending_end(struct pending *pending)
{
    *pending->self = pending->next;
    if (pending->next)
        pending->next->self = pending->self;
    client_limits_leave(pending->requests->clients, pending->context->client, CLIENT_MISSES);
    pending->ended(pending);
}

/* To a request that was shed. In a flood most responses are this one, so it is prepared. */
static void respond_busy(struct pending *pending)
{
    struct pending_requests *requests = pending->requests;
    const struct request_context *context = pending->context;
    unsigned seconds = work_queue_retry_after(
        requests->renderers, client_limits_hash(requests->clients, context->client));

    if (seconds > PENDING_RETRY_MAX)
        seconds = PENDING_RETRY_MAX;
    response_send_prepared(pending->context, &requests->busy[seconds - 1]);
}

void pending_fail(struct pending *pending, int err)
{
    struct pending_requests *requests = pending->requests;

    if (err == -EBUSY)
        metrics_add(requests->sinks->metrics, METRIC_SHED);
    else if (err == -ETIMEDOUT)
        metrics_add(requests->sinks->metrics, METRIC_LATE);
    else if (err == -EDQUOT || err == -ENOBUFS)
        metrics_add(requests->sinks->metrics, METRIC_RESPONSES_REFUSED);
    if (err == -EBUSY && !http_closes(pending->context->exchange))
        respond_busy(pending);
    else
        pending_respond_error(pending->context, err);
    pending_end(pending);
}

static void cancel(struct pending *pending, int err)
{
    if (pending->cancel(pending))
        pending_fail(pending, err);
}

void pending_requests_expire(struct pending_requests *requests)
{
    const uint64_t now = uv_hrtime();

    for (struct pending *pending = requests->first, *next; pending; pending = next) {
        const uint64_t ms = (now - pending->since) / 1000000;
        next = pending->next;
        if (ms >= (pending->timeout_ms ? pending->timeout_ms : TIMEOUT_MS))
            cancel(pending, -ETIMEDOUT);
        else if (ms >= CHECK_MS && http_client_left(pending->context->exchange))
            cancel(pending, -ECONNRESET);
    }
}

bool pending_requests_cancel(struct pending_requests *requests)
{
    requests->cancelled = true;
    for (struct pending *pending = requests->first, *next; pending; pending = next) {
        next = pending->next;
        cancel(pending, -ECANCELED);
    }
    return !requests->first;
}
