/*
 * Which operations a mask makes irrelevant: if all its samples are 0, those that are read only
 * through products with the mask. Private to noise/.
 *
 * One factor of a product is the guard. If the guard is 0, the other factor is not read,
 * and an operation that nobody else reads is not carried out. This may change the signs of zeros
 * alone, and graph.h says why no value depends on them.
 */
#ifndef FARLANDS_GUARDS_H
#define FARLANDS_GUARDS_H

#include "noise/evaluate/plan.h"

/* Choose the guards in DOMAIN, whose outputs are set. NEEDED: the operations in it. */
void guards_choose(const struct program *program, struct domain *domain, const bool *needed);

/* True if operation O reads input I even if its guard, input number GUARD, is 0. */
static inline bool guards_reads(const struct operation *o, int guard, int i)
{
    return i == guard || (o->kind == GRAPH_MIX && i == 0);
}

/* One reader of OPERATION has gone: count it down in READS. If that was the last reader, the
 * operation's inputs lose a reader, too, except those that SPARED says were not read. */
void guards_release(const struct program *program, const struct domain *domain, int operation,
                    const bool *spared, int16_t *reads);

#endif
