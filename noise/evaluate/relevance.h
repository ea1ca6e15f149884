/*
 * Which operations a band can do without, because a mask is 0 there: see guards.h. Private to
 * evaluate/.
 */
#ifndef FARLANDS_RELEVANCE_H
#define FARLANDS_RELEVANCE_H

#include "noise/evaluate/plan.h"

/* The state of each operation in a band, or at few samples. */
struct relevance {
    /* How many operations that are carried out read this one; 0: this one is irrelevant. */
    int16_t reads[GRAPH_MAX_NODES];
    bool spared[GRAPH_MAX_NODES]; /* the guard is 0, so guarded inputs are not read */
    bool zero[GRAPH_MAX_NODES];   /* known to be 0, so the buffer is not written */
};

/* At first nothing is irrelevant. */
struct relevance relevance_all(const struct domain *domain);

/* ZERO, a guard, is 0 here, so the operations that it guards do not read their other inputs. Inputs
 * that only they read become irrelevant. */
void relevance_drop(struct relevance *relevance, const struct program *program,
                    const struct domain *domain, int zero);

/* If some inputs of O are ZERO, or O is SPARED because the guard is 0, the values of O may be known
 * without computing them. Returns the number of an input that has the same values, or ZERO_INPUT if
 * all are 0. Returns -1 if they must be computed. Signs of zeros may differ. */
enum { ZERO_INPUT = GRAPH_MAX_INPUTS };
int relevance_same_input(const struct operation *o, bool spared, const bool zero[GRAPH_MAX_INPUTS]);

#endif
