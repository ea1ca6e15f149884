/*
 * The key-value query of a Web Map Tile Service (KVP; OGC 07-057r7, 7.1.1 and 7.2.1). The rules are
 * from OGC 06-121r3, 11.5.2, and not query.h's: keys have any case, and unknown keys are ignored,
 * because clients add vendors' keys. Pure.
 */
#ifndef FARLANDS_ROUTING_WMTS_QUERY_H
#define FARLANDS_ROUTING_WMTS_QUERY_H

#include "server/routing/query.h"

/* Codes in exception reports; OGC 07-057r7, tables 20 and 23. */
enum wmts_code {
    WMTS_FINE,
    WMTS_MISSING_PARAMETER_VALUE,
    WMTS_INVALID_PARAMETER_VALUE,
    WMTS_OPERATION_NOT_SUPPORTED,
    WMTS_VERSION_NEGOTIATION_FAILED,
    WMTS_TILE_OUT_OF_RANGE,
};

struct wmts_fault {
    enum wmts_code code;
    char locator[QUERY_WORD]; /* the parameter or the operation */
};

/* CODE's HTTP status; tables 21 and 24. */
unsigned wmts_status(enum wmts_code code);

enum { WMTS_VALUE = 2 * QUERY_WORD + 64 }; /* world:seed:layer fits */

struct wmts_query {
    bool tile;                /* GetTile; otherwise GetCapabilities, and all but OTHERS is empty */
    char layer[WMTS_VALUE];   /* world:layer or world:seed:layer */
    char set[QUERY_WORD];     /* the tile matrix set */
    int64_t matrix, row, col; /* saturated at 64 bits */
    bool others;              /* there are unknown keys */
};

/*
 * Parse QUERY. An empty query asks for the capabilities, and if DOCUMENT is true, so does one
 * without a request. Escapes for printable characters in values are decoded. Returns 0, or an HTTP
 * status with *FAULT set and a message in WHY.
 */
unsigned wmts_query_parse(struct wmts_query *out, const char *query, bool document,
                          struct wmts_fault *fault, char why[QUERY_WHY]);

/* Set *FAULT, and format a message into WHY. Returns CODE's status. */
__attribute__((format(printf, 5, 6))) unsigned wmts_reject(struct wmts_fault *fault, char *why,
                                                           enum wmts_code code, const char *locator,
                                                           const char *format, ...);

#endif
