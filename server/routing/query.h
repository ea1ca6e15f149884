/* The parameters of a URL's query, by tables that say what each is. Pure. */
#ifndef FARLANDS_ROUTING_QUERY_H
#define FARLANDS_ROUTING_QUERY_H

#include <stdint.h>

#include "server/core/span.h"

enum { QUERY_WHY = 160 };

enum query_kind {
    QUERY_PLACE, /* int64_t, units: decimal blocks within the limit */
    QUERY_COUNT, /* int, 1 .. max */
    QUERY_STEP, /* int64_t, units: a power of two, 1/1024 block to 2^20 blocks; 1 block if absent */
    QUERY_REAL, /* float: a plain decimal number, min or more; as it was if absent */
    QUERY_PLACES, /* struct span: a list of places, x,y;x,y;... */
};

struct query_parameter {
    const char *name;
    enum query_kind kind;
    size_t offset; /* where it goes, behind BASE */
    int max;
    float min;
};

enum { QUERY_STEP_MAX_BITS = 30 }; /* 2^20 blocks in units */

/*
 * Parse what PARAMETERS, up to one with a NULL name, say. Parameters that are not among them are
 * passed over. Returns 0, or the HTTP status to answer with, and in WHY what is wrong with which
 * one and what is accepted: 413 for a count above its limit, BEYOND for a place beyond the limit,
 * otherwise 400.
 */
unsigned query_parse(const struct query_parameter *parameters, const char *query, unsigned beyond,
                     void *base, char why[QUERY_WHY]);

/* Put into WHY what is wrong. Returns STATUS. */
__attribute__((format(printf, 3, 4))) unsigned query_reject(char why[QUERY_WHY], unsigned status,
                                                            const char *format, ...);

/* The value of the parameter NAME. Returns how often it stands there; the last one counts. */
int query_value(const char *query, const char *name, struct span *out);

/* Take the next of PLACES, a list that query_parse has found to be good. False: there is none. */
bool query_next_place(struct span *places, int64_t *x, int64_t *y);

#endif
