/* The table of node kinds: keys, inputs, bounds and defaults. */
#include "field_nodes.h"

#include <math.h>
#include <string.h>

#include "config/fields/noise_keys.h"

/* The names of the operations. */
static const struct {
#define OPERATION(kind, name, ...) char operation_##kind[sizeof name];
#include "noise/graph/operations.def"
#undef OPERATION
} name_of = {
#define OPERATION(kind, name, ...) name,
#include "noise/graph/operations.def"
#undef OPERATION
};

#define AT(member) offsetof(struct node_values, member)
#define INPUT(key, i)                                                                  \
    {                                                                                  \
        key, OPTION_FIELD, AT(input) + (i) * sizeof(int), .expected = FIELD_EXPRESSION \
    }
#define NUMBER(key, i, min, max, help) \
    KEY_REAL(key, AT(number) + (i) * sizeof(double), min, max, help)
#define SALT                                         \
    KEY_INTEGER("salt", AT(salt), 0, FIELD_MAX_SALT, \
                "Sets it apart from others in the world. By default it is made from the path.")
#define OF INPUT("of", 0)
#define OF_TWO                                                     \
    {                                                              \
        "of", OPTION_FIELD_PAIR, AT(input), .expected = FIELD_PAIR \
    }

static const struct option warp_keys[] = {
    KEYS_OF_WARP(struct node_values, noise),
    {0},
};
static const struct option move_keys[] = {
    INPUT("x", 0),
    INPUT("y", 1),
    NUMBER("by", 0, -0x1p30, 0x1p30, NULL),
    {0},
};
static const struct option noise_keys[] = {
    KEYS_OF_NOISE(struct node_values, noise, warp_keys),
    {"elevation", OPTION_ELEVATION, AT(noise),
     .expected = "2 to 32 pairs [noise, metres], noise ascending"},
    {"move", OPTION_SECTION, .options = move_keys},
    SALT,
    {0},
};
static const struct option damped_keys[] = {
    KEYS_OF_LATTICE(struct node_values, noise),
    KEYS_OF_OCTAVES(struct node_values, noise),
    NUMBER("damping", 0, 0, 1000, NULL),
    SALT,
    {0},
};
static const struct option erode_keys[] = {
    OF,
    KEY_BLOCKS("wavelength", AT(noise.wavelength), KEY_MIN_WAVELENGTH, 16384,
               "The distance between the largest gullies."),
    KEY_INTEGER("octaves", AT(noise.octaves), 1, FARLANDS_MAX_OCTAVES,
                "Gullies come in so many sizes, each finer than the one before."),
    KEY_REAL("lacunarity", AT(noise.lacunarity), 1, FARLANDS_MAX_LACUNARITY,
             "How many times finer each octave is than the octave before."),
    NUMBER("strength", 0, 0, 10,
           "How deep gullies are on steep ground, in their octave's wavelengths: by "
           "default 80 m, to both sides, if gullies are 800 blocks apart."),
    NUMBER("slope", 1, 0.001, 100,
           "On ground with this slope gullies are half as deep; on a third of the slope, a "
           "tenth."),
    {"mask", OPTION_FIELD, AT(input) + sizeof(int), .expected = FIELD_EXPRESSION,
     HELP("Weakens gullies where it is below 1, down to none at 0.")},
    {"lattice", OPTION_SPACING, .offset = AT(spacing),
     HELP("The slope is taken on a lattice so many blocks wide, by default up to a "
          "quarter of `wavelength`.")},
    SALT,
    {0},
};
static const struct option smooth_keys[] = {OF_TWO, NUMBER("width", 0, 1e-6, 1e9, NULL), {0}};
static const struct option ridge_keys[] = {OF, NUMBER("width", 0, 1e-6, 1e9, NULL), {0}};
static const struct option range_keys[] = {
    OF,
    NUMBER("from", 0, -1e9, 1e9, NULL),
    NUMBER("to", 1, -1e9, 1e9, NULL),
    {0},
};
static const struct option terrace_keys[] = {
    OF,
    NUMBER("height", 0, 1e-6, 1e9, NULL),
    NUMBER("slope", 1, 0.01, 1, NULL),
    {0},
};
static const struct option wave_keys[] = {
    {"wavelength", OPTION_SPACING, .offset = AT(spacing), .min = 1},
    {0},
};
static const struct option mix_keys[] = {INPUT("from", 0), INPUT("to", 1), INPUT("by", 2), {0}};
static const struct option spline_keys[] = {
    OF,
    {"knots", OPTION_KNOTS, AT(curve),
     .expected = "2 to 32 pairs [value, result], value ascending"},
    {"cubic", OPTION_FLAG, .offset = AT(curve.cubic)},
    {0},
};
static const struct option biome_keys[] = {
    INPUT("temperature", BIOME_TEMPERATURE),
    INPUT("humidity", BIOME_HUMIDITY),
    INPUT("height", BIOME_HEIGHT),
    INPUT("slope", BIOME_SLOPE),
    {"table", OPTION_BIOMES, AT(biomes),
     .expected = "a list of 1 to 64 rows, such as { id: 1, name: sea, color: \"#2a5b8c\", "
                 "height: [-.inf, 0] }"},
    {0},
};

