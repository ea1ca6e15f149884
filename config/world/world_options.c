/* The table of a world's options, and their defaults; config/farlands.yaml explains each key. */
#include "world_options.h"

#include <errno.h>
#include <string.h>

#include "config/fields/noise_keys.h"
#include "config/values/seed.h"

/* In the order of enum world_seeds. */
static const char *const seeds[] = {"fixed", "any", NULL};

static int parse_name(char *out, const char *text, size_t length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    if (length == 0 || length >= WORLD_NAME_MAX || text[0] == '_' || text[0] == '-')
        return -EINVAL;
    for (size_t i = 0; i < length; i++)
        if (!memchr(letters, text[i], sizeof letters - 1))
            return -EINVAL;
    memcpy(out, text, length);
    out[length] = '\0';
    return 0;
}

static int parse_about(char *out, const char *text, size_t length)
{
    return option_parse_line(out, WORLD_ABOUT_MAX, text, length);
}

#define AT(member) offsetof(struct world_config, member)

static const struct option warp_options[] = {
    KEYS_OF_WARP(struct world_config, terrain),
    {0},
};

static const struct option noise_options[] = {
    KEYS_OF_NOISE(struct world_config, terrain, warp_options),
    {0},
};

/* The keys that all of a volume's noises have. */
#define SPACE_NOISE(section)                                                                  \
    KEY_BLOCKS("wavelength", AT(terrain.volume.section.noise.wavelength), KEY_MIN_WAVELENGTH, \
               16384),                                                                        \
        KEY_INTEGER("octaves", AT(terrain.volume.section.noise.octaves), 1,                   \
                    FARLANDS_MAX_VOLUME_OCTAVES),                                             \
        KEY_PERSISTENCE(AT(terrain.volume.section.noise.persistence)),                        \
        KEY_LACUNARITY(AT(terrain.volume.section.noise.lacunarity)),                          \
        KEY_REAL("squash", AT(terrain.volume.section.noise.squash), 1 / FARLANDS_MAX_SQUASH,  \
                 FARLANDS_MAX_SQUASH)

static const struct option overhangs_options[] = {
    KEY_BLOCKS("amplitude", AT(terrain.volume.overhangs.amplitude), 0, 16384),
    KEY_REAL("threshold", AT(terrain.volume.overhangs.threshold), 0, 1),
    SPACE_NOISE(overhangs),
    {0},
};

static const struct option caverns_options[] = {
    KEY_REAL("size", AT(terrain.volume.caverns.size), 0, 1),
    KEY_BLOCKS("cover", AT(terrain.volume.caverns.cover), 0, 16384),
    SPACE_NOISE(caverns),
    {0},
};

static const struct option tunnels_options[] = {
    KEY_BLOCKS("radius", AT(terrain.volume.tunnels.radius), 0, 16384),
    KEY_BLOCKS("cover", AT(terrain.volume.tunnels.cover), 0, 16384),
    SPACE_NOISE(tunnels),
    {0},
};

static const struct option volume_options[] = {
    {"overhangs", OPTION_SECTION, .options = overhangs_options},
    {"caverns", OPTION_SECTION, .options = caverns_options},
    {"tunnels", OPTION_SECTION, .options = tunnels_options},
    {0},
};

const struct option world_options[] = {
    {"name", OPTION_TEXT, AT(name), .parse = parse_name,
     .expected = "1 to 63 of the characters a-z 0-9 _ -, beginning with a letter or digit"},
    {"seed", OPTION_SEED, AT(terrain.seed), .expected = SEED_EXPECTED},
    {"seeds", OPTION_CHOICE, AT(seeds), .choices = seeds},
    {"native_zoom", OPTION_INTEGER, AT(native_zoom), 0, 32, .part = WORLD_GRID},
    {"origin", OPTION_ORIGIN, AT(origin), -0x1p51, 0x1p51, .part = WORLD_GRID,
     .expected = "[x, y], each from -2251799813685248 to 2251799813685248 blocks (2^51), with at "
                 "most 10 fractional bits"},
    {"wrap", OPTION_FLAG, .offset = AT(wrap)},
    {"noise", OPTION_SECTION, .options = noise_options, .part = WORLD_HEIGHTS},
    {"elevation", OPTION_ELEVATION, AT(terrain), .part = WORLD_HEIGHTS,
     .expected = "2 to 32 pairs [noise, metres], noise ascending"},
    {"fields", OPTION_FIELDS, AT(fields), .part = WORLD_HEIGHTS},
    {"volume", OPTION_SECTION, .options = volume_options, .part = WORLD_DENSITY},
    {"palette", OPTION_PALETTE, 0, .part = WORLD_COLORS,
     .expected = "2 to 64 pairs [metres, \"#rrggbb\"], metres ascending"},
    {"exaggeration", OPTION_REAL, AT(exaggeration), 0, 100, .part = WORLD_SHADING},
    {"about", OPTION_TEXT, AT(about), .parse = parse_about,
     .expected = "a line of text of at most 200 bytes"},
    {"layers", OPTION_LAYERS, .offset = AT(layers)},
    {"like", OPTION_LIKE, .part = WORLD_IDENTITY},
    {"file", OPTION_LIKE, .part = WORLD_IDENTITY, .expected = "the path of a saved /{world}.json"},
    {0},
};

