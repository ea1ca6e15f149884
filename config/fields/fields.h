/*
 * A world's fields: names and expressions, as in a file's `fields:`. Immutable and
 * reference-counted; any thread. Worlds with other seeds, and worlds that are `like` this one,
 * share them.
 */
#ifndef FARLANDS_CONFIG_FIELDS_H
#define FARLANDS_CONFIG_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct biome_table; /* config/fields/biomes.h */
struct graph;       /* noise/graph/graph.h */
struct rivers_params;
struct world_fields;

/* Take a reference, or drop one; the last one frees the fields. NULL is allowed. */
const struct world_fields *world_fields_hold(const struct world_fields *fields);
void world_fields_release(const struct world_fields *fields);

/* The fields as JSON in the grammar of files, without keys that have their default and with every
 * salt written out. Reading this text makes the same fields with the same text. NULL unless
 * config_load has read the fields. */
const char *world_fields_text(const struct world_fields *fields);

/* The same text without names and colors of biomes, because these change no value; NULL if there
 * are no biomes. */
const char *world_fields_plain_text(const struct world_fields *fields);

/* Fields are numbered from 0 in the file's order; names are unique. The unit is "" if the file
 * gives none. */
int world_fields_count(const struct world_fields *fields);
const char *world_fields_name(const struct world_fields *fields, int field);
const char *world_fields_unit(const struct world_fields *fields, int field);

/* The number of the field NAME, LENGTH bytes, or -1. */
int world_fields_find(const struct world_fields *fields, const char *name, size_t length);

/* The biome table of FIELD, which lives as long as the fields; NULL if FIELD is no biome. */
const struct biome_table *world_fields_biomes(const struct world_fields *fields, int field);

/* The numbers of the fields that tell where water is. Each has the name of its node: `water`,
 * `river`, `bank`. */
struct world_water {
    int water, river, bank;
    const struct rivers_params *rivers; /* the river's; live as long as the fields */
};

/* Find these fields. False unless there are all three; FIELDS may be NULL. */
bool world_fields_water(struct world_water *out, const struct world_fields *fields);

/* A river's width in metres, by its ORDER. */
double world_water_width(const struct world_water *water, double order);

/* The water at a place. */
struct water_here {
    float level, depth; /* metres; the depth is LEVEL less the height */
    float order, width; /* a river's, the width in metres; 0 in other water */
    const char *kind;   /* "river", "lake" or "sea"; NULL on land, where all numbers are 0 */
};

/* The water at a place with the fields `water` (LEVEL), `river` (ORDER) and `height` (HEIGHT). */
struct water_here world_water_here(const struct world_water *water, float level, float order,
                                   float height);

/* The name of biome ID in the field `biome`; NULL if there is none. FIELDS may be NULL. */
const char *world_fields_biome_name(const struct world_fields *fields, int id);

/* The longest wavelength among all noises, in units; 1024 blocks if there is no noise. */
int64_t world_fields_broadest(const struct world_fields *fields);

/* A graph made from a world's fields for one seed, with the memory that the graph points to. */
struct world_graph;

/*
 * Make the graph for SEED, in a world that repeats after PERIOD units (0: never). Its fields have
 * the same numbers as FIELDS, which must outlive the graph. The caller frees *OUT. Returns 0 or
 * -ENOMEM.
 */
int world_fields_graph(struct world_graph **out, const struct world_fields *fields, uint64_t seed,
                       int64_t period);
void world_graph_free(struct world_graph *graph);
const struct graph *world_graph(const struct world_graph *graph);

/* Where the graph's NODE comes from in the file: a path below `fields`, such as
 * "mountains.ridge.of". *KEY is set to the key below this path, such as "noise" or "lattice", or to
 * "". */
const char *world_graph_origin(const struct world_graph *graph, int node, const char **key);

#endif
