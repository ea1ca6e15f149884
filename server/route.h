/* URL -> what it asks for. Pure: no world is looked up, nothing is allocated. */
#ifndef FARLANDS_ROUTE_H
#define FARLANDS_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

enum route_kind {
    ROUTE_VIEWER,   /* / */
    ROUTE_ASSET,    /* /viewer/{name} */
    ROUTE_WORLDS,   /* /worlds.json */
    ROUTE_WORLD,    /* /{world}.json */
    ROUTE_TILEJSON, /* /{world}/{layer}.json */
    ROUTE_TILE,     /* /{world}/{layer}/{z}/{x}/{y}[@2x].{ext} */
    ROUTE_HEIGHT,   /* /{world}/height?x=&y= */
    ROUTE_HEALTH,   /* /healthz */
    ROUTE_READY,    /* /readyz */
    ROUTE_METRICS,  /* /metrics */
};

enum { ROUTE_WORD = 64, ROUTE_WHY = 160 };

struct route {
    enum route_kind kind;
    char world[ROUTE_WORD];
    char layer[ROUTE_WORD];     /* or the asset's name */
    char extension[ROUTE_WORD]; /* of a tile */
    int64_t z, x, y;            /* of a tile */
    int scale;                  /* of a tile: 1, or 2 for @2x */
    int64_t at_x, at_y;         /* of a height: units */
    char version[ROUTE_WORD];   /* of a tile: the value of ?v=, or empty */
};

/*
 * Parse URI, the path and query of a request. Returns 0, or the HTTP status to
 * answer with, 400 or 404, and in WHY what is wrong with which part.
 */
unsigned route_parse(struct route *route, const char *uri, char why[ROUTE_WHY]);

#endif