static const struct option drain_keys[] = {
    OF,
    {"spacing", OPTION_SPACING, .offset = AT(spacing),
     HELP("Water finds the way from point to point on a lattice so many blocks wide, up "
          "to 262144, and then on finer lattices.")},
    KEY_INTEGER("levels", AT(rivers.levels), 2, 5,
                "So many lattices, each four times finer than the one before. The smallest "
                "courses are as far apart as the finest lattice is wide: 512 blocks by default, "
                "and at least 64."),
    KEY_REAL("from", AT(rivers.from), 0, 14,
             "The order from which a course has water. The order grows by 1 each time that the "
             "water upstream doubles in length: 4 times the finest spacing are order 3."),
    KEY_REAL("width", AT(rivers.width), 0.01, 1000, "A river's width in metres at order 1."),
    KEY_REAL("widening", AT(rivers.widening), 1, 3,
             "A factor to the width for each order: 2.4 m at order 3, 15 m at order 6 by default. "
             "At order 2 `levels` + 2, which no river has, the width must be at most 2048 m."),
    KEY_REAL("depth", AT(rivers.depth), 0.01, 100, "The depth in a river's middle, at order 1."),
    KEY_REAL("deepening", AT(rivers.deepening), 1, 3, "A factor to the depth for each order."),
    KEY_REAL("slope", AT(rivers.slope), 0, 10, "How steep the sides of valleys are."),
    KEY_REAL("meander", AT(rivers.meander), 0, 1,
             "How far courses swing; 1 is a third of the finest spacing."),
    KEY_REAL("lake", AT(rivers.lake), 0.1, 100000,
             "Silt fills hollows that are less deep, in metres; deeper ones have a lake in the "
             "middle. 100000: no lakes."),
    SALT,
    {0},
};
static const struct option drainage_keys[] = {
    INPUT("envelope", DRAINAGE_ENVELOPE),
    INPUT("steepness", DRAINAGE_STEEPNESS),
    INPUT("side", DRAINAGE_SIDE),
    {"top", OPTION_FIELD, AT(input) + DRAINAGE_TOP * sizeof(int), .expected = FIELD_EXPRESSION,
     HELP(
         "About how high the ground is at most, in metres. Plateaus and mesas are what rivers leave "
         "of such a level.")},
    {"ice", OPTION_FIELD, AT(input) + DRAINAGE_ICE * sizeof(int), .expected = FIELD_EXPRESSION,
     HELP("How much glaciers have shaped great valleys, 0 to 1: their walls are steep, and side "
          "valleys hang above them.")},
    {"junction", OPTION_FIELD, AT(input) + DRAINAGE_JUNCTION * sizeof(int),
     .expected = FIELD_EXPRESSION,
     HELP("The angle in degrees at which rivers that drain more than 1 km2 meet, in the mean: 45, "
          "as in dry country, to 72, as in humid country. 0: as they come, about 60.")},
    {"lakes", OPTION_FIELD, AT(input) + DRAINAGE_LAKES * sizeof(int), .expected = FIELD_EXPRESSION,
     HELP(
         "How many lakes there are, 0 to 1: at that share of places on a river, a few km from each "
         "other, a lake ends. 0: none.")},
    {"spacing", OPTION_SPACING, .offset = AT(spacing),
     HELP("The greatest rivers find their way on a lattice so many blocks wide, up to 262144, and "
          "then on finer lattices.")},
    KEY_INTEGER(
        "levels", AT(drainage.levels), 2, DRAINAGE_MAX_LEVELS,
        "So many lattices, each twice as fine as the one before: the last is 128 blocks wide "
        "by default; 16 to 4096."),
    KEY_REAL(
        "concavity", AT(drainage.concavity), 0.1, 1,
        "How much gentler rivers are that drain more: the slope is steepness times the area, in "
        "km2, to the power of minus this."),
    KEY_REAL("rough", AT(drainage.rough), 0, 2,
             "How much slopes differ from place to place, as the rock does. 0: not at all."),
    KEY_REAL("floor", AT(drainage.floor), 0, 1000,
             "The width of a valley's floor that drains 1 km2, in metres. It grows with the square "
             "root of the area."),
    KEY_REAL("bend", AT(drainage.bend), 0, 1,
             "How far rivers wander, in spacings of each lattice."),
    KEY_REAL(
        "base", AT(drainage.base), -2000, 0,
        "The level, in metres, to which rivers have built the ground. Below 0, the sea fills the "
        "valleys that are lower: drowned valleys, and islands before them."),
    KEY_REAL(
        "from", AT(rivers.from), 0, 14,
        "The order from which a course has water. Order 3 drains 1 km2, and 3.5 times the area "
        "is one order more: order 8.5 drains 1000 km2, 14 a million or more."),
    KEY_REAL("width", AT(rivers.width), 0.01, 1000, "A river's width in metres at order 1."),
    KEY_REAL(
        "widening", AT(rivers.widening), 1, 3,
        "A factor to the width for each order: 2.3 m at order 3, 57 m at order 8.5 by default. "
        "At order 14 the width must be at most 2048 m."),
    KEY_REAL("depth", AT(rivers.depth), 0.01, 100, "The depth in a river's middle, at order 1."),
    KEY_REAL("deepening", AT(rivers.deepening), 1, 3, "A factor to the depth for each order."),
    KEY_REAL("meander", AT(rivers.meander), 0, 1,
             "How far rivers swing beside their courses; 1 is a third of the finest spacing."),
    SALT,
    {0},
};
static const struct option water_keys[] = {OF, INPUT("drain", 1), {0}};

