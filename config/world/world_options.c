/* The table of a world's keys, and their defaults. */
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

/* Rows for the noise of a volume's SECTION. */
#define SPACE_NOISE(section)                                                                  \
    KEY_BLOCKS("wavelength", AT(terrain.volume.section.noise.wavelength), KEY_MIN_WAVELENGTH, \
               16384, "The cells' width in the first octave."),                               \
        KEY_INTEGER("octaves", AT(terrain.volume.section.noise.octaves), 1,                   \
                    FARLANDS_MAX_VOLUME_OCTAVES, "Octaves, as above."),                       \
        KEY_PERSISTENCE(AT(terrain.volume.section.noise.persistence)),                        \
        KEY_LACUNARITY(AT(terrain.volume.section.noise.lacunarity)),                          \
        KEY_REAL("squash", AT(terrain.volume.section.noise.squash), 1 / FARLANDS_MAX_SQUASH,  \
                 FARLANDS_MAX_SQUASH, "The cells' width relative to their height.")

static const struct option overhangs_options[] = {
    KEY_BLOCKS("amplitude", AT(terrain.volume.overhangs.amplitude), 0, 16384,
               "The surface moves by at most half as much. 0: no overhangs."),
    KEY_REAL("threshold", AT(terrain.volume.overhangs.threshold), 0, 1,
             "How rare overhangs are: 0 affects everything, above 0.4 hardly any are left. "
             "With `fields`: the share of ledges that is left out, the smallest first."),
    SPACE_NOISE(overhangs),
    {0},
};

static const struct option caverns_options[] = {
    KEY_REAL("size", AT(terrain.volume.caverns.size), 0, 1,
             "0: none; 0.7: now and then; above 0.9 the ground is foam."),
    KEY_BLOCKS("cover", AT(terrain.volume.caverns.cover), 0, 16384,
               "The depth over which caverns open up. 0: they break through the surface. With "
               "`fields` at least 16."),
    SPACE_NOISE(caverns),
    {0},
};

static const struct option tunnels_options[] = {
    KEY_BLOCKS("radius", AT(terrain.volume.tunnels.radius), 0, 16384,
               "The passages' approximate radius. 0: none."),
    KEY_BLOCKS("cover", AT(terrain.volume.tunnels.cover), 0, 16384,
               "As for caverns; with 0, passages end in daylight."),
    SPACE_NOISE(tunnels),
    {0},
};

static const struct option volume_options[] = {
    {"overhangs", OPTION_SECTION, .options = overhangs_options,
     HELP("Ledges and arches: moves the surface up or down if the noise exceeds the "
          "threshold. With `fields`: ledges on steep ground, at most one per square of "
          "half a wavelength.")},
    {"caverns", OPTION_SECTION, .options = caverns_options,
     HELP("Halls: hollow if the noise exceeds 1 - size.")},
    {"tunnels", OPTION_SECTION, .options = tunnels_options,
     HELP("Winding passages, along the curves on which two such noises are 0.")},
    {0},
};

