/* The worlds being served: each terrain with its identity and its style. Immutable once made;
 * any thread. */
#ifndef FARLANDS_WORLD_WORLD_H
#define FARLANDS_WORLD_WORLD_H

#include "config/config.h"
#include "noise/farlands.h"
#include "server/layers/color_table.h"

enum { FINGERPRINT_TEXT = 17 };

/* What a fingerprint goes by besides seed and versions: keys and values, each with its 0. */
struct parameters {
    char *text;
    size_t length;
};

struct world {
    struct worlds *among;
    struct world_config config;
    struct farlands_terrain *terrain;
    /* Hash of everything that decides heights and pictures; not of the name. */
    char fingerprint[FINGERPRINT_TEXT];
    /* The same for worlds that differ in nothing but seed and name. */
    char family[FINGERPRINT_TEXT];
    const struct color_table *style; /* the family's, as are the parameters */
    const struct parameters *parameters;
};

struct worlds {
    unsigned references; /* atomic */
    struct worlds *base; /* those whose style a derived world has, held; or NULL */
    struct color_table
        *styles; /* of each world, as are its parameters; NULL where there is a base */
    struct parameters *parameters;
    int room; /* worlds that there is room for */
    int count;
    struct world world[];
};

/* With one reference. Returns 0, -EINVAL or -ENOMEM. */
int worlds_new(struct worlds **out, const struct config *config);

/*
 * One world: what BASE, a configured one, is with SEED instead of its own, called {name}:{seed}.
 * With one reference; it holds BASE's. Returns 0 or -ENOMEM. It takes about 3 us and 18 KB: a loop
 * may wait for it.
 */
int worlds_derive(struct worlds **out, const struct world *base, uint64_t seed);

/* One reference less; the last one frees. */
void worlds_release(struct worlds *worlds);

/* One reference more, or less, for who works with WORLD after its worlds may have been replaced. */
const struct world *world_hold(const struct world *world);
void world_release(const struct world *world);

/* The world called NAME, or NULL. */
const struct world *worlds_find(const struct worlds *worlds, const char *name);

/* Whether WORLD serves LAYER, an index in layers. */
bool world_serves(const struct world *world, int layer);

/* The zooms at which the world has tiles of 256 * SCALE samples. */
int world_min_zoom(const struct world *world);
int world_max_zoom(const struct world *world, int scale);

#endif