#define NO_INPUTS .input = {-1, -1, -1, -1, -1, -1, -1}, .salt = FIELD_NO_SALT
_Static_assert((int)GRAPH_MAX_INPUTS == 7, "NO_INPUTS has all");
/* As in a world's `noise:`, but wavelength and octaves must be given. */
#define NOISE                                                                        \
    .gradients = FARLANDS_UNIT256, .fade = FARLANDS_QUINTIC, .hash = FARLANDS_MIX64, \
    .fractal = FARLANDS_FBM, .persistence = 0.55, .lacunarity = 2, .offset = 1, .gain = 2

static const struct node_values plain = {NO_INPUTS, .number = {NAN, NAN}, .curve.cubic = true},
                                noise = {NO_INPUTS, .number = {1, 0},
                                         .noise = {.basis = FARLANDS_PERLIN, NOISE}},
                                damped = {NO_INPUTS, .number = {1, 0},
                                          .noise = {.basis = FARLANDS_PERLIN, NOISE}},
                                erode = {
                                    NO_INPUTS, .number = {0.1, 0.15},
                                    .noise = {.basis = FARLANDS_CELLULAR, NOISE, .octaves = 6}};

static const struct node_values drain = {NO_INPUTS, .number = {NAN, NAN}, .spacing = 32768,
                                         .rivers = {.levels = 4,
                                                    .from = 3,
                                                    .width = 0.7,
                                                    .widening = 1.85,
                                                    .depth = 0.3,
                                                    .deepening = 1.45,
                                                    .slope = 0.45,
                                                    .meander = 0.6,
                                                    .lake = 80}};

