/* A URL's query, parsed into a struct by a table of parameters. Pure. */
#ifndef FARLANDS_ROUTING_QUERY_H
#define FARLANDS_ROUTING_QUERY_H

#include <stdint.h>

#include "server/core/span.h"

enum {
    QUERY_WHY = 240,
    QUERY_WORD = 64,
    QUERY_STEP_MAX_BITS = 30,    /* 2^20 blocks in units */
    QUERY_PARAMETERS_MAX = 12,   /* in a table, with the NULL name */
    QUERY_STEPS_MAX = INT32_MAX, /* of a course */
    QUERY_KEYS_MAX = 64,         /* in a query, with unknown ones; bounds the time to parse it */
};

/* The type of a parameter's value, and its form. Numbers have any form that number.h knows, also
 * with a sign. If a parameter is absent, its value stays as it is; only a step is 1 block then. */
enum query_kind {
    QUERY_PLACE,  /* int64_t, units: a number of blocks within the limit, rounded */
    QUERY_PLACES, /* struct query_places: one or more places x,y;x,y;... */
    QUERY_STEP,   /* int64_t, units: a power of two, 1/1024 to 2^20 blocks */
    QUERY_WHOLE,  /* int: a whole number, min to max */
    QUERY_REAL,   /* float: a number, at least min */
    QUERY_COURSE, /* struct farlands_course: three whole numbers i,j,step */
    QUERY_RANGE,  /* float[2]: two numbers A,B with A < B and a finite B - A */
    QUERY_NAMES,  /* struct span: names a,b,...; at most max */
    QUERY_FLAG,   /* bool: 0 or 1 */
    QUERY_FORMAT, /* enum format: a picture's, by extension */
    QUERY_CRS,    /* enum query_crs */
    QUERY_NAME,   /* char[QUERY_WORD], or char[max] unless max is 0: a name */
    QUERY_TEXT,   /* char[QUERY_WORD]: any text; empty if too long */
};

/* Coordinates in a geometry. */
enum query_crs {
    CRS_BLOCKS, /* x and y; y grows to the south */
    CRS_NORTH,  /* x and y; y grows to the north */
    CRS_LNGLAT, /* longitude and latitude in the web maps' window */
    CRS_COUNT,
};

/* CRS's name in URLs. */
const char *query_crs_name(enum query_crs crs);

struct query_parameter {
    const char *name;
    enum query_kind kind;
    size_t offset; /* of the value, from BASE */
    bool required;
    float min;
    int max;
    const char *unit; /* of a QUERY_WHOLE that counts: more than max are 413, "too many" */
};

/* A list of places, checked by query_parse. */
struct query_places {
    struct span text; /* the places not taken yet */
    size_t count;     /* their number */
};

/* A route's parameters. */
struct query_table {
    const char *name; /* the route's, in messages */
    bool open;        /* unknown keys are accepted, unless they look like a misspelling */
    struct query_parameter parameters[QUERY_PARAMETERS_MAX]; /* the last name is NULL */
};

/*
 * Parse QUERY, key=value&key=value..., into BASE. Each parameter may be given once. *OTHERS:
 * whether there are unknown keys, which only an open table accepts. Returns 0, or an HTTP status
 * with an error message in WHY: 413 for more of a unit than allowed, 404 for an empty or endless
 * name, or a place beyond the limit; otherwise 400.
 */
unsigned query_parse(const struct query_table *table, const char *query, void *base, bool *others,
                     char why[QUERY_WHY]);

/* Format an error message into WHY. Returns STATUS. */
__attribute__((format(printf, 3, 4))) unsigned query_reject(char why[QUERY_WHY], unsigned status,
                                                            const char *format, ...);

/* Take the next of PLACES. Returns false if none is left. */
bool query_next_place(struct query_places *places, int64_t *x, int64_t *y);

/* Take the next of NAMES, a list that query_parse has accepted. Returns false at the end. */
bool query_next_name(struct span *names, struct span *out);

#endif
