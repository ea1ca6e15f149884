/*
 * A served world, and what it has: fields, layers, colors, zooms. A world is immutable, but for the
 * colors of its climate, which are made when they are first needed. worlds.h makes worlds, in sets.
 * Any thread.
 */
#ifndef FARLANDS_WORLD_WORLD_H
#define FARLANDS_WORLD_WORLD_H

#include "config/daemon/config.h"
#include "config/fields/biomes.h"
#include "config/fields/fields.h"
#include "noise/terrain/terrain.h"
#include "server/layers/layer.h"
#include "server/world/fingerprints.h"

/* The fields that are a world's climate, by their names: `temperature` (degrees C), `humidity` (0
 * to 1) and `biome`. */
struct climate {
    int temperature, humidity;       /* fields; -1: the world has none of this name */
    int biome;                       /* the field; its values are ids */
    const struct biome_table *table; /* its rows; as long as the world */
};

/* The same in arrays. */
enum climate_field { CLIMATE_TEMPERATURE, CLIMATE_HUMIDITY, CLIMATE_BIOME, CLIMATE_FIELDS };

/* The water at a place: its level, RIVERS_DRY on land, and the order of the river. */
enum water_field { WATER_LEVEL, WATER_ORDER, WATER_FIELDS };

struct world {
    struct worlds *set; /* that it belongs to */
    uint64_t seed;
    char name[WORLD_SEEDED_NAME_MAX]; /* NAME, or NAME:SEED of a derived world */
    /* Of the configured world. A derived one shares them, and has its own seed and name: of these
     * two, ask for nothing that depends on the seed, such as values. Names of fields, their bounds
     * and costs do not. */
    const struct world_config *config;
    struct farlands_terrain *base_terrain;
    struct climate climate;   /* its table is NULL if there is none */
    struct world_water water; /* its rivers are NULL if there are none */
    struct fingerprints fingerprints;
    struct webp_config webp;             /* how its tiles are encoded */
    struct color_table *colors;          /* shared with the worlds derived from it, */
    const struct parameters *parameters; /* as is this */
    const struct price *prices;          /* and this: of each field of the terrain */
};

/* The configuration of WORLD with its own name and seed. Its fields are WORLD's. */
void world_config_of(struct world_config *out, const struct world *world);

/* Whether WORLD serves LAYER, an index in layers: the configuration lists it, and WORLD has what it
 * shows. */
bool world_serves(const struct world *world, int layer);

/* Whether documents list LAYER among those of WORLD: it serves it, and it is not one for each
 * field.
 */
bool world_lists(const struct world *world, int layer);

/* The fingerprint of regions that show LAYER; of FIELD if LAYER is the heights. */
const char *world_region_fingerprint(const struct world *world, int layer, int field);

/*
 * The fields of WORLD: those of its terrain, with their numbers, and then "surface", the ground
 * that one meets from above (terrain_surface), unless the terrain has a field of this name.
 */
int world_field_count(const struct world *world);
const char *world_field_name(const struct world *world, int field);
/* The number of the field NAME, LENGTH bytes, or -1. */
int world_field(const struct world *world, const char *name, size_t length);
bool world_is_surface(const struct world *world, int field);

/* The field that stands for FIELD over GRID: itself, but the height for a filtered surface of far
 * samples, each of which would take long. Nearer surfaces are exact, in pictures, too. */
int world_field_over(const struct world *world, int field, const struct farlands_grid *grid);

/* Whether FIELD has layers. Surfaces of single noises have none: tiles would take seconds. */
bool world_has_layers(const struct world *world, int field);

/* The unit of FIELD, "" if it has none. */
const char *world_field_unit(const struct world *world, int field);

/* The number of the field that is the ground's height. */
int world_height_field(const struct world *world);

/*
 * The climate of WORLD; NULL unless its field `biome` is a biome node. A world may have that
 * without `temperature` or `humidity`: then biomes are chosen by other things, and whoever needs
 * these two does without.
 */
const struct climate *world_climate(const struct world *world);

/* The fields of WORLD's water; NULL unless it has rivers and lakes. */
const struct world_water *world_water(const struct world *world);

/* The field whose rivers have courses, `water`, if it is made of a water; or -1. */
int world_course_field(const struct world *world);

/* How rivers are drawn if samples are STEP units apart. */
struct river_scale world_river_scale(const struct world *world, int64_t step);

/* The number of the field that LAYER shows, unless it is one for each field. */
int world_layer_field(const struct world *world, int layer);

/* The range of FIELD for integers and grays. Heights and surfaces have that of the world's colors,
 * biomes that of ids in a byte: 0 to 255. */
struct value_range world_field_range(const struct world *world, int field);

/* By how much shaded pictures exaggerate heights if their samples are STEP units apart. */
float world_exaggeration(const struct world *world, int64_t step);

/* The zooms at which WORLD has tiles of 256 * SCALE samples. */
int world_min_zoom(const struct world *world);
int world_max_zoom(const struct world *world, int scale);

/* The zoom from which on tiles of numbers (`height`, `field.NAME`) are exact: their samples are 64
 * blocks apart (TERRAIN_FAR). Tiles of coarser zooms leave out what is finer than a sample, as
 * pictures do, because each exact sample would have to find rivers of its own. */
int world_exact_zoom(const struct world *world);

/* The zoom of a first view: a lattice cell of the broadest octave is 1024 pixels wide, so that a
 * few of its features fill a screen. */
int world_first_zoom(const struct world *world);

/* The least zoom at which something is left to see: cells of the broadest octave are 16 pixels wide
 * or more. */
int world_overview_zoom(const struct world *world);

#endif
