/*
 * Fingerprints of a world: hashes of all that decides the bytes of what it serves. They are in
 * ETags and names of files, so equal fingerprints must mean equal bytes. Pure.
 */
#ifndef FARLANDS_WORLD_FINGERPRINTS_H
#define FARLANDS_WORLD_FINGERPRINTS_H

#include "config/daemon/config.h"
#include "server/layers/layer.h"

enum { FINGERPRINT_TEXT = 17 }; /* 16 hexadecimal digits */

/* The tiles of a layer are of two kinds, which depend on different things: those in WebP, and all
 * others, whose number is the layer's. */
enum { TILE_KINDS = 2 * CONFIG_LAYERS_MAX };

static inline int tile_kind(int layer, enum format format)
{
    return format == FORMAT_WEBP ? CONFIG_LAYERS_MAX + layer : layer;
}

/* Of regions of heights, and heights at places; of volumes; of each kind of tiles. Empty if there
 * is no such kind. */
struct fingerprints {
    char region[FINGERPRINT_TEXT];
    char volume[FINGERPRINT_TEXT];
    char tile[TILE_KINDS][FINGERPRINT_TEXT];
};

/* What the fingerprints of a configured world, and of those derived from it, have in common. */
struct parameters {
    uint64_t part[WORLD_PARTS];                /* hashes of its keys, without defaults */
    char family[TILE_KINDS][FINGERPRINT_TEXT]; /* the layers' fingerprints with seed 0 */
};

/* Hash CONFIG's keys, and make its family's fingerprints. */
void parameters_make(struct parameters *out, const struct world_config *config,
                     const struct webp_config *webp);

/* Make the fingerprints of the world of CONFIG and PARAMETERS with SEED, whose tiles are encoded as
 * WEBP says. */
void fingerprints_make(struct fingerprints *out, const struct world_config *config,
                       const struct parameters *parameters, uint64_t seed,
                       const struct webp_config *webp);

#endif
