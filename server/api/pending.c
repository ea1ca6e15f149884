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

enum job_rank waiting_rank(const struct http_request *request)
{
    const char *urgency = request->priority ? strstr(request->priority, "u=") : NULL;
    return urgency && urgency[2] == '7' ? JOB_BACKGROUND : JOB_INTERACTIVE;
}

void waiting_refused(const struct asker *asker, int err)
{
    switch (err) {
    case -EBUSY:
        answer_error(asker, 503, BUSY);
        break;
    case -EUSERS:
        answer_error(asker, 503, "too many of your requests are under way; try again");
        break;
    case -ETIMEDOUT:
        answer_error(asker, 503, "the render takes long; try again");
        break;
    case -ECANCELED:
        answer_error(asker, 503, "the server is stopping; try again");
        break;
    case -ECONNRESET:
        answer_error(asker, 503, "you seemed to have left");
        break;
    case -ENOMEM:
        answer_error(asker, 503, "out of memory; try again");
        break;
    default:
        answer_error(asker, 500, "it could not be rendered");
    }
}

int waiting_room_open(struct waiting_room *room, struct clients *clients,
                      const struct ledger *ledger)
{
    *room = (struct waiting_room){.clients = clients, .ledger = ledger};
    return answer_make_error(&room->refusal, 503, BUSY);
}

void waiting_room_close(struct waiting_room *room)
{
    assert(!room->first);
    response_drop(&room->refusal);
}

int waiting_begin(struct waiting_room *room, struct waiting *waiting, const struct asker *asker,
                  const struct config *config)
{
    if (room->cancelled) {
        waiting_refused(asker, -ECANCELED);
        return -ECANCELED;
    }
    waiting->asker = *asker;
    waiting->asker.client = site_client(&config->site, asker->request, &waiting->address);
    if (!clients_enter(room->clients, waiting->asker.client, CLIENT_MISSES,
                       config->limits.misses_per_client)) {
        metrics_add(room->ledger->metrics, METRIC_LIMITED);
        waiting_refused(asker, -EUSERS);
        return -EUSERS;
    }
    waiting->room = room;
    waiting->since = uv_hrtime();
    waiting->next = room->first;
    waiting->self = &room->first;
    if (waiting->next)
        waiting->next->self = &waiting->next;
    room->first = waiting;
    return 0;
}

void waiting_end(struct waiting *waiting)
{
    *waiting->self = waiting->next;
    if (waiting->next)
        waiting->next->self = waiting->self;
    clients_leave(waiting->room->clients, waiting->asker.client, CLIENT_MISSES);
    waiting->ended(waiting);
}

/* In a flood that is what most answers are: -EBUSY. */
void waiting_refuse(struct waiting *waiting, int err)
{
    struct waiting_room *room = waiting->room;

    if (err == -EBUSY)
        metrics_add(room->ledger->metrics, METRIC_SHED);
    else if (err == -ETIMEDOUT)
        metrics_add(room->ledger->metrics, METRIC_LATE);
    if (err == -EBUSY && !http_closes(waiting->asker.exchange))
        answer_ready(&waiting->asker, &room->refusal);
    else
        waiting_refused(&waiting->asker, err);
    waiting_end(waiting);
}

static void give_up(struct waiting *waiting, int err)
{
    if (waiting->forget(waiting))
        waiting_refuse(waiting, err);
}

void waiting_room_sweep(struct waiting_room *room)
{
    const uint64_t now = uv_hrtime();

    for (struct waiting *waiting = room->first, *next; waiting; waiting = next) {
        const uint64_t ms = (now - waiting->since) / 1000000;
        next = waiting->next;
        if (ms >= (waiting->patience_ms ? waiting->patience_ms : LATE_MS))
            give_up(waiting, -ETIMEDOUT);
        else if (ms >= LEFT_MS && http_has_left(waiting->asker.exchange))
            give_up(waiting, -ECONNRESET);
    }
}

bool waiting_room_cancel(struct waiting_room *room)
{
    room->cancelled = true;
    for (struct waiting *waiting = room->first, *next; waiting; waiting = next) {
        next = waiting->next;
        give_up(waiting, -ECANCELED);
    }
    return !room->first;
}
