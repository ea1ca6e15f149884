/* URL -> the endpoint and its arguments. Pure: no world is looked up, nothing is allocated. */
#ifndef FARLANDS_ROUTING_ROUTE_H
#define FARLANDS_ROUTING_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "noise/farlands.h"
#include "server/layers/layer.h"
#include "server/routing/query.h"
#include "server/routing/wmts_query.h"
#include "server/world/spawn_search.h"

/* {world} is name or name:seed. */
enum route_kind {
    ROUTE_VIEWER,     /* / */
    ROUTE_ASSET,      /* /viewer/{name}; /robots.txt and icons */
    ROUTE_WORLDS,     /* /worlds.json */
    ROUTE_WMTS,       /* /wmts.xml or, with a world, /{world}/wmts.xml; and /wmts?REQUEST= */
    ROUTE_WMTS_TILE,  /* the same with REQUEST=GetTile */
    ROUTE_WORLD,      /* /{world}.json */
    ROUTE_TILEJSON,   /* /{world}/{layer}.json[?format=] */
    ROUTE_GDAL,       /* /{world}/{layer}.xml */
    ROUTE_TILE,       /* /{world}/{layer}/{z}/{x}/{y}[@2x].{ext}[?border=1] */
    ROUTE_HEIGHT,     /* /{world}/height?x=&y=[&fields=a,b,...] */
    ROUTE_HEIGHTS,    /* /{world}/heights?at=x,y;x,y;...[&fields=a,b,...] */
    ROUTE_SPAWN,      /* /{world}/spawn?x=&y=[&min=][&max=][&slope=][&under_water=1]
                       * [&near_water=][&biome=a,b,...][&count=] */
    ROUTE_DOWNSTREAM, /* /{world}/downstream?x=&y=[&limit=][&after=][&crs=] */
    ROUTE_REGION,  /* /{world}/region.{ext}?x=&y=&width=&height=[&step=][&layer=][&field=][&range=]
                    */
    ROUTE_VOLUME,  /* /{world}/volume.f32?x=&y=&z=&width=&height=&depth=[&step=] */
    ROUTE_HEALTH,  /* /healthz */
    ROUTE_READY,   /* /readyz */
    ROUTE_METRICS, /* /metrics */
};

enum {
    ROUTE_WORD = QUERY_WORD,
    ROUTE_LAYER = ROUTE_WORD + sizeof "field." - 1, /* a layer's name may have a field's */
    ROUTE_WHY = QUERY_WHY,
    ROUTE_SIDE_MAX = 4097, /* samples, of a region or a volume */
    ROUTE_FIELDS_MAX = 16, /* of a place */
    ROUTE_BIOMES_MAX = 16, /* of a spawn */
    ROUTE_POINTS = 1000,   /* of a course, by default */
    ROUTE_POINTS_MAX = 4000,
    ROUTE_VOLUME_MAX = 1 << 24, /* samples, of a volume */
};

enum { ROUTE_FROM_PLACE = -3 };

struct route {
    enum route_kind kind;
    char world[ROUTE_WORD];
    char layer[ROUTE_LAYER];      /* or the asset's name; of a region, may be empty */
    char extension[ROUTE_WORD];   /* of a tile, a region or a volume */
    int64_t z, x, y;              /* of a tile, also of WMTS */
    int scale;                    /* of a tile: 1, or 2 for @2x */
    bool border;                  /* of a tile: with the first samples of the next tiles */
    int64_t at_x, at_y, at_z;     /* units: a place, or the first sample */
    int64_t step;                 /* units, of a region or a volume */
    int width, height, depth;     /* samples, of a region or a volume */
    float min, max, slope;        /* of a spawn: metres, and metres per block; infinite: any */
    bool under_water;             /* of a spawn: the sea floor will do, too */
    int near_water;               /* of a spawn: blocks to water at most; 0: any */
    struct span biomes;           /* of a spawn, for query_next_name; points into the URI */
    int count;                    /* places of a spawn; 0: not given */
    int limit;                    /* points of a course */
    struct farlands_course after; /* of a course; STEP is ROUTE_FROM_PLACE: from the place */
    enum query_crs crs;           /* of a course */
    struct query_places places;   /* of heights; points into the URI */
    struct span fields;       /* of height and heights, for query_next_name; points into the URI */
    char field[ROUTE_WORD];   /* of a region, or empty */
    float range[2];           /* of a region; both 0: not given */
    char version[ROUTE_WORD]; /* the value of ?v=, or empty */
    enum format format;       /* of the tiles of a TileJSON */
    char set[ROUTE_WORD];     /* of a tile of WMTS: the tile matrix set */
    struct wmts_fault fault;  /* of a request to WMTS that is refused */
    bool others;              /* the query has unknown keys, too */
    bool seeded;              /* {world} was name:seed */
    uint64_t seed;
};

/* Parse URI, a request's path and query, as url_escapes_decode leaves it. Returns 0, or HTTP status
 * 400, 404 or 413 with an error message in WHY that names the part. */
unsigned route_parse(struct route *route, const char *uri, char why[ROUTE_WHY]);

#endif
