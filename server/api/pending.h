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
struct waiting {
    /* See to it that nothing lands any more, and return true; or false where it is on its way. */
    bool (*forget)(struct waiting *waiting);
    /* It waits no longer and has been answered: free what it is part of. */
    void (*ended)(struct waiting *waiting);
    struct asker asker;   /* of waiting_begin's; from is the callee's to set */
    unsigned patience_ms; /* how long it may wait; 0: for 10 s, as for a render */
    /* Private. */
    struct waiting *next, **self;
    struct waiting_room *room;
    uint64_t since; /* ns */
    struct sockaddr_storage address;
};

struct waiting_room {
    struct clients *clients;      /* its maker's, which outlive it */
    const struct ledger *ledger;  /* as well */
    struct waiting *first;        /* the youngest; private, as what follows */
    struct http_response refusal; /* made once, for all who are shed */
    bool cancelled;
};

/* The rank that REQUEST wants to be rendered with: the lowest urgency of RFC 9218, "background",
 * is what pre-renders ask with. */
enum job_rank waiting_rank(const struct http_request *request);

/* Returns 0 or -ENOMEM. */
int waiting_room_open(struct waiting_room *room, struct clients *clients,
                      const struct ledger *ledger);

/* Nobody may be waiting. A zeroed one has nothing to close. */
void waiting_room_close(struct waiting_room *room);

/* ASKER begins to wait, by CONFIG's limits. Returns 0; -ECANCELED after waiting_room_cancel, or
 * -EUSERS where its client waits for too much: then it does not, and was told. */
int waiting_begin(struct waiting_room *room, struct waiting *waiting, const struct asker *asker,
                  const struct config *config);

/* It has been answered. Calls ended. */
void waiting_end(struct waiting *waiting);

/* Answer that there will be nothing, for the reason ERR (see waiting_refused), and end. */
void waiting_refuse(struct waiting *waiting, int err);

/* Answer one who did not begin to wait: why there is nothing, a negative code. */
void waiting_refused(const struct asker *asker, int err);

/* Answer those who have waited for too long, and give up on those who have left; to be called
 * every 250 ms. */
void waiting_room_sweep(struct waiting_room *room);

/* Answer all with a refusal, and whoever would begin to wait from now on. Returns whether nobody
 * waits any more: the others are answered when what is on its way to them lands. */
bool waiting_room_cancel(struct waiting_room *room);

#endif
