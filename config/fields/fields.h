/*
 * The fields of a world: names and expressions, as `fields:` in a file has them. Immutable and
 * reference-counted; any thread. A world and the worlds derived from it share them.
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

/* The fields as JSON in the grammar of files: without keys that have their default, with every salt
 * written out. What reads it makes the same fields, with the same text. NULL unless config_load has
 * read them. */
const char *world_fields_text(const struct world_fields *fields);

/* The same without names and colors of biomes, which change no value; NULL if there are none. */
const char *world_fields_plain_text(const struct world_fields *fields);

/* Fields are numbered from 0 on in the order of the file; their names are unique. The unit is ""
 * if the file has none. */
int world_fields_count(const struct world_fields *fields);
const char *world_fields_name(const struct world_fields *fields, int field);
const char *world_fields_unit(const struct world_fields *fields, int field);

/* The number of the field NAME, LENGTH bytes, or -1. */
int world_fields_find(const struct world_fields *fields, const char *name, size_t length);

/* The table of a FIELD that is a biome; NULL for others. It lives as long as the fields. */
const struct biome_table *world_fields_biomes(const struct world_fields *fields, int field);

/* The fields of a world that tell where its water is, by their names and nodes: `water`, a water;
 * `river`, a river; `bank`, a bank. */
struct world_water {
    int water, river, bank;
    const struct rivers_params *rivers; /* of the river; as long as the fields */
};

/* Find them into OUT. False unless there are all three; FIELDS may be NULL. */
bool world_fields_water(struct world_water *out, const struct world_fields *fields);

/* How wide a river of ORDER is, in metres. */
double world_water_width(const struct world_water *water, double order);

/* The water at a place. */
struct water_here {
    float level, depth; /* metres; DEPTH is above the height */
    float order, width; /* of a river, whose width is in metres; 0 in other water */
    const char *kind;   /* "river", "lake" or "sea"; NULL on land, where all numbers are 0 */
};

/* That of a place with these values of the fields `water` and `river`, and this HEIGHT. */
struct water_here world_water_here(const struct world_water *water, float level, float order,
                                   float height);

/* The name of the biome ID of the field `biome`; NULL if there is none. FIELDS may be NULL. */
const char *world_fields_biome_name(const struct world_fields *fields, int id);

/* The longest wavelength of a noise in any field, in units; 1024 blocks if there is no noise. */
int64_t world_fields_broadest(const struct world_fields *fields);

/* The graph of a world's fields for a seed, and the memory that it refers to. */
struct world_graph;

/*
 * Make the graph for SEED, in a world that repeats after PERIOD units (0: never). The graph has the
 * fields in their order. FIELDS must outlive it; the caller frees it. Returns 0 or -ENOMEM.
 */
int world_fields_graph(struct world_graph **out, const struct world_fields *fields, uint64_t seed,
                       int64_t period);
void world_graph_free(struct world_graph *graph);
const struct graph *world_graph(const struct world_graph *graph);

/* The part of the file that NODE of the graph is from: its path below `fields`, such as
 * "mountains.ridge.of"; *KEY gets the key below that, such as "noise" or "lattice", or "". */
const char *world_graph_origin(const struct world_graph *graph, int node, const char **key);

#endif
