/*
 * Which operations a mask makes irrelevant: if it is 0 in all samples, those that are read only
 * through products with it. Private to noise/.
 *
 * The guard of a product is one of its factors. If the guard is 0, the other factor is not read,
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

/* One reader of OPERATION has gone: count it down in READS. If it was the last one, its inputs lose
 * a reader, too, unless it did not read them, as SPARED says. */
void guards_release(const struct program *program, const struct domain *domain, int operation,
                    const bool *spared, int16_t *reads);

#endif
