/* The table of a world's options, and their defaults; config/farlands.yaml explains each key. */
#include "world_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exact_numbers.h"

/* In the order of the enumerations of noise/params.h. */
static const char *const bases[] = {"perlin", "simplex", "cellular", "value", NULL};
static const char *const gradients[] = {"axis4", "diagonal4", "unit8", "integer8", "unit256", NULL};
static const char *const fades[] = {"linear", "cubic", "quintic", NULL};
static const char *const hashes[] = {"mix64", "permutation", NULL};
static const char *const fractals[] = {"none", "fbm", "billow", "ridged", "hybrid", NULL};
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

#define AT(member) offsetof(struct world_config, member)
#define INTEGER(key, member, min, max)                              \
    {                                                               \
        key, OPTION_INTEGER, AT(member), min, max, .expected = NULL \
    }
#define REAL(key, member, min, max)                              \
    {                                                            \
        key, OPTION_REAL, AT(member), min, max, .expected = NULL \
    }
#define BLOCKS(key, member, min, max)                              \
    {                                                              \
        key, OPTION_BLOCKS, AT(member), min, max, .expected = NULL \
    }
/* 0 itself is refused by params_fault. */
#define PERSISTENCE(member)                                                                      \
    {                                                                                            \
        "persistence", OPTION_REAL, AT(member), 0, 1, .expected = "a number above 0 and up to 1" \
    }

#define MIN_WAVELENGTH (2 / 1024.0) /* FARLANDS_MIN_WAVELENGTH in blocks */

static const struct option warp_options[] = {
    BLOCKS("amplitude", terrain.warp.amplitude, 0, 0x1p40),
    BLOCKS("wavelength", terrain.warp.wavelength, 0, 0x1p40),
    {0},
};

static const struct option noise_options[] = {
    {"basis", OPTION_CHOICE, AT(terrain.basis), .choices = bases},
    {"gradients", OPTION_CHOICE, AT(terrain.gradients), .choices = gradients},
    {"fade", OPTION_CHOICE, AT(terrain.fade), .choices = fades},
    {"hash", OPTION_CHOICE, AT(terrain.hash), .choices = hashes},
    {"octave_salt", OPTION_FLAG, .offset = AT(terrain.octave_salt)},
    {"fractal", OPTION_CHOICE, AT(terrain.fractal), .choices = fractals},
    BLOCKS("wavelength", terrain.wavelength, MIN_WAVELENGTH, 0x1p40),
    INTEGER("octaves", terrain.octaves, 1, FARLANDS_MAX_OCTAVES),
    PERSISTENCE(terrain.persistence),
    REAL("lacunarity", terrain.lacunarity, 1, FARLANDS_MAX_LACUNARITY),
    REAL("offset", terrain.offset, 0, FARLANDS_MAX_OFFSET),
    REAL("gain", terrain.gain, 0, FARLANDS_MAX_GAIN),
    {"warp", OPTION_SECTION, .options = warp_options},
    {0},
};

/* The keys that all of a volume's noises have. */
#define SPACE_NOISE(section)                                                                      \
    BLOCKS("wavelength", terrain.volume.section.noise.wavelength, MIN_WAVELENGTH, 16384),         \
        INTEGER("octaves", terrain.volume.section.noise.octaves, 1, FARLANDS_MAX_VOLUME_OCTAVES), \
        PERSISTENCE(terrain.volume.section.noise.persistence),                                    \
        REAL("lacunarity", terrain.volume.section.noise.lacunarity, 1, FARLANDS_MAX_LACUNARITY),  \
        REAL("squash", terrain.volume.section.noise.squash, 1 / FARLANDS_MAX_SQUASH,              \
             FARLANDS_MAX_SQUASH)

static const struct option overhangs_options[] = {
    BLOCKS("amplitude", terrain.volume.overhangs.amplitude, 0, 16384),
    REAL("threshold", terrain.volume.overhangs.threshold, 0, 1),
    SPACE_NOISE(overhangs),
    {0},
};

static const struct option caverns_options[] = {
    REAL("size", terrain.volume.caverns.size, 0, 1),
    BLOCKS("cover", terrain.volume.caverns.cover, 0, 16384),
    SPACE_NOISE(caverns),
    {0},
};