static const struct node_values drainage = {
    NO_INPUTS, .number = {NAN, NAN}, .spacing = 16384,
    .drainage = {.levels = 8, .concavity = 0.45, .rough = 0.55, .floor = 60, .bend = 0.4},
    .rivers = {.from = 3,
               .width = 0.7,
               .widening = 1.8,
               .depth = 0.3,
               .deepening = 1.4,
               .slope = 0.45,
               .meander = 0.3,
               .lake = 100000}};

/* A row for most nodes: the key is the operation's name. */
#define PLAIN(kind, shape, inputs)                                               \
    {                                                                            \
        name_of.operation_##kind, shape, GRAPH_##kind, inputs, NULL, NULL, false \
    }
#define KEYS(kind, inputs, keys, defaults)                                                  \
    {                                                                                       \
        name_of.operation_##kind, NODE_KEYS, GRAPH_##kind, inputs, keys, &(defaults), false \
    }

const struct node_kind node_kinds[] = {
    {.name = NULL, .shape = NODE_NUMBER, .graph = GRAPH_CONSTANT},
    {.name = NULL, .shape = NODE_NAME, .graph = GRAPH_CONSTANT},
    KEYS(NOISE, 0, noise_keys, noise),
    {"of", NODE_SAME, GRAPH_CONSTANT, 1, NULL, NULL, false},
    PLAIN(ADD, NODE_LIST, GRAPH_MAX_NODES),
    PLAIN(SUBTRACT, NODE_LIST, 2),
    PLAIN(MULTIPLY, NODE_LIST, GRAPH_MAX_NODES),
    PLAIN(MIN, NODE_LIST, GRAPH_MAX_NODES),
    PLAIN(MAX, NODE_LIST, GRAPH_MAX_NODES),
    KEYS(SMOOTH_MIN, 2, smooth_keys, plain),
    KEYS(SMOOTH_MAX, 2, smooth_keys, plain),
    PLAIN(ABS, NODE_INPUT, 1),
    KEYS(CLAMP, 1, range_keys, plain),
    KEYS(MIX, 3, mix_keys, plain),
    KEYS(SPLINE, 1, spline_keys, plain),
    KEYS(STEP, 1, range_keys, plain),
    KEYS(RIDGE, 1, ridge_keys, plain),
    KEYS(TERRACE, 1, terrace_keys, plain),
    KEYS(DAMPED, 0, damped_keys, damped),
    KEYS(WAVE_X, 0, wave_keys, plain),
    KEYS(WAVE_Y, 0, wave_keys, plain),
    PLAIN(SLOPE_X, NODE_INPUT, 1),
    PLAIN(SLOPE_Y, NODE_INPUT, 1),
    {"erode", NODE_KEYS, GRAPH_ERODE, 1, erode_keys, &erode, .added = true},
    {"gullies", NODE_KEYS, GRAPH_ERODE, 1, erode_keys, &erode, .added = false},
    KEYS(BIOME, 0, biome_keys, plain),
    KEYS(DRAIN, 1, drain_keys, drain),
    KEYS(DRAINAGE, 3, drainage_keys, drainage),
    PLAIN(BASE_LEVEL, NODE_INPUT, 1),
    PLAIN(BANK, NODE_INPUT, 1),
    PLAIN(RIVER, NODE_INPUT, 1),
    KEYS(CHANNEL, 2, water_keys, plain),
    KEYS(WATER, 2, water_keys, plain),
    {.name = NULL, .shape = NODE_NUMBER, .graph = GRAPH_CONSTANT},
};

const struct node_kind *node_kind_find(const char *name, size_t length)
{
    for (const struct node_kind *kind = NODE_KINDS_WITH_KEYS; kind->name; kind++)
        if (strlen(kind->name) == length && memcmp(kind->name, name, length) == 0)
            return kind;
    return NULL;
}
