/*
 * A world's fingerprints: each is a hash of everything that decides the bytes of one product, for
 * example of one layer's tiles. ETags and file names contain them, so equal fingerprints must mean
 * equal bytes. Pure.
 */
#ifndef FARLANDS_WORLD_FINGERPRINTS_H
#define FARLANDS_WORLD_FINGERPRINTS_H

#include "config/daemon/config.h"
#include "server/layers/layer.h"

enum { FINGERPRINT_TEXT = 17 }; /* 16 hexadecimal digits */

/* A layer has two tile kinds, since their bytes depend on different things: those in WebP, and all
 * others, whose kind is the layer's index. */
enum { TILE_KINDS = 2 * CONFIG_LAYERS_MAX };

static inline int tile_kind(int layer, enum format format)
{
    return format == FORMAT_WEBP ? CONFIG_LAYERS_MAX + layer : layer;
}

/* A string is empty if there is no such tile kind. */
struct fingerprints {
    char region[FINGERPRINT_TEXT]; /* also for heights at places */
    char volume[FINGERPRINT_TEXT];
    char tile[TILE_KINDS][FINGERPRINT_TEXT];
};

/* The part that a configured world shares with worlds derived from it. */
struct parameters {
    uint64_t part[WORLD_PARTS];                /* hashes of the world's keys, without defaults */
    char family[TILE_KINDS][FINGERPRINT_TEXT]; /* the layers' fingerprints with seed 0 */
};

/* Hash CONFIG's keys, and make the family's fingerprints. */
void parameters_make(struct parameters *out, const struct world_config *config,
                     const struct webp_config *webp);

/* Make the fingerprints of a world: CONFIG and its PARAMETERS with SEED, tiles encoded by WEBP. */
void fingerprints_make(struct fingerprints *out, const struct world_config *config,
                       const struct parameters *parameters, uint64_t seed,
                       const struct webp_config *webp);

#endif
