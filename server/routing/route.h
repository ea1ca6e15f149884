/* URL -> endpoint and arguments. Pure: looks up no world, and allocates nothing. */
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
    ROUTE_WMTS_TILE,  /* /wmts, /wmts.xml, also with a world: ?REQUEST=GetTile */
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
    ROUTE_LAYER = ROUTE_WORD + sizeof "field." - 1, /* a layer's name may contain a field's */
    ROUTE_WHY = QUERY_WHY,
    ROUTE_SIDE_MAX = 4097, /* samples per side, in a region or a volume */
    ROUTE_FIELDS_MAX = 16, /* per place */
    ROUTE_BIOMES_MAX = 16, /* per spawn search */
    ROUTE_POINTS = 1000,   /* in a course, by default */
    ROUTE_POINTS_MAX = 4000,
    ROUTE_VOLUME_MAX = 1 << 24, /* samples in a volume */
};

enum { ROUTE_FROM_PLACE = -3 };

struct route {
    enum route_kind kind;
    char world[ROUTE_WORD];
    char layer[ROUTE_LAYER];      /* or the asset's name; for a region, may be empty */
    char extension[ROUTE_WORD];   /* tile, region, volume */
    int64_t z, x, y;              /* tile, also by WMTS */
    int scale;                    /* tile: 1, or 2 for @2x */
    bool border;                  /* tile: with the first samples of the next tiles */
    int64_t at_x, at_y, at_z;     /* units: a place, or the first sample */
    int64_t step;                 /* region, volume: units */
    int width, height, depth;     /* region, volume: samples */
    float min, max, slope;        /* spawn: metres, and metres per block; infinite: any */
    bool under_water;             /* spawn: the sea floor will do, too */
    int near_water;               /* spawn: at most so many blocks to water; 0: any */
    struct span biomes;           /* spawn: for query_next_name; points into the URI */
    int count;                    /* spawn: places; 0: not given */
    int limit;                    /* course: points */
    struct farlands_course after; /* course; STEP is ROUTE_FROM_PLACE: from the place */
    enum query_crs crs;           /* course */
    struct query_places places;   /* heights; points into the URI */
    struct span fields;           /* height, heights: for query_next_name; points into the URI */
    char field[ROUTE_WORD];       /* region; may be empty */
    float range[2];               /* region; both 0: not given */
    char version[ROUTE_WORD];     /* the value of ?v=, or empty */
    enum format format;           /* TileJSON: the tiles' */
    char set[ROUTE_WORD];         /* WMTS tile: the tile matrix set */
    struct wmts_fault fault;      /* WMTS: why the request is refused */
    bool others;                  /* the query has unknown keys, too */
    bool seeded;                  /* {world} was name:seed */
    uint64_t seed;
};

/* Parse URI, a request's path and query as url_escapes_decode leaves it. Returns 0, or HTTP status
 * 400, 404 or 413 with an error message in WHY that names the wrong part. */
unsigned route_parse(struct route *route, const char *uri, char why[ROUTE_WHY]);

#endif
