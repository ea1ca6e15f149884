/* The table of options. config/farlands.yaml explains each and gives its default. */
#include "options.h"

#include <string.h>

#include "config.h"

static const char *const levels[] = {"error", "warning", "info", "debug", NULL};
/* In the order of the enumerations of noise/farlands.h. */
static const char *const bases[] = {"perlin", "simplex", "cellular", "value", NULL};
static const char *const gradients[] = {"axis4", "diagonal4", "unit8", "integer8", "unit256", NULL};
static const char *const fades[] = {"linear", "cubic", "quintic", NULL};
static const char *const hashes[] = {"mix64", "permutation", NULL};
static const char *const fractals[] = {"none", "fbm", "billow", "ridged", "hybrid", NULL};

/* In the order of config.h's. */
static const char *const seeds[] = {"fixed", "any", NULL};

#define AT_NOISE(member) offsetof(struct world_config, terrain.member)

static const struct option warp_options[] = {
    {"amplitude", OPTION_BLOCKS, AT_NOISE(warp.amplitude), 0, 0x1p40, .accepted = NULL},
    {"wavelength", OPTION_BLOCKS, AT_NOISE(warp.wavelength), 0, 0x1p40, .accepted = NULL},
    {0},
};

static const struct option noise_options[] = {
    {"basis", OPTION_CHOICE, AT_NOISE(basis), .choices = bases},
    {"gradients", OPTION_CHOICE, AT_NOISE(gradients), .choices = gradients},
    {"fade", OPTION_CHOICE, AT_NOISE(fade), .choices = fades},
    {"hash", OPTION_CHOICE, AT_NOISE(hash), .choices = hashes},
    {"octave_salt", OPTION_FLAG, AT_NOISE(octave_salt), .choices = NULL},
    {"fractal", OPTION_CHOICE, AT_NOISE(fractal), .choices = fractals},
    {"wavelength", OPTION_BLOCKS, AT_NOISE(wavelength), 2 / 1024.0, 0x1p40, .accepted = NULL},
    {"octaves", OPTION_INTEGER, AT_NOISE(octaves), 1, FARLANDS_MAX_OCTAVES, .accepted = NULL},
    {"persistence", OPTION_REAL, AT_NOISE(persistence), 0, 1,
     .accepted = "a number above 0 and up to 1"},
    {"lacunarity", OPTION_REAL, AT_NOISE(lacunarity), 1, FARLANDS_MAX_LACUNARITY,
     .accepted = "a number from 1 to 1024"},
    {"offset", OPTION_REAL, AT_NOISE(offset), 0, FARLANDS_MAX_OFFSET,
     .accepted = "a number from 0 to 16"},
    {"gain", OPTION_REAL, AT_NOISE(gain), 0, FARLANDS_MAX_GAIN,
     .accepted = "a number from 0 to 1024"},
    {"warp", OPTION_SECTION, .options = warp_options},
    {0},
};

/* A volume's noise in space: the same keys for each. */
#define SPACE_OPTIONS(member)                                                                 \
    {"wavelength", OPTION_BLOCKS, AT_NOISE(volume.member.noise.wavelength),                   \
     2 / 1024.0,   16384,         .accepted = NULL},                                          \
        {"octaves",                                                                           \
         OPTION_INTEGER,                                                                      \
         AT_NOISE(volume.member.noise.octaves),                                               \
         1,                                                                                   \
         FARLANDS_MAX_VOLUME_OCTAVES,                                                         \
         .accepted = NULL},                                                                   \
        {"persistence",                                                                       \
         OPTION_REAL,                                                                         \
         AT_NOISE(volume.member.noise.persistence),                                           \
         0,                                                                                   \
         1,                                                                                   \
         .accepted = "a number above 0 and up to 1"},                                         \
        {"lacunarity",                                                                        \
         OPTION_REAL,                                                                         \
         AT_NOISE(volume.member.noise.lacunarity),                                            \
         1,                                                                                   \
         FARLANDS_MAX_LACUNARITY,                                                             \
         .accepted = "a number from 1 to 1024"},                                              \
    {                                                                                         \
        "squash", OPTION_REAL, AT_NOISE(volume.member.noise.squash), 1 / FARLANDS_MAX_SQUASH, \
            FARLANDS_MAX_SQUASH, .accepted = "a number from 0.0625 to 16"                     \
    }

static const struct option overhangs_options[] = {
    {"amplitude", OPTION_BLOCKS, AT_NOISE(volume.overhangs.amplitude), 0, 16384, .accepted = NULL},
    {"threshold", OPTION_REAL, AT_NOISE(volume.overhangs.threshold), 0, 1,
     .accepted = "a number from 0 to 1"},
    SPACE_OPTIONS(overhangs),
    {0},
};

static const struct option caverns_options[] = {
    {"size", OPTION_REAL, AT_NOISE(volume.caverns.size), 0, 1, .accepted = "a number from 0 to 1"},
    {"cover", OPTION_BLOCKS, AT_NOISE(volume.caverns.cover), 0, 16384, .accepted = NULL},
    SPACE_OPTIONS(caverns),
    {0},
};

static const struct option tunnels_options[] = {
    {"radius", OPTION_BLOCKS, AT_NOISE(volume.tunnels.radius), 0, 16384, .accepted = NULL},
    {"cover", OPTION_BLOCKS, AT_NOISE(volume.tunnels.cover), 0, 16384, .accepted = NULL},
    SPACE_OPTIONS(tunnels),
    {0},
};

