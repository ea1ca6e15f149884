/*
 * Which operations a mask makes irrelevant: those that are used only through products with it, if
 * it is 0 in all samples. Private to noise/.
 *
 * The guard of a product is one of its factors. If the guard is 0, the other factor is not read,
 * and an operation that no other reads is not carried out. That may change the signs of zeros
 * alone: graph.h says why no value depends on them.
 */
#ifndef FARLANDS_GUARDS_H
#define FARLANDS_GUARDS_H

#include "noise/evaluate/plan.h"

/* Choose the guards of DOMAIN, whose outputs are set; NEEDED: its operations. */
void guards_choose(const struct program *program, struct domain *domain, const bool *needed);

/* True if input I of the operation with GUARD is read even if that is 0. */
static inline bool guards_reads(const struct operation *o, int guard, int i)
{
    return i == guard || (o->kind == GRAPH_MIX && i == 0);
}

/* One operation less reads OPERATION; READS: how many do. If none is left, its own inputs are read
 * less, too, except for those that SPARED says it did not read. */
void guards_release(const struct program *program, const struct domain *domain, int operation,
                    const bool *spared, int16_t *reads);

#endif
