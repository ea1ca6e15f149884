#include "pending.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "server/core/clock.h"
#include "server/net/socket_state.h"

enum {
    TIMEOUT_MS = 10 * 1000, /* the render itself goes on, for the retry */
    CHECK_MS = 250,         /* age at which the check for a disconnect begins */
    PACE_MS = 5,            /* so often, so many requests are refused: 1600 per second, which */
    REFUSALS = 8,           /* take a few percent of the loop's time */
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

int pending_requests_init(struct pending_requests *requests)
{
    int err = 0;

    TAILQ_INIT(&requests->waiting);
    TAILQ_INIT(&requests->refused);
    uv_timer_init(requests->loop, &requests->pace);
    requests->pace.data = requests;
    for (unsigned i = 0; i < PENDING_RETRY_MAX && !err; i++)
        err = response_prepare_busy(&requests->busy[i], i + 1, BUSY);
    return err;
}

void pending_requests_close(struct pending_requests *requests)
{
    assert(!requests->waiting.tqh_first && !requests->refused.tqh_first);
    for (int i = 0; i < PENDING_RETRY_MAX; i++)
        mhd_response_drop(&requests->busy[i]);
}

int pending_begin(struct pending_requests *requests, struct pending *pending,
                  struct request_context *context, const struct config *config)
{
    int err = 0;

    pending->context = context;
    pending->client = client_limits_hash(requests->clients, context->client);
    pending->requests = requests;
    pending->since = clock_ns(requests->clock);
    TAILQ_INSERT_TAIL(&requests->waiting, pending, entry);
    pending->counted = client_limits_enter(requests->clients, context->client, CLIENT_MISSES,
                                           config->limits.misses_per_client);
    if (requests->cancelled)
        err = -ECANCELED;
    else if (!pending->counted)
        err = -EUSERS;
    if (err)
        pending_fail(pending, err);
    return err;
}

void pending_end(struct pending *pending)
{
    struct pending_requests *requests = pending->requests;

    TAILQ_REMOVE(pending->refused ? &requests->refused : &requests->waiting, pending, entry);
    if (pending->counted)
        client_limits_leave(requests->clients, pending->context->client, CLIENT_MISSES);
    pending->ended(pending);
}

/* In a flood most responses are like this one, so it is prepared. */
static void respond_busy(struct pending *pending)
{
    struct pending_requests *requests = pending->requests;
    unsigned seconds = work_queue_retry_after(requests->renderers, pending->client);

    if (seconds > PENDING_RETRY_MAX)
        seconds = PENDING_RETRY_MAX;
    response_send_prepared(pending->context, &requests->busy[seconds - 1]);
}

static void respond_and_end(struct pending *pending, int err)
{
    if (err == -EBUSY && !http_closes(pending->context->exchange))
        respond_busy(pending);
    else
        pending_respond_error(pending->context, err);
    pending_end(pending);
}

static void refuse_some(struct pending_requests *requests, int count)
{
    struct pending *pending;

    while (count-- > 0 && (pending = TAILQ_FIRST(&requests->refused)))
        respond_and_end(pending, pending->refused);
    if (TAILQ_EMPTY(&requests->refused))
        uv_timer_stop(&requests->pace);
}

static void on_pace(uv_timer_t *timer)
{
    refuse_some(timer->data, REFUSALS);
}

/* There is no capacity for PENDING's client: respond at its turn. */
static void refuse(struct pending *pending, int err)
{
    struct pending_requests *requests = pending->requests;

    TAILQ_REMOVE(&requests->waiting, pending, entry);
    TAILQ_INSERT_TAIL(&requests->refused, pending, entry);
    pending->refused = err;
    if (!uv_is_active((uv_handle_t *)&requests->pace))
        uv_timer_start(&requests->pace, on_pace, PACE_MS, PACE_MS);
}

static bool is_refusal(int err)
{
    return err == -EBUSY || err == -EUSERS || err == -EDQUOT || err == -ENOBUFS;
}

void pending_fail(struct pending *pending, int err)
{
    struct pending_requests *requests = pending->requests;

    if (err == -EBUSY)
        metrics_add(requests->sinks->metrics, METRIC_SHED);
    else if (err == -EUSERS)
        metrics_add(requests->sinks->metrics, METRIC_LIMITED);
    else if (err == -ETIMEDOUT)
        metrics_add(requests->sinks->metrics, METRIC_LATE);
    else if (err == -EDQUOT || err == -ENOBUFS)
        metrics_add(requests->sinks->metrics, METRIC_RESPONSES_REFUSED);
    if (is_refusal(err) && !requests->cancelled)
        refuse(pending, err);
    else
        respond_and_end(pending, err);
}

static void cancel(struct pending *pending, int err)
{
    if (pending->cancel(pending))
        pending_fail(pending, err);
}

void pending_requests_expire(struct pending_requests *requests)
{
    const uint64_t now = clock_ns(requests->clock);

    for (struct pending *pending = TAILQ_FIRST(&requests->waiting), *next; pending;
         pending = next) {
        const uint64_t ms = (now - pending->since) / NS_PER_MS;
        next = TAILQ_NEXT(pending, entry);
        if (ms >= (pending->timeout_ms ? pending->timeout_ms : TIMEOUT_MS))
            cancel(pending, -ETIMEDOUT);
        else if (ms >= CHECK_MS && socket_has_left(http_socket(pending->context->exchange)))
            cancel(pending, -ECONNRESET);
    }
}

bool pending_requests_cancel(struct pending_requests *requests)
{
    if (!requests->cancelled)
        uv_close((uv_handle_t *)&requests->pace, NULL);
    requests->cancelled = true;
    refuse_some(requests, INT_MAX);
    for (struct pending *pending = TAILQ_FIRST(&requests->waiting), *next; pending;
         pending = next) {
        next = TAILQ_NEXT(pending, entry);
        cancel(pending, -ECANCELED);
    }
    return TAILQ_EMPTY(&requests->waiting);
}
