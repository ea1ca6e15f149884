#include "fingerprints.h"

#include <endian.h>
#include <string.h>
#include <xxhash.h>

#include "config/world/world_terrain.h"
#include "server/png/image_version.h"
#include "server/webp/webp_writer.h"

static uint64_t hash_parameter(const struct world_key *key, const char *value)
{
    return XXH64(value, strlen(value), XXH64(key->name, strlen(key->name), 0));
}

/* Sum the hashes of keys, so that their order doesn't matter. Defaults are left out, so a key that
 * a later release adds changes no fingerprint of a world without it. */
static void add_parameter(void *context, const struct world_key *key)
{
    struct parameters *parameters = context;
    if (key->is_default)
        return;
    parameters->part[key->part] +=
        hash_parameter(key, key->plain_value ? key->plain_value : key->value);
    if (key->plain_value)
        parameters->part[WORLD_COLORS] += hash_parameter(key, key->value);
}

/* A world's product: a layer's tiles, regions or volumes. */
struct product {
    const char *name;
    unsigned parts; /* bits 1 << WORLD_...: the configuration parts that it depends on */
    int version;
    uint64_t encoder; /* version and settings that decide its bytes; 0 without pictures */
};

static void make_fingerprint(char out[FINGERPRINT_TEXT], struct product product,
                             const struct world_config *config, uint64_t seed,
                             const struct parameters *parameters)
{
    uint64_t input[] = {XXH64(product.name, strlen(product.name), 0),
                        (uint64_t)world_config_generator(config),
                        (uint64_t)product.version,
                        product.encoder,
                        seed,
                        (uint64_t)world_config_period(config),
                        0};
    const size_t count = sizeof input / sizeof input[0];
    for (int part = 0; part < WORLD_PARTS; part++)
        if (product.parts >> part & 1)
            input[count - 1] += parameters->part[part];
    for (size_t i = 0; i < count; i++)
        input[i] = htole64(input[i]);
    uint64_t hash = XXH64(input, sizeof input, 0);
    for (int i = FINGERPRINT_TEXT - 2; i >= 0; i--, hash >>= 4)
        out[i] = "0123456789abcdef"[hash & 15];
    out[FINGERPRINT_TEXT - 1] = '\0';
}

/* Increase it if any sample of a height region changes, in any format. */
enum { REGION_VERSION = 0 };
enum { HEIGHTS = 1 << WORLD_HEIGHTS, DENSITY = 1 << WORLD_DENSITY, GRID = 1 << WORLD_GRID };

static void make_tile_fingerprints(char out[TILE_KINDS][FINGERPRINT_TEXT],
                                   const struct world_config *config,
                                   const struct parameters *parameters, uint64_t seed,
                                   const struct webp_config *webp)
{
    for (int i = 0; layers[i].name; i++) {
        struct product tiles = {layers[i].name, HEIGHTS | GRID | layers[i].parts, layers[i].version,
                                IMAGE_VERSION};
        make_fingerprint(out[i], tiles, config, seed, parameters);
        tiles.encoder = webp_writer_identity(webp);
        if (layers[i].formats & 1U << FORMAT_WEBP)
            make_fingerprint(out[tile_kind(i, FORMAT_WEBP)], tiles, config, seed, parameters);
    }
}

void parameters_make(struct parameters *out, const struct world_config *config,
                     const struct webp_config *webp)
{
    config_world_visit(config, add_parameter, out);
    make_tile_fingerprints(out->family, config, out, 0, webp);
}

void fingerprints_make(struct fingerprints *out, const struct world_config *config,
                       const struct parameters *parameters, uint64_t seed,
                       const struct webp_config *webp)
{
    /* A region's samples are those of exact tiles of "height", in each format. */
    const struct product regions = {"region", HEIGHTS, REGION_VERSION, IMAGE_VERSION},
                         volumes = {"volume", HEIGHTS | DENSITY, 0, 0};

    make_fingerprint(out->region, regions, config, seed, parameters);
    make_fingerprint(out->volume, volumes, config, seed, parameters);
    make_tile_fingerprints(out->tile, config, parameters, seed, webp);
}