static const struct option tunnels_options[] = {
    BLOCKS("radius", terrain.volume.tunnels.radius, 0, 16384),
    BLOCKS("cover", terrain.volume.tunnels.cover, 0, 16384),
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
    {"seed", OPTION_SEED, AT(terrain.seed), .expected = "a whole number from 0 to 2^64-1"},
    {"seeds", OPTION_CHOICE, AT(seeds), .choices = seeds},
    {"native_zoom", OPTION_INTEGER, AT(native_zoom), 0, 32, .part = WORLD_GRID},
    {"origin", OPTION_ORIGIN, AT(origin), -0x1p51, 0x1p51, .part = WORLD_GRID,
     .expected = "[x, y], each from -2251799813685248 to 2251799813685248 blocks (2^51), with at "
                 "most 10 fractional bits"},
    {"wrap", OPTION_FLAG, .offset = AT(wrap)},
    {"noise", OPTION_SECTION, .options = noise_options, .part = WORLD_HEIGHTS},
    {"elevation", OPTION_ELEVATION, AT(terrain), .part = WORLD_HEIGHTS,
     .expected = "2 to 32 pairs [noise, metres], noise ascending"},
    {"volume", OPTION_SECTION, .options = volume_options, .part = WORLD_DENSITY},
    {"palette", OPTION_PALETTE, 0, .part = WORLD_COLORS,
     .expected = "2 to 64 pairs [metres, \"#rrggbb\"], metres ascending"},
    {"layers", OPTION_LAYERS, .offset = AT(layers)},
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
    .layers = UINT32_MAX,
};

bool world_key_is_ignored(const char *key, size_t length)
{
    static const char *const keys[] = {
        "palette", "layers", "fingerprint", "range", "tile_size", "limits", "urls", "generator",
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strlen(keys[i]) == length && memcmp(keys[i], key, length) == 0)
            return true;
    return false;
}

static void format_elevation(const struct farlands_params *params, char *buffer, size_t size)
{
    char noise[REAL_TEXT], metres[REAL_TEXT];
    size_t used = 0;
    for (int i = 0; i < params->knots && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s[%s,%s]", i ? "," : "[",
                                 float_format(params->elevation[i].noise, noise),
                                 float_format(params->elevation[i].metres, metres));
    if (used < size)
        snprintf(buffer + used, size - used, "]");
}

static void format_palette(const struct world_config *world, char *buffer, size_t size)
{
    char metres[REAL_TEXT];
    size_t used = 0;
    for (int i = 0; i < world->stops && used < size; i++) {
        const struct palette_stop *stop = &world->palette[i];
        used += (size_t)snprintf(buffer + used, size - used, "%s[%s,\"#%02x%02x%02x\"]",
                                 i ? "," : "[", float_format(stop->metres, metres), stop->red,
                                 stop->green, stop->blue);
    }
    if (used < size)
        snprintf(buffer + used, size - used, "]");
}

bool world_option_format(const struct option *option, const struct world_config *world,
                         char *buffer, size_t size)
{
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT];

    switch (option->kind) {
    case OPTION_ORIGIN:
        snprintf(buffer, size, "[%s,%s]", blocks_format(world->origin[0], x),
                 blocks_format(world->origin[1], y));
        return false;
    case OPTION_ELEVATION:
        format_elevation(&world->terrain, buffer, size);
        return false;
    case OPTION_PALETTE:
        format_palette(world, buffer, size);
        return false;
    default:
        return option_format(option, world, buffer, size);
    }
}

struct visit {
    const struct world_config *world;
    world_visitor *visitor;
    void *context;
};

/* Visit OPTIONS, whose keys begin with PREFIX. They belong to PART, or to a part each. */
static void visit_options(const struct visit *visit, const struct option *options,
                          const char *prefix, int part)
{
    for (; options->key; options++) {
        char name[64], value[OPTION_TEXT_MAX], other[OPTION_TEXT_MAX];
        const bool section = options->kind == OPTION_SECTION;
        const int own = part ? part : options->part;
        if (options->kind == OPTION_LAYERS)
            continue;
        snprintf(name, sizeof name, "%s%s%s", prefix, options->key, section ? "." : "");
        if (section) {
            visit_options(visit, options->options, name, own);
            continue;
        }
        struct world_key key = {.name = name, .value = value, .part = (enum world_part)own};
        key.quoted = world_option_format(options, visit->world, value, sizeof value);
        world_option_format(options, &world_defaults, other, sizeof other);
        key.is_default = strcmp(value, other) == 0;
        visit->visitor(visit->context, &key);
    }
}

void config_world_visit(const struct world_config *world, world_visitor *visitor, void *context)
{
    visit_options(&(struct visit){world, visitor, context}, world_options, "", WORLD_IDENTITY);
}
