/*
 * Measures of a world's terrain at places drawn at random: how high and steep it is, how much it
 * differs from place to place, how far one walks until something changes, how much of the land has
 * no outlet, where its water goes. The same options give the same numbers, whatever the number of
 * threads.
 */
#ifndef FARLANDS_DESCRIBE_SURVEY_H
#define FARLANDS_DESCRIBE_SURVEY_H

#include "server/describe/ground.h"
#include "server/describe/quantiles.h"
#include "server/describe/walk.h"
#include "server/world/world.h"

enum {
    SURVEY_DRAWN = 8192, /* places, of which the first ones on land are looked at closely */
    SURVEY_WINDOWS = 64, /* of these, at most, that are looked at for depressions */
    SURVEY_WINDOW = 257, /* samples a side */
    SURVEY_RELIEF = 129, /* samples a side of a square in which relief is measured */
    RELIEF_SCALES = 4,
    STEEP_ANGLES = 4,
    WINDOW_STEPS = 2,
};

extern const int relief_sides[RELIEF_SCALES]; /* of the squares, in blocks */
extern const int steep_degrees[STEEP_ANGLES];
extern const int window_steps[WINDOW_STEPS]; /* blocks between samples */

/* Depressions that are less deep, in metres, are puddles. */
static const float SURVEY_PUDDLE = 0.1f;

struct survey_options {
    const struct world *world;
    int64_t least[2], beyond[2]; /* units: places lie within, whole blocks from LEAST */
    uint64_t seed;               /* of the places, not of the world */
    unsigned places;             /* on land, 1 .. SURVEY_DRAWN; fewer if there are not as many */
    unsigned threads;
};

/* A named field of the world's graph. */
struct field_values {
    const char *name, *unit; /* the world's; the unit may be "" */
    float min, max;          /* bounds */
    struct quantiles values;
};

/* Rivers and lakes, and where water goes from places on land that are looked at closely. */
struct waters {
    double rivers, lakes;      /* shares of the land and lakes; NAN if there is none */
    int sea, ends;             /* courses that end in the sea, and in end lakes */
    struct quantiles distance; /* blocks along the course to the first river, lake or sea */
    struct quantiles length;   /* blocks, of the course to its end */
};

struct survey {
    int land;                               /* places, of SURVEY_DRAWN, above 0 m */
    int class_count[GROUND_CLASSES];        /* places of each class; their sum is SURVEY_DRAWN */
    struct quantiles height;                /* metres, of all places */
    struct quantiles land_height;           /* of places on land, as are all that follow */
    struct quantiles slope;                 /* metres per block, over one block to each side */
    double steeper[STEEP_ANGLES];           /* share of land; NAN if there is none */
    int places;                             /* on land, looked at closely, as are all that follow */
    struct quantiles relief[RELIEF_SCALES]; /* metres: the highest less the lowest */
    double variety[RELIEF_SCALES];          /* the 90 % quantile over the 10 % quantile */
    struct quantiles way[WALK_GOALS];       /* blocks; INFINITY: beyond WALK_LIMIT */
    int windows;                            /* looked at for depressions */
    double sunken[WINDOW_STEPS];            /* share of their land; NAN if there is none */
    bool has_water;                         /* the world has rivers (world_water) */
    struct waters water;                    /* if it has */
    int64_t (*place)[2]; /* units: PLACES of them; if there are none, the first place drawn */
    struct field_values *field;
    int fields;
};

/* Returns 0, -ENOMEM, or -EAGAIN if no thread could be started. The caller frees *OUT with
 * survey_free. */
int survey_run(struct survey **out, const struct survey_options *options);
void survey_free(struct survey *survey);

#endif
