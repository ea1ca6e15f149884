/*
 * Which operations of a domain need not be carried out in a band, because a mask is 0 there: see
 * guards.h. Private to evaluate/.
 */
#ifndef FARLANDS_RELEVANCE_H
#define FARLANDS_RELEVANCE_H

#include "noise/evaluate/plan.h"

/* What is irrelevant in a band, or for few samples. */
struct relevance {
    /* By how many others that are carried out each operation is read; 0: it is irrelevant. */
    int16_t reads[GRAPH_MAX_NODES];
    bool spared[GRAPH_MAX_NODES]; /* its guard is 0: it does not read what that guards */
    bool zero[GRAPH_MAX_NODES];   /* known to be 0: its values are nowhere else */
};

/* Nothing is irrelevant. */
struct relevance relevance_all(const struct domain *domain);

/* Operation ZERO, a guard, is 0: what the operations that it guards need for themselves alone
 * becomes irrelevant. */
void relevance_drop(struct relevance *relevance, const struct program *program,
                    const struct domain *domain, int zero);

/* The input that operation O has the values of, since others of its inputs are ZERO; ZERO_INPUT if
 * it is 0 itself, or -1. SPARED: its guard is 0. Signs of zeros may differ. */
enum { ZERO_INPUT = GRAPH_MAX_INPUTS };
int relevance_same_input(const struct operation *o, bool spared, const bool zero[GRAPH_MAX_INPUTS]);

#endif
