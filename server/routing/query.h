/* The parameters of a URL's query, parsed by tables. Pure. */
#ifndef FARLANDS_ROUTING_QUERY_H
#define FARLANDS_ROUTING_QUERY_H

#include <stdint.h>

#include "server/core/span.h"

enum { QUERY_WHY = 160, QUERY_STEP_MAX_BITS = 30 /* 2^20 blocks in units */ };

enum query_kind {
    QUERY_PLACE,  /* int64_t, units: decimal blocks within the limit */
    QUERY_COUNT,  /* int, 1 to max */
    QUERY_STEP,   /* int64_t, units: a power of two, 1/1024 to 2^20 blocks; by default 1 block */
    QUERY_REAL,   /* float: a plain decimal number, at least min; unchanged if absent */
    QUERY_FLAG,   /* bool: 0 or 1; by default 0 */
    QUERY_PLACES, /* struct span: a list of places, x,y;x,y;... */
};

enum { QUERY_PARAMETERS_MAX = 8 }; /* of an endpoint, with the NULL name */

struct query_parameter {
    const char *name;
    enum query_kind kind;
    size_t offset; /* of the value, from BASE */
    int max;
    float min;
};

/*
 * Parse PARAMETERS, which end with a NULL name, into BASE. Other parameters of QUERY are ignored.
 * Returns 0, or an HTTP status with an error message in WHY: 413 for a count above its maximum,
 * BEYOND for a place beyond the limit, otherwise 400.
 */
unsigned query_parse(const struct query_parameter *parameters, const char *query, unsigned beyond,
                     void *base, char why[QUERY_WHY]);

/* Format an error message into WHY. Returns STATUS. */
__attribute__((format(printf, 3, 4))) unsigned query_reject(char why[QUERY_WHY], unsigned status,
                                                            const char *format, ...);

/* Find the parameter NAME, its last value if there are several. Returns their number. */
int query_value(const char *query, const char *name, struct span *out);

/* Take the next of PLACES, a list that query_parse has accepted. False at its end. */
bool query_next_place(struct span *places, int64_t *x, int64_t *y);

#endif
