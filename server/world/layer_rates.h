/* How fast this machine paints and encodes the layers. One thread. */
#ifndef FARLANDS_WORLD_LAYER_RATES_H
#define FARLANDS_WORLD_LAYER_RATES_H

#include "config/config.h"
#include "server/layers/layer.h"

/* Of a layer, ns per sample. */
struct layer_rates {
    double paint, encode;
    double webp;    /* to encode it as WebP; 0 if it has none */
    double climate; /* to paint it in a world with a climate */
};

/* Measure RATES of each layer, by index, but for WebP; that takes some ten milliseconds. Returns 0
 * or -ENOMEM. */
int layer_rates_measure(struct layer_rates rates[CONFIG_LAYERS_MAX]);

/* Measure those of WebP in half a millisecond. Returns 0 or -ENOMEM. */
int layer_rates_measure_webp(struct layer_rates rates[CONFIG_LAYERS_MAX],
                             const struct webp_config *webp);

#endif
