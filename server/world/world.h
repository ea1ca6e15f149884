/*
 * A served world: its fields, layers, colors and zooms. A world is immutable but for the colors of
 * its climate, which are made when they are first needed. worlds.h makes sets of worlds. Any
 * thread.
 */
#ifndef FARLANDS_WORLD_WORLD_H
#define FARLANDS_WORLD_WORLD_H

#include "config/daemon/config.h"
#include "config/fields/biomes.h"
#include "config/fields/fields.h"
#include "noise/terrain/terrain.h"
#include "server/layers/layer.h"
#include "server/world/fingerprints.h"

/* A world's climate: the fields named `temperature` (degrees C), `humidity` (0 to 1) and `biome`;
 * and `canopy`, how many metres plants stand above the ground. */
struct climate {
    int temperature, humidity;       /* fields; -1 if the world has no such field */
    int canopy;                      /* as these */
    int biome;                       /* a field whose values are ids */
    const struct biome_table *table; /* the biomes; lives as long as the world */
};

/* Indices for arrays of these fields. */
enum climate_field { CLIMATE_TEMPERATURE, CLIMATE_HUMIDITY, CLIMATE_BIOME, CLIMATE_FIELDS };

/* The water at a place: the level, or RIVERS_DRY on land, and the river's order. */
enum water_field { WATER_LEVEL, WATER_ORDER, WATER_FIELDS };

struct world {
    struct worlds *set; /* the set that the world belongs to */
    uint64_t seed;
    char name[WORLD_SEEDED_NAME_MAX]; /* NAME, or NAME:SEED of a derived world */
    /* The configured world's: a derived world shares both, but has its own seed and name. Don't ask
     * them for anything that depends on the seed, such as values. Field names, bounds and costs
     * don't depend on it. */
    const struct world_config *config;
    struct farlands_terrain *base_terrain;
    struct climate climate;   /* table is NULL if there is no climate */
    struct world_water water; /* rivers is NULL if there is no water */
    struct fingerprints fingerprints;
    struct webp_config webp; /* how tiles are encoded */
    /* Shared with derived worlds. */
    struct color_table *colors;
    const struct parameters *parameters;
    const struct price *prices; /* one per terrain field */
};

/* WORLD's configuration with WORLD's own name and seed. The fields remain WORLD's. */
void world_config_of(struct world_config *out, const struct world *world);

/* True if WORLD serves LAYER, an index in layers: the configuration lists the layer, and WORLD has
 * the biomes or rivers that it shows. */
bool world_serves(const struct world *world, int layer);

/* True if WORLD's documents list LAYER: WORLD serves it, and it is not `field`, of which there is
 * one layer per field. */
bool world_lists(const struct world *world, int layer);

/* The fingerprint of regions that show LAYER; FIELD matters if LAYER is the heights. */
const char *world_region_fingerprint(const struct world *world, int layer, int field);

/*
 * The number of WORLD's fields: the terrain's, with their numbers, then "surface", the ground as
 * seen from above (terrain_surface), unless the terrain has a field of this name.
 */
int world_field_count(const struct world *world);
const char *world_field_name(const struct world *world, int field);
/* The number of the field NAME, LENGTH bytes, or -1. */
int world_field(const struct world *world, const char *name, size_t length);
bool world_is_surface(const struct world *world, int field);

/* The field to evaluate for FIELD over GRID: the height instead of a filtered surface whose samples
 * are more than TERRAIN_FAR apart, because each would take long; otherwise FIELD. Nearer surfaces
 * are exact, even in pictures. */
int world_field_over(const struct world *world, int field, const struct farlands_grid *grid);

/* True if FIELD has layers. A single noise's surface has none, because tiles would take seconds. */
bool world_has_layers(const struct world *world, int field);

/* FIELD's unit, "" if it has none. */
const char *world_field_unit(const struct world *world, int field);

/* The number of the field for the ground's height. */
int world_height_field(const struct world *world);

/*
 * WORLD's climate; NULL unless the field `biome` is a biome node. `temperature` and `humidity` may
 * be missing even then, because biomes can be chosen by other things.
 */
const struct climate *world_climate(const struct world *world);

/* WORLD's water fields; NULL unless there are rivers and lakes. */
const struct world_water *world_water(const struct world *world);

/* The field `water`, whose rivers have courses, if it is a water node; otherwise -1. */
int world_course_field(const struct world *world);

/* How rivers are drawn if samples are STEP units apart. */
struct river_scale world_river_scale(const struct world *world, int64_t step);

/* The number of the field that LAYER shows, unless there is one layer per field. */
int world_layer_field(const struct world *world, int layer);

/* FIELD's range for integers and grays: for heights and surfaces the color table's, for biomes 0 to
 * 255, since an id is a byte. */
struct value_range world_field_range(const struct world *world, int field);

/* The factor by which shaded pictures exaggerate heights if samples are STEP units apart. */
float world_exaggeration(const struct world *world, int64_t step);

/* The zooms at which WORLD has tiles of 256 * SCALE samples. */
int world_min_zoom(const struct world *world);
int world_max_zoom(const struct world *world, int scale);

/* The first zoom at which tiles of numbers (`height`, `field.NAME`) are exact: their samples are 64
 * blocks apart (TERRAIN_FAR). At coarser zooms they leave out detail finer than a sample, as
 * pictures do, because each exact sample would have to find its own rivers. */
int world_exact_zoom(const struct world *world);

/* The zoom for a first view: the broadest octave's lattice cells are 1024 pixels wide, so a few
 * features fill a screen. */
int world_first_zoom(const struct world *world);

/* The least zoom at which something is left to see: the broadest octave's lattice cells are at
 * least 16 pixels wide. */
int world_overview_zoom(const struct world *world);

#endif