#define BLOCKS_OF(blocks) (INT64_C(blocks) * FARLANDS_UNIT)

#define SPACE(wavelength, octaves, persistence, lacunarity, squash)     \
    {                                                                   \
        BLOCKS_OF(wavelength), octaves, persistence, lacunarity, squash \
    }

const struct world_config world_defaults = {
    .seeds = SEEDS_FIXED,
    .native_zoom = 16,
    .origin = {BLOCKS_OF(-8388608), BLOCKS_OF(-8388608)},
    .terrain.seed = 2,
    .terrain.basis = FARLANDS_PERLIN,
    .terrain.gradients = FARLANDS_UNIT256,
    .terrain.fade = FARLANDS_QUINTIC,
    .terrain.hash = FARLANDS_MIX64,
    .terrain.fractal = FARLANDS_FBM,
    .terrain.wavelength = BLOCKS_OF(1048576),
    .terrain.octaves = 21,
    .terrain.persistence = 0.55,
    .terrain.lacunarity = 2,
    .terrain.offset = 1,
    .terrain.gain = 2,
    .terrain.elevation = {{-0.45f, -6500},
                          {-0.20f, -3800},
                          {-0.10f, -1400},
                          {-0.04f, -220},
                          {0, 0},
                          {0.02f, 70},
                          {0.07f, 300},
                          {0.14f, 800},
                          {0.21f, 1700},
                          {0.30f, 3300},
                          {0.45f, 6000}},
    .terrain.knots = 11,
    .terrain.volume.overhangs = {BLOCKS_OF(40), 0.15, SPACE(64, 3, 0.5, 2, 2)},
    .terrain.volume.caverns = {0.7, BLOCKS_OF(32), SPACE(128, 3, 0.5, 2, 2)},
    .terrain.volume.tunnels = {BLOCKS_OF(6), 0, SPACE(128, 2, 0.4, 2, 2)},
    .palette = {{-6500, 0x0a, 0x23, 0x42}, {-3800, 0x10, 0x37, 0x5f}, {-1800, 0x1a, 0x54, 0x82},
                {-600, 0x2a, 0x76, 0xa3},  {-180, 0x47, 0x98, 0xb8},  {-40, 0x79, 0xbf, 0xca},
                {0, 0xab, 0xdc, 0xd6},     {0, 0xeb, 0xe0, 0xba},     {8, 0xdd, 0xd6, 0xa2},
                {30, 0xb3, 0xc2, 0x7c},    {110, 0x8a, 0xad, 0x63},   {350, 0x62, 0x91, 0x50},
                {700, 0x5f, 0x85, 0x4a},   {1050, 0x86, 0x89, 0x5a},  {1500, 0x9c, 0x84, 0x66},
                {2100, 0x9d, 0x8d, 0x80},  {2700, 0xb0, 0xaa, 0xa6},  {3100, 0xc6, 0xcc, 0xd1},
                {3600, 0xd9, 0xdf, 0xe5},  {6500, 0xe4, 0xea, 0xf0}},
    .stops = 20,
    .exaggeration = 1,
    .layers = UINT32_MAX,
};

bool world_key_is_ignored(const char *key, size_t length)
{
    static const char *const keys[] = {
        "palette", "biomes", "exaggeration", "about",  "layers", "fingerprint",
        "range",   "ranges", "tile_size",    "limits", "urls",   "generator",
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strlen(keys[i]) == length && memcmp(keys[i], key, length) == 0)
            return true;
    return false;
}
