/*
 * Answers that are worked out for one asker alone, on the render threads, and
 * kept nowhere. They come in pieces, in order: the first decides what the
 * answer is, the others are made while it is sent, a few at once, so that a
 * large one takes neither much memory nor a thread for its length. One event
 * loop's, on its thread, but for what says otherwise.
 */
#ifndef FARLANDS_API_STREAMED_JOB_H
#define FARLANDS_API_STREAMED_JOB_H

#include "server/api/pending.h"
#include "server/core/mailbox.h"
#include "server/core/work_queue.h"
#include "server/tiles/render.h"

/* How many pieces of one answer exist at a time, made or being made. */
enum { CALCULATION_AHEAD = 4 };

/* What is worked out, and how. */
struct calculation_kind {
    enum metric counter;  /* of those that are asked for */
    unsigned patience_ms; /* as of struct waiting */
    /*
     * Make piece INDEX of SUBJECT. A render thread, several pieces at once. Returns 0 and one
     * reference in *OUT; CALCULATION_MORE: it takes longer, and is called again once others have
     * had their turn; or a negative code.
     */
    int (*work)(void *subject, unsigned index, struct easel *easel, struct blob **out);
    /* The bytes behind the last piece, when all are made: one reference, or NULL where memory is
     * out. NULL: there are none. */
    struct blob *(*tail)(void *subject);
    /* Answer ASKER with the bytes of GIVEN, to which the rest is added: status 200 and a body, of
     * which a part may be meant, or a source and a length. */
    void (*answer)(void *subject, const struct asker *asker, struct http_answer given);
    void (*free)(void *subject);
};

enum { CALCULATION_MORE = 1 };

struct calculation_order {
    const struct calculation_kind *kind;
    void *subject; /* the calculation's from now on, whatever comes */
    unsigned pieces;
    /* Its only piece is made in less time than it takes to hand it over: here, at once. */
    bool light;
    /* What is sent of their bytes: COUNT of them from number FIRST on, within the first piece; or
     * all, where COUNT is HTTP_LENGTH_UNKNOWN. */
    uint64_t first;
    int64_t count;
};

struct calculations;

/* What it works with; all of it stays its maker's and outlives it. */
struct calculations_parts {
    struct workers *renderers;
    struct mailbox *mailbox;
    struct waiting_room *room;
    struct metrics *metrics;
    unsigned *streams; /* atomic: answers in more than one piece, of all that share the limit */
};

/* Returns 0 or a negative code. */
int calculations_new(struct calculations **out, const struct calculations_parts *parts);

/* None may be under way. */
void calculations_free(struct calculations *calculations);

/* Begin no further piece, nor work at those that wait: streams are cut off when they have none.
 * Returns whether none is being made any more: until then nothing may end, for they come home. */
bool calculations_cancel(struct calculations *calculations);

/* Have ORDER worked out and answered to ASKER, by CONFIG's limits. */
void calculation_begin(struct calculations *calculations, const struct calculation_order *order,
                       const struct asker *asker, const struct config *config);

#endif