const struct option world_options[] = {
    {"name", OPTION_TEXT, AT(name), .parse = parse_name,
     .expected = "1 to 63 of the characters a-z 0-9 _ -, beginning with a letter or digit",
     HELP("URLs begin with the name. Required, unless `like` or `file` has one; viewer, "
          "healthz, readyz, metrics and worlds are reserved.")},
    {"seed", OPTION_SEED, AT(terrain.seed), .expected = SEED_EXPECTED,
     HELP("Each seed is another terrain with the same character. -1 is 2^64-1, as in "
          "languages with signed integers, and text is hashed.")},
    {"seeds", OPTION_CHOICE, AT(seeds), .choices = seeds,
     HELP("fixed: clients get this seed alone. any: clients may request every other seed, "
          "too, as name:seed in place of the name.")},
    {"native_zoom", OPTION_INTEGER, AT(native_zoom), 0, 32, .part = WORLD_GRID,
     HELP("The zoom at which a sample is one block. If this is one more, a tile at the "
          "same zoom is twice as wide.")},
    {"origin", OPTION_ORIGIN, AT(origin), -0x1p51, 0x1p51, .part = WORLD_GRID,
     .expected = "[x, y], each from -2251799813685248 to 2251799813685248 blocks (2^51), with at "
                 "most 10 fractional bits",
     HELP("The block where tile 0 has sample 0. By default block [0, 0] is in the middle "
          "of the square that web maps show: 2^z tiles per side, starting at tile 0.")},
    {"wrap", OPTION_FLAG, .offset = AT(wrap),
     HELP("Repeats the terrain with the square that web maps show, 256 * 2^native_zoom "
          "blocks wide, so that its copies on a map join. All wavelengths must divide "
          "that width; not with simplex.")},
    {"noise", OPTION_SECTION, .options = noise_options, .part = WORLD_HEIGHTS,
     HELP("A noise: octaves of a basis, combined into one number per place.")},
    {"elevation", OPTION_ELEVATION, AT(terrain), .part = WORLD_HEIGHTS,
     .expected = "2 to 32 pairs [noise, metres], noise ascending",
     HELP("Noise to metres, linear between the pairs and constant outside. 0 metres is "
          "sea level. Steep pieces are cliffs, flat ones plains and shelves; a piece that "
          "falls turns peaks into craters.")},
    {"fields", OPTION_FIELDS, AT(fields), .part = WORLD_HEIGHTS,
     HELP("In place of `noise` and `elevation`: a graph with many noises. A field is a "
          "number, another field's name, or a node with fields as inputs. The field "
          "`height` is the height in metres.")},
    {"volume", OPTION_SECTION, .options = volume_options, .part = WORLD_DENSITY,
     HELP("The density in space, for voxels: in blocks, positive in the ground, negative "
          "in the air. Density starts from the height less the altitude, and three parts "
          "change it by Perlin noise in space, with the hash and fade above. Heights and "
          "pictures stay as they are.")},
    {"palette", OPTION_PALETTE, 0, .part = WORLD_COLORS,
     .expected = "2 to 64 pairs [metres, \"#rrggbb\"], metres ascending",
     HELP("Heights to colors, linear between the pairs. Two colors at one height make an "
          "edge, such as a coast. If the world has biomes, they color the land.")},
    {"exaggeration", OPTION_REAL, AT(exaggeration), 0, 100, .part = WORLD_SHADING,
     HELP("In shaded pictures (relief, hillshade) the ground is drawn 2 * sqrt(1 + s / "
          "16) times as high, with s blocks between samples: 2 close up, 4.5 at zoom 10, "
          "32 at zoom 4. This key is a further factor: 0.5 suits spires, 3 suits dunes.")},
    {"about", OPTION_TEXT, AT(about), .parse = parse_about,
     .expected = "a line of text of at most 200 bytes",
     HELP("What the world is, for people who choose one: the viewer, /worlds.json and the "
          "description in TileJSON have this line.")},
    {"layers", OPTION_LAYERS, .offset = AT(layers),
     HELP("The layers that the world serves; field stands for all layers field.NAME. "
          "terrarium encodes -32768 to 32767 metres and terrain-rgb -10000 to 1667721, so "
          "a world with other heights must leave the layer out. biome needs a field "
          "`biome` with a table.")},
    {"like", OPTION_LIKE, .part = WORLD_IDENTITY,
     HELP("A built-in world: default, archipelago or alps. Keys that are omitted, even "
          "the name, take its values instead of the defaults.")},
    {"file", OPTION_LIKE, .part = WORLD_IDENTITY, .expected = "the path of a saved /{world}.json",
     HELP("Keys that are omitted, even the name, take this document's values; not with "
          "`like`. A relative path begins at the configuration's directory.")},
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