static const struct option volume_options[] = {
    {"overhangs", OPTION_SECTION, .options = overhangs_options},
    {"caverns", OPTION_SECTION, .options = caverns_options},
    {"tunnels", OPTION_SECTION, .options = tunnels_options},
    {0},
};

const struct option world_options[] = {
    {"name", OPTION_NAME, offsetof(struct world_config, name), 0, WORLD_NAME_MAX,
     .accepted = "1 to 63 of the characters a-z 0-9 _ -, beginning with a letter or digit"},
    {"seed", OPTION_SEED, AT_NOISE(seed), .accepted = "a whole number from 0 to 2^64-1"},
    {"seeds", OPTION_CHOICE, offsetof(struct world_config, seeds), .choices = seeds},
    {"native_zoom", OPTION_INTEGER, offsetof(struct world_config, native_zoom), 0, 32,
     .accepted = NULL},
    {"origin", OPTION_PLACE, offsetof(struct world_config, origin), -0x1p51, 0x1p51,
     .accepted = "[x, y], each from -2251799813685248 to 2251799813685248 blocks (2^51), with at "
                 "most 10 fractional bits"},
    {"wrap", OPTION_FLAG, offsetof(struct world_config, wrap), .choices = NULL},
    {"noise", OPTION_SECTION, .options = noise_options},
    {"elevation", OPTION_ELEVATION, offsetof(struct world_config, terrain),
     .accepted = "2 to 32 pairs [noise, metres], noise ascending"},
    {"volume", OPTION_SECTION, .options = volume_options},
    {"palette", OPTION_PALETTE, 0,
     .accepted = "2 to 64 pairs [metres, \"#rrggbb\"], metres ascending"},
    {"layers", OPTION_LAYERS, offsetof(struct world_config, layers), .accepted = NULL},
    {0},
};

static const struct option cache_options[] = {
    {"path", OPTION_TEXT, offsetof(struct config, cache.path), 0, CONFIG_TEXT_MAX,
     .accepted = "a folder's path"},
    {"disk", OPTION_SIZE, offsetof(struct config, cache.disk), 0x1p20, 0x1p50,
     .accepted = "a size from 1M to 1024T such as 10G"},
    {"files", OPTION_COUNT, offsetof(struct config, cache.files), 100, 1e9, .accepted = NULL},
    {"memory", OPTION_SIZE, offsetof(struct config, cache.memory), 0, 0x1p50,
     .accepted = "a size from 0 to 1024T such as 256M"},
    {0},
};

static const struct option limits_options[] = {
    {"connections", OPTION_COUNT, offsetof(struct config, limits.connections), 1, 1000000,
     .accepted = NULL},
    {"connections_per_client", OPTION_COUNT, offsetof(struct config, limits.connections_per_client),
     0, 1000000, .accepted = NULL},
    {"queue", OPTION_COUNT, offsetof(struct config, limits.queue), 1, 1000000, .accepted = NULL},
    {"wait", OPTION_COUNT, offsetof(struct config, limits.wait), 1, 60000, .accepted = NULL},
    {"misses_per_client", OPTION_COUNT, offsetof(struct config, limits.misses_per_client), 0,
     1000000, .accepted = NULL},
    {"streams", OPTION_COUNT, offsetof(struct config, limits.streams), 1, 1000000,
     .accepted = NULL},
    {"streams_per_client", OPTION_COUNT, offsetof(struct config, limits.streams_per_client), 0,
     1000000, .accepted = NULL},
    {0},
};

const struct option config_options[] = {
    {"listen", OPTION_LISTEN, offsetof(struct config, listen), 0,
     sizeof((struct config *)0)->listen,
     .accepted = "HOST:PORT, or in quotes \"[HOST]:PORT\", port 0 to 65535"},
    {"public_url", OPTION_URL, offsetof(struct config, site.public_url),
     .accepted = "empty, or http:// or https:// with a host and perhaps a port and a path, such as "
                 "https://tiles.example.org/terrain"},
    {"base_path", OPTION_PATH, offsetof(struct config, site.base_path),
     .accepted = "empty, or a path such as /terrain or /a/b, its parts of letters, digits and "
                 "- _ . ~"},
    {"proxies", OPTION_NETWORKS, offsetof(struct config, site.proxies),
     .accepted = "a list of up to 64 addresses and networks such as 127.0.0.1, 10.0.0.0/8 and "
                 "\"fd00::/8\", without bits beyond the network's"},
    {"shards", OPTION_COUNT, offsetof(struct config, shards), 0, 64, .accepted = NULL},
    {"threads", OPTION_COUNT, offsetof(struct config, threads), 0, 256, .accepted = NULL},
    {"log", OPTION_CHOICE, offsetof(struct config, log), .choices = levels},
    {"access_log", OPTION_TEXT, offsetof(struct config, access_log), 0, CONFIG_TEXT_MAX,
     .accepted = "a file's path, \"-\" for standard output, or empty"},
    {"cache", OPTION_SECTION, .options = cache_options},
    {"limits", OPTION_SECTION, .options = limits_options},
    {"worlds", OPTION_WORLDS, .options = world_options},
    {0},
};

const struct option *option_find(const struct option *options, const char *key, size_t length)
{
    for (; options->key; options++)
        if (strlen(options->key) == length && memcmp(options->key, key, length) == 0)
            return options;
    return NULL;
}
