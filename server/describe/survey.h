/*
 * Measures a world's terrain at random places: how high and steep the ground is, how much it
 * differs from place to place, how far one walks until something changes, how much land has no
 * outlet, and where water goes. The same options give the same numbers with any number of threads.
 */
#ifndef FARLANDS_DESCRIBE_SURVEY_H
#define FARLANDS_DESCRIBE_SURVEY_H

#include "server/describe/ground.h"
#include "server/describe/headings.h"
#include "server/describe/quantiles.h"
#include "server/describe/walk.h"
#include "server/world/world.h"

enum {
    SURVEY_DRAWN = 8192,  /* places drawn; the first ones on land are looked at closely */
    SURVEY_TOGETHER = 16, /* so many of them lie near each other where rivers build the ground */
    SURVEY_WINDOWS = 64,  /* the most places that are looked at for depressions */
    SURVEY_WINDOW = 257,  /* samples per side */
    SURVEY_RELIEF = 129,  /* samples per side of a square in which relief is measured */
    RELIEF_SCALES = 4,
    STEEP_ANGLES = 4,
    WINDOW_STEPS = 2,
};

extern const int relief_sides[RELIEF_SCALES]; /* the squares' sides, in blocks */
extern const int steep_degrees[STEEP_ANGLES];
extern const int window_steps[WINDOW_STEPS]; /* blocks between samples */

/* Depressions less deep than this, in metres, are puddles. */
static const float SURVEY_PUDDLE = 0.1f;

struct survey_options {
    const struct world *world;
    int64_t least[2], beyond[2]; /* units: the box for places, which are whole blocks from LEAST */
    uint64_t seed;               /* for drawing places, not the world's seed */
    unsigned places;             /* wanted on land, 1 .. SURVEY_DRAWN; there may be fewer */
    unsigned threads;
};

/* A named field in the world's graph. */
struct field_values {
    const char *name, *unit; /* the world's; the unit may be "" */
    float min, max;          /* bounds */
    struct quantiles values;
};

/* Rivers and lakes, and where water goes from the places that are looked at closely. */
struct waters {
    double rivers, lakes;      /* shares of land and lakes together; NAN if there is neither */
    int sea, ends;             /* courses that end in the sea, and in end lakes */
    struct quantiles distance; /* blocks along a course to the first river, lake or sea */
    struct quantiles length;   /* blocks along a course to the end */
    struct headings headings;  /* of the rivers along the courses */
};

struct survey {
    int land;                               /* places above 0 m, among SURVEY_DRAWN */
    int class_count[GROUND_CLASSES];        /* places per class; the sum is SURVEY_DRAWN */
    struct quantiles height;                /* metres, at all places */
    struct quantiles land_height;           /* at places on land, as is all that follows */
    struct quantiles slope;                 /* metres per block, over one block to each side */
    double steeper[STEEP_ANGLES];           /* share of the land; NAN if there is none */
    int places;                             /* looked at closely, as for all that follows */
    struct quantiles relief[RELIEF_SCALES]; /* metres: highest minus lowest */
    double variety[RELIEF_SCALES];          /* the 90 % quantile divided by the 10 % quantile */
    struct quantiles way[WALK_GOALS];       /* blocks; INFINITY: beyond WALK_LIMIT */
    int windows;                            /* places looked at for depressions */
    double sunken[WINDOW_STEPS];            /* share of these windows' land; NAN if there is none */
    bool has_water;                         /* the world has rivers (world_water) */
    struct waters water;                    /* only if has_water */
    int64_t (*place)[2];                    /* units: PLACES of them; if 0, the first place drawn */
    struct field_values *field;
    int fields;
};

/* Returns 0, -ENOMEM, or -EAGAIN if no thread could be started. The caller frees *OUT with
 * survey_free. */
int survey_run(struct survey **out, const struct survey_options *options);
void survey_free(struct survey *survey);

#endif
