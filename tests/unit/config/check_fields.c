/* Worlds of fields: good and bad ones, their documents, and what comes back of them. */
#include "config/fields/fields.h"

#include <errno.h>
#include <glob.h>
#include <stdarg.h>

#include "config/fields/field_nodes.h"
#include "config/library/world_text.h"
#include "config/world/world_terrain.h"
#include "noise/graph/operations.h"
#include "noise/terrain/terrain_parts.h"
#include "server/api/documents.h"
#include "tests/unit/support/configuration_file.h"
#include "tests/unit/support/draws.h"

/* The text of a configuration with the fields FIELDS, which begin on line 4. */
static char *world_of(const char *fields)
{
    static char text[(1 << 16) + 64];
    snprintf(text, sizeof text, "worlds:\n  - name: a\n    fields:\n%s", fields);
    return text;
}

static struct config *load(const char *text)
{
    struct config *config = NULL;
    struct config_error error = {0};
    file_write(file, text, strlen(text));
    int err = config_load(&config, file, NULL, &error);
    must(err == 0, "%s\n%s", text, error.text);
    return config;
}

/* --- Good ones --- */

/* Fields in a file, and their text in documents. */
static const struct {
    const char *yaml, *text;
} good[] = {
    {"{height: 5}", "{\"height\":5}"},
    {"{height: -0.5}", "{\"height\":-0.5}"},
    {"{height: 1e3}", "{\"height\":1000}"},
    {"{a: 1, height: a}", "{\"a\":1,\"height\":\"a\"}"},
    {"{height: a, a: \"1\"}", "{\"height\":\"a\",\"a\":1}"},
    {"{height: {of: 1, unit: m}}", "{\"height\":{\"of\":1,\"unit\":\"m\"}}"},
    {"{height: {abs: -3, unit: '\"\\'}}", "{\"height\":{\"abs\":-3,\"unit\":\"\\\"\\\\\"}}"},
    {"{height: {add: [1, 2, 3], lattice: 64}}", "{\"height\":{\"add\":[1,2,3],\"lattice\":64}}"},
    {"{height: {subtract: [1, {multiply: [2, 3]}]}}",
     "{\"height\":{\"subtract\":[1,{\"multiply\":[2,3]}]}}"},
    {"{height: {min: [1, {max: [2, 3]}]}}", "{\"height\":{\"min\":[1,{\"max\":[2,3]}]}}"},
    {"{height: {smooth_min: {of: [1, {smooth_max: {width: 2, of: [2, 3]}}], width: 0.5}}}",
     "{\"height\":{\"smooth_min\":{\"of\":[1,{\"smooth_max\":{\"of\":[2,3],\"width\":2}}],"
     "\"width\":0.5}}}"},
    {"{height: {clamp: {of: 1, from: -1, to: 1}}}",
     "{\"height\":{\"clamp\":{\"of\":1,\"from\":-1,\"to\":1}}}"},
    {"{height: {step: {to: 0, from: 1, of: 7}}}",
     "{\"height\":{\"step\":{\"of\":7,\"from\":1,\"to\":0}}}"},
    {"{height: {mix: {from: 0, to: 1, by: 0.5}}}",
     "{\"height\":{\"mix\":{\"from\":0,\"to\":1,\"by\":0.5}}}"},
    {"{height: {spline: {of: 0, knots: [[-1, 0.1], [1, 5]]}}}",
     "{\"height\":{\"spline\":{\"of\":0,\"knots\":[[-1,0.1],[1,5]]}}}"},
    {"{height: {spline: {of: 0, knots: [[-1, 0], [1, 5]], cubic: false}}}",
     "{\"height\":{\"spline\":{\"of\":0,\"knots\":[[-1,0],[1,5]],\"cubic\":false}}}"},
    {"{height: {ridge: {of: 1, width: 2}}}", "{\"height\":{\"ridge\":{\"of\":1,\"width\":2}}}"},
    {"{height: {terrace: {of: 1, height: 2, slope: 0.5}}}",
     "{\"height\":{\"terrace\":{\"of\":1,\"height\":2,\"slope\":0.5}}}"},
    {"{height: {add: [{wave_x: {wavelength: 8}}, {wave_y: {wavelength: 16777216}}]}}",
     "{\"height\":{\"add\":[{\"wave_x\":{\"wavelength\":8}},{\"wave_y\":{\"wavelength\":16777216}}]}}"},
    {"{height: {slope_x: {abs: 1, lattice: 4}}}",
     "{\"height\":{\"slope_x\":{\"abs\":1,\"lattice\":4}}}"},
    {"{height: {slope_y: a}, a: {of: height_of, lattice: 1}, height_of: 1}",
     "{\"height\":{\"slope_y\":\"a\"},\"a\":{\"of\":\"height_of\",\"lattice\":1},\"height_of\":1}"},
    {"{height: {noise: {wavelength: 1000, octaves: 3, salt: 0}}}",
     "{\"height\":{\"noise\":{\"wavelength\":1000,\"octaves\":3,\"salt\":0}}}"},
    {"{height: {noise: {wavelength: 10.5, fractal: none, basis: value, fade: linear, salt: 7,\n"
     "  hash: permutation, octave_salt: true, warp: {amplitude: 5, wavelength: 8}}}}",
     "{\"height\":{\"noise\":{\"basis\":\"value\",\"fade\":\"linear\",\"hash\":\"permutation\","
     "\"octave_salt\":true,\"fractal\":\"none\",\"wavelength\":10.5,\"octaves\":1,"
     "\"warp\":{\"amplitude\":5,\"wavelength\":8},\"salt\":7}}}"},
    {"{height: {noise: {wavelength: 64, octaves: 2, elevation: [[0, 0], [1, 9]], salt: 1}}}",
     "{\"height\":{\"noise\":{\"wavelength\":64,\"octaves\":2,\"elevation\":[[0,0],[1,9]],"
     "\"salt\":1}}}"},
    {"{height: {noise: {wavelength: 64, octaves: 2, move: {x: 1, y: {abs: 2}, by: 3}, salt: 1}}}",
     "{\"height\":{\"noise\":{\"wavelength\":64,\"octaves\":2,"
     "\"move\":{\"x\":1,\"y\":{\"abs\":2},\"by\":3},\"salt\":1}}}"},
    {"{height: {damped: {wavelength: 64, octaves: 2, salt: 1}}}",
     "{\"height\":{\"damped\":{\"wavelength\":64,\"octaves\":2,\"salt\":1}}}"},
    {"{height: {erode: {of: 1, wavelength: 64, salt: 1}}}",
     "{\"height\":{\"erode\":{\"of\":1,\"wavelength\":64,\"salt\":1}}}"},
    {"{height: {gullies: {of: 1, wavelength: 64, octaves: 3, lacunarity: 2.5, strength: 0.2,\n"
     "  slope: 0.5, mask: 0.5, lattice: 8, salt: 1}, lattice: 2}}",
     "{\"height\":{\"gullies\":{\"of\":1,\"wavelength\":64,\"octaves\":3,\"lacunarity\":2.5,"
     "\"strength\":0.2,\"slope\":0.5,\"mask\":0.5,\"lattice\":8,\"salt\":1},\"lattice\":2}}"},
    {"{height: {drain: {of: 1, salt: 1}}}", "{\"height\":{\"drain\":{\"of\":1,\"salt\":1}}}"},
    {"{height: {drain: {of: 1, spacing: 32768, levels: 4, from: 3, width: 0.7, widening: 1.85,\n"
     "  depth: 0.3, deepening: 1.45, slope: 0.45, meander: 0.6, lake: 80, salt: 1}}}",
     "{\"height\":{\"drain\":{\"of\":1,\"salt\":1}}}"},
    {"{height: {drain: {of: 1, spacing: 65536, levels: 5, from: 2.5, width: 1, widening: 2,\n"
     "  depth: 0.5, deepening: 1.5, slope: 0.3, meander: 0, lake: 3, salt: 1}, lattice: 8}}",
     "{\"height\":{\"drain\":{\"of\":1,\"spacing\":65536,\"levels\":5,\"from\":2.5,\"width\":1,"
     "\"widening\":2,\"depth\":0.5,\"deepening\":1.5,\"slope\":0.3,\"meander\":0,\"lake\":3,\"salt\":1},"
     "\"lattice\":8}}"},
    {"{height: {drainage: {envelope: 1, steepness: 0.3, side: a, salt: 1}}, a: 0.5}",
     "{\"height\":{\"drainage\":{\"envelope\":1,\"steepness\":0.3,\"side\":\"a\",\"salt\":1}},\"a\":0.5}"},
    {"{height: {drainage: {envelope: 1, steepness: 0.3, side: 0.5, spacing: 8192, levels: 6,\n"
     "  ice: 0.5, concavity: 0.5, rough: 0, floor: 0, bend: 1, base: -100, salt: 1}}}",
     "{\"height\":{\"drainage\":{\"envelope\":1,\"steepness\":0.3,\"side\":0.5,\"ice\":0.5,\"spacing\":8192,"
     "\"levels\":6,\"concavity\":0.5,\"rough\":0,\"floor\":0,\"bend\":1,\"base\":-100,\"salt\":1}}}"},
    {"{height: {channel: {of: d, drain: {of: d}}}, d: {drain: {of: 1, salt: 1}}, b: {bank: d},\n"
     "  w: {water: {of: height, drain: {of: d, lattice: 2}}}, r: {river: d}}",
     "{\"height\":{\"channel\":{\"of\":\"d\",\"drain\":{\"of\":\"d\"}}},"
     "\"d\":{\"drain\":{\"of\":1,\"salt\":1}},\"b\":{\"bank\":\"d\"},"
     "\"w\":{\"water\":{\"of\":\"height\",\"drain\":{\"of\":\"d\",\"lattice\":2}}},\"r\":{\"river\":\"d\"}}"},
    {"{height: {base_level: {drain: {of: 1, salt: 1}}}}",
     "{\"height\":{\"base_level\":{\"drain\":{\"of\":1,\"salt\":1}}}}"},
    {"{height: {biome: {table: [{id: 0, name: all, color: \"#0a1B2c\"}]}}}",
     "{\"height\":{\"biome\":{\"table\":[{\"id\":0,\"name\":\"all\",\"color\":\"#0a1b2c\"}]}}}"},
    {"{height: 1, b: {biome: {slope: 0.5, height: height, humidity: {abs: 2}, temperature: -3,\n"
     "  table: [{name: '\"Wüste\\', color: '#ffffff', id: 255, slope: [-.inf, 0.1],\n"
     "  humidity: [0, 1e-3], temperature: [-.inf, .inf], height: [0, .inf]}]}}}",
     "{\"height\":1,\"b\":{\"biome\":{\"temperature\":-3,\"humidity\":{\"abs\":2},"
     "\"height\":\"height\",\"slope\":0.5,\"table\":[{\"id\":255,\"name\":\"\\\"Wüste\\\\\","
     "\"color\":\"#ffffff\",\"humidity\":[0,0.001],\"height\":[0,\".inf\"],"
     "\"slope\":[\"-.inf\",0.1]}]}}}"},
};

START_TEST(good_fields_have_a_text_that_comes_back)
{
    char text[4096];
    snprintf(text, sizeof text, "      %s", good[_i].yaml);
    struct config *config = load(world_of(text));
    ck_assert_str_eq(world_fields_text(config->worlds->fields), good[_i].text);
    config_free(config);
    snprintf(text, sizeof text, "      %s", good[_i].text);
    config = load(world_of(text));
    ck_assert_str_eq(world_fields_text(config->worlds->fields), good[_i].text);
    config_free(config);
}
END_TEST

START_TEST(every_node_is_in_a_good_row)
{
    for (const struct node_kind *kind = NODE_KINDS_WITH_KEYS; kind->name; kind++) {
        char key[32];
        bool has = false;
        snprintf(key, sizeof key, "{\"%s\":", kind->name);
        for (int i = 0; i < ROWS(good); i++)
            has |= strstr(good[i].text, key) != NULL;
        must(has, "no row with a %s", kind->name);
    }
}
END_TEST

/* --- The table of nodes --- */

/* A constant is a number, and a lattice is a key of any node. */
START_TEST(every_operation_has_a_node)
{
    for (int kind = 0; kind < GRAPH_KINDS; kind++) {
        const char *name = operation_kinds[kind].name;
        const struct node_kind *node = node_kind_find(name, strlen(name));
        if (kind != GRAPH_CONSTANT && kind != GRAPH_LATTICE)
            must(node && (int)node->graph == kind, "no node for the operation %s", name);
    }
}
END_TEST

START_TEST(keys_have_the_bounds_of_their_operation)
{
    int compared = 0;
    for (const struct node_kind *kind = NODE_KINDS_WITH_KEYS; kind->name; kind++) {
        for (const struct option *key = kind->keys; key && key->key; key++) {
            const size_t place = key->offset - offsetof(struct node_values, number);
            if (key->kind != OPTION_REAL || place >= GRAPH_MAX_NUMBERS * sizeof(double))
                continue;
            const struct operation_number *number =
                &operation_kinds[kind->graph].number[place / sizeof(double)];
            must(number->key && strcmp(number->key, key->key) == 0 && number->least == key->min &&
                     number->most == key->max,
                 "%s.%s: %g to %g; operations.def: %s, %g to %g", kind->name, key->key, key->min,
                 key->max, number->key ? number->key : "none", number->least, number->most);
            compared++;
        }
    }
    ck_assert_int_ge(compared, 14);
}
END_TEST

static char *text_of(const char *path)
{
    struct blob *blob = file_read(path);
    must(blob != NULL, "cannot read %s", path);
    char *text = strndup((const char *)blob->bytes, blob->length);
    blob_release(blob);
    return text;
}

START_TEST(every_node_is_in_the_readme)
{
    char *text = text_of("config/README.md");
    char *table = strstr(text, "\n### Nodes\n"), *end = strstr(text, "\n### Recipes\n");
    ck_assert(table && end && table < end);
    *end = '\0';
    for (const struct node_kind *kind = NODE_KINDS_WITH_KEYS; kind->name; kind++) {
        char with_keys[40], in_list[40];
        snprintf(with_keys, sizeof with_keys, "`%s: ", kind->name);
        snprintf(in_list, sizeof in_list, "`%s`", kind->name);
        must(strstr(table, with_keys) || strstr(table, in_list),
             "the table of nodes in config/README.md lacks %s", kind->name);
    }
    free(text);
}
END_TEST

START_TEST(fuzzers_know_every_node)
{
    char *dictionary = text_of("tests/fuzz/config.dict");
    for (const struct node_kind *kind = NODE_KINDS_WITH_KEYS; kind->name; kind++) {
        char word[40];
        snprintf(word, sizeof word, "\"%s: ", kind->name);
        must(strstr(dictionary, word) != NULL, "tests/fuzz/config.dict lacks %s", kind->name);
    }
    free(dictionary);
}
END_TEST

/* --- Bad ones --- */

#define NODES                                                                                         \
    "noise, of, add, subtract, multiply, min, max, smooth_min, smooth_max, abs, clamp, mix, "         \
    "spline, step, ridge, terrace, damped, wave_x, wave_y, slope_x, slope_y, erode, gullies, biome, " \
    "drain, drainage, base_level, bank, river, channel, water"
#define EXPRESSION "expected a number, the name of a field, or a node such as { abs: NAME }"

#define COLOR "\"#rrggbb\", in quotes, each of r, g and b from 0 to 9 or a to f"
#define RANGE "expected a range [from, to] of numbers from -1e9 to 1e9, or -.inf and .inf"

/* Fields from line 4 on, and the message below worlds[0].fields. */
static const struct {
    const char *fields;
    int line;
    const char *message;
} bad[] = {
    {"      5", 4, ": got \"5\"; expected 1 to 256 fields, NAME: EXPRESSION"},
    {"      {}", 4, ": got a mapping; expected 1 to 256 fields, NAME: EXPRESSION"},
    {"      a: 5\n", 4, ".height: missing; expected the field that is the height in metres"},
    {"      height: 1\n      Up: 2\n", 5,
     ".Up: not a name of a field; expected 1 to 63 of the characters a-z 0-9 _, beginning with a "
     "letter"},
    {"      height: 1\n      height: 2\n", 5, ".height: duplicate key; expected once"},
    {"      height:\n", 4, ".height: got no value; " EXPRESSION},
    {"      height: [1, 2]\n", 4, ".height: got a list of 2; " EXPRESSION},
    {"      height: Up\n", 4, ".height: got \"Up\"; " EXPRESSION},
    {"      height: 1e10\n", 4,
     ".height: got \"1e10\"; expected a number from -1000000000 to 1000000000"},
    {"      height: .nan\n", 4,
     ".height: got \".nan\"; expected a number from -1000000000 to 1000000000"},
    {"      mountains: 1\n      height:\n        add: [1,\n          montains]\n", 7,
     ".height.add[1]: no field \"montains\"; did you mean mountains?"},
    {"      a: 1\n      b: 1\n      height: { abs: rivers }\n", 6,
     ".height.abs: no field \"rivers\"; expected one of a, b, height"},
    {"      height: height\n", 4,
     ".height: a field depends on itself: height -> height; expected no circle"},
    {"      a: { abs: b }\n      b:\n        add:\n          - 1\n          - c\n"
     "      c: { abs: a }\n      height: a\n",
     9, ".c.abs: a field depends on itself: a -> b -> c -> a; expected no circle"},
    {"      height: { ad: [1, 2] }\n", 4, ".height.ad: unknown key; did you mean add?"},
    {"      height: { geysers: [1, 2] }\n", 4,
     ".height.geysers: unknown key; expected one of " NODES ", lattice, unit"},
    {"      height: { lattice: 4 }\n", 4, ".height: no node; expected one of " NODES},
    {"      height: { abs: 4, of: 5 }\n", 4,
     ".height.of: a second node beside abs; expected one, with others inside it"},
    {"      height: { abs: 4, lattice: 3 }\n", 4,
     ".height.lattice: got \"3\"; expected a power of two from 1 to 16777216 blocks"},
    {"      height: { abs: 4, lattice: 4, lattice: 4 }\n", 4,
     ".height.lattice: duplicate key; expected once"},
    {"      height: { abs: { of: 4, unit: m } }\n", 4,
     ".height.abs.unit: unknown key; expected a unit only at the top of a field"},
    {"      height: { noise: { wavelength: 64, octaves: 3,\n        lattice: 4 } }\n", 5,
     ".height.noise.lattice: unknown key; expected beside noise, as in { noise: { ... }, lattice: ... }"},
    {"      height: { spline: { of: 1, knots: [[0, 1], [1, 2]], unit: m } }\n", 4,
     ".height.spline.unit: unknown key; expected beside spline, as in { spline: { ... }, unit: ... }"},
    {"      height: { noise: { wavelength: 64, octaves: 3 }, salt: 5 }\n", 4,
     ".height.salt: unknown key; expected in noise, as in { noise: { salt: ... } }"},
    {"      height: { abs: 4, salt: 5 }\n", 4,
     ".height.salt: unknown key; expected one of " NODES ", lattice, unit"},
    {"      height: { abs: 4, unit: [] }\n", 4,
     ".height.unit: got a list of 0; expected a text of 1 to 31 bytes, such as m"},
    {"      height: { add: [1] }\n", 4,
     ".height.add: got a list of 1; expected a list of 2 to 384 fields, such as [NAME, 0.5]"},
    {"      height: { subtract: [1, 2, 3] }\n", 4,
     ".height.subtract: got a list of 3; expected a list of two fields"},
    {"      height: { smooth_min: { of: 1, width: 1 } }\n", 4,
     ".height.smooth_min.of: got \"1\"; expected a list of two fields"},
    {"      height: { smooth_min: { of: [1, 2] } }\n", 4,
     ".height.smooth_min.width: missing; expected a number from 1e-06 to 1000000000"},
    {"      height: { smooth_max: { width: 1 } }\n", 4,
     ".height.smooth_max.of: missing; expected a list of two fields"},
    {"      height: { mix: { from: 1, to: 2 } }\n", 4, ".height.mix.by: missing; " EXPRESSION},
    {"      height: { step: { of: 1, from: 2 } }\n", 4,
     ".height.step.to: missing; expected a number from -1000000000 to 1000000000"},
    {"      height: { step: { of: 1, from: 2,\n        to: 2 } }\n", 5,
     ".height.step.to: expected a number up to 1e9 that differs from the other end by at least 1e-6, and by a "
     "10-millionth"},
    {"      height: { clamp: { of: 1, from: 2, to: 1 } }\n", 4,
     ".height.clamp.to: expected a number up to 1e9, and not below the other end"},
    {"      height: { ridge: { of: 1, wide: 2 } }\n", 4,
     ".height.ridge.wide: unknown key; expected one of of, width"},
    {"      height: { spline: { of: 1 } }\n", 4,
     ".height.spline.knots: missing; expected 2 to 32 pairs [value, result], value ascending"},
    {"      height: { spline: { of: 1, knots: [[1, 1], [1, 2]] } }\n", 4,
     ".height.spline.knots[1]: 1 follows 1; expected 2 to 32 pairs [value, result], value "
     "ascending"},
    {"      height: { noise: { octaves: 3 } }\n", 4,
     ".height.noise.wavelength: missing; expected 0.001953125 to 1099511627776 blocks, with at "
     "most 10 fractional bits"},
    {"      height: { noise: { wavelength: 3 } }\n", 4,
     ".height.noise.octaves: missing; expected a whole number from 1 to 64"},
    {"      height: { noise: { wavelength: 3, octaves: 1, salt: 2147483648 } }\n", 4,
     ".height.noise.salt: got \"2147483648\"; expected a whole number from 0 to 2147483647"},
    {"      height:\n        noise:\n          wavelength: 16\n          octaves: 20\n", 7,
     ".height.noise.octaves: too many: each octave needs a wavelength of its own, of at least "
     "2/1024 blocks"},
    {"      height: { noise: { wavelength: 3, octaves: 1, move: { x: 1 } } }\n", 4,
     ".height.noise.move.y: missing; " EXPRESSION},
    {"      height: { noise: { wavelength: 3, octaves: 1, move: { by: 4 } } }\n", 4,
     ".height.noise.move.x: missing; " EXPRESSION},
    {"      height:\n        abs:\n          noise:\n            wavelength: 3\n"
     "            octaves: 1\n            move: { x: 1e9, y: 1, by: 1e9 }\n",
     9, ".height.abs.noise.move: its fields could move it by more than 2^30 blocks"},
    {"      height: { noise: { wavelength: 3, octaves: 1, warp: { amplitude: 3, wavelength: 3 },\n"
     "        move: { x: 1, y: 1 } } }\n",
     4, ".height.noise.warp: expected fields, or a noise's own warp, but not both"},
    {"      height: { damped: { wavelength: 3, octaves: 1, basis: value } }\n", 4,
     ".height.damped.basis: unknown key; expected one of gradients, fade, hash, octave_salt, "
     "wavelength, octaves, persistence, lacunarity, damping, salt"},
    {"      height: { erode: { of: 1, wavelength: 20000 } }\n", 4,
     ".height.erode.wavelength: got \"20000\"; expected 0.001953125 to 16384 blocks, with at most "
     "10 fractional bits"},
    {"      height: { erode: { of: 1, wavelength: 1, octaves: 12 } }\n", 4,
     ".height.erode.octaves: too many: each octave needs a wavelength of its own, of at least "
     "2/1024 blocks"},
    {"      height: { wave_y: {} }\n", 4,
     ".height.wave_y.wavelength: missing; expected a power of two from 1 to 16777216 blocks"},
    {"      height: { wave_x: { wavelength: 12 } }\n", 4,
     ".height.wave_x.wavelength: got \"12\"; expected a power of two from 1 to 16777216 blocks"},
    {"      height: { slope_x: a }\n      a: { noise: { wavelength: 64, octaves: 2 } }\n", 4,
     ".height.slope_x: expected a field with a lattice, such as { of: NAME, lattice: 16 }"},
    {"      height: { bank: 1 }\n", 4,
     ".height.bank: expected a field that is a drain or a drainage, or a lattice of one"},
    {"      height: { abs: { river:\n        { add: [1, { drain: { of: 1 } }] } } }\n", 5,
     ".height.abs.river: expected a field that is a drain or a drainage, or a lattice of one"},
    {"      height: { channel: { of: a,\n        drain: b } }\n      a: { drain: { of: 1 } }\n"
     "      b: { abs: a }\n",
     5,
     ".height.channel.drain: expected a field that is a drain or a drainage, or a lattice of one"},
    {"      height: { channel: { of: 1 } }\n", 4, ".height.channel.drain: missing; " EXPRESSION},
    {"      height: { drain: { spacing: 64 } }\n", 4, ".height.drain.of: missing; " EXPRESSION},
    {"      height: { drain: { of: 1, spacing: 100 } }\n", 4,
     ".height.drain.spacing: got \"100\"; expected a power of two from 1 to 16777216 blocks"},
    {"      height: { drain: { of: 1,\n        spacing: 2048 } }\n", 5,
     ".height.drain.spacing: expected a power of two, at most 262144 blocks, and at least 64 on "
     "the last level"},
    {"      height: { drain: { of: 1,\n        spacing: 524288 } }\n", 5,
     ".height.drain.spacing: expected a power of two, at most 262144 blocks, and at least 64 on "
     "the last level"},
    {"      height: { drain: { of: 1, levels: 6 } }\n", 4,
     ".height.drain.levels: got \"6\"; expected a whole number from 2 to 5"},
    {"      height: { drain: { of: 1, width: 0 } }\n", 4,
     ".height.drain.width: got \"0\"; expected a number from 0.01 to 1000"},
    {"      height: { drain: { of: 1,\n        width: 30, widening: 2.5 } }\n", 5,
     ".height.drain.width: expected less, or a lesser widening: rivers could be wider than 2048 "
     "metres"},
    {"      a: { drain: { of: 1 } }\n      height: { drain: {\n        of: { abs: a } } }\n", 6,
     ".height.drain.of: expected ground without another drain"},
    {"      height: { add: [{ drain: { of: 1 } }, { drain: { of: 2 } }, { drain: { of: 3 } },\n"
     "        { drain: { of: 4 } }, { drain: { of: 5 } }] }\n",
     5, ".height.add[4].drain: expected at most 4 in all fields of a world"},
    {"      height: { drainage: { envelope: 1, side: 1 } }\n", 4,
     ".height.drainage.steepness: missing; " EXPRESSION},
    {"      height: { drainage: { envelope: 1, steepness: 1, side: 1,\n        spacing: 1024 } }\n",
     5,
     ".height.drainage.spacing: expected a power of two, at most 262144 blocks, and 16 to 4096 on "
     "the last level"},
    {"      height: { drainage: { envelope: 1, steepness: 1, side: 1, levels: 13 } }\n", 4,
     ".height.drainage.levels: got \"13\"; expected a whole number from 2 to 12"},
    {"      height: { drainage: { envelope: 1, steepness: 1, side: 1, rough: 3 } }\n", 4,
     ".height.drainage.rough: got \"3\"; expected a number from 0 to 2"},
    {"      a: { drain: { of: 1 } }\n      height: { drainage: { side: 1, steepness: 1,\n"
     "        envelope: { abs: a } } }\n",
     6, ".height.drainage.envelope: expected a field without a drain or another drainage"},
    {"      height: { biome: { height: 1 } }\n", 4,
     ".height.biome.table: missing; expected a list of 1 to 64 rows, such as { id: 1, name: sea, "
     "color: \"#2a5b8c\", height: [-.inf, 0] }"},
    {"      height: { biome: { height: 1, table: [] } }\n", 4,
     ".height.biome.table: got a list of 0; expected a list of 1 to 64 rows, such as { id: 1, "
     "name: sea, color: \"#2a5b8c\", height: [-.inf, 0] }"},
    {"      height: { biome: { water: 1, table: [] } }\n", 4,
     ".height.biome.water: unknown key; expected one of temperature, humidity, height, slope, "
     "table"},
    {"      height: { biome: { table: [5] } }\n", 4,
     ".height.biome.table[0]: not a mapping; expected the keys id, name, color, temperature, "
     "humidity, height, slope"},
    {"      height:\n        biome:\n          table:\n          - { name: a, color: '#000000' }\n",
     7, ".height.biome.table[0].id: missing; expected a whole number from 0 to 255"},
    {"      height: { biome: { table: [{ id: 1, color: '#000000' }] } }\n", 4,
     ".height.biome.table[0].name: missing; expected a text of 1 to 63 bytes"},
    {"      height: { biome: { table: [{ id: 1, name: a }] } }\n", 4,
     ".height.biome.table[0].color: missing; expected " COLOR},
    {"      height: { biome: { table: [{ id: 256, name: a }] } }\n", 4,
     ".height.biome.table[0].id: got \"256\"; expected a whole number from 0 to 255"},
    {"      height: { biome: { table: [{ id: 1, name: '' }] } }\n", 4,
     ".height.biome.table[0].name: got \"\"; expected a text of 1 to 63 bytes"},
    {"      height: { biome: { table: [{ id: 1, name: \"a\\tb\" }] } }\n", 4,
     ".height.biome.table[0].name: got \"a?b\"; expected a text of 1 to 63 bytes"},
    {"      height: { biome: { table: [{ id: 1, name: a, color: red }] } }\n", 4,
     ".height.biome.table[0].color: got \"red\"; expected " COLOR},
    {"      height: { biome: { table: [{ id: 1, name: a, color: '#00000g' }] } }\n", 4,
     ".height.biome.table[0].color: got \"#00000g\"; expected " COLOR},
    {"      height: { biome: { table: [{ id: 1, name: a, colour: '#000000' }] } }\n", 4,
     ".height.biome.table[0].colour: unknown key; expected one of id, name, color, temperature, "
     "humidity, height, slope"},
    {"      height:\n        biome:\n          table:\n          - { id: 1, name: a, color: '#000000' }\n"
     "          - { id: 2, name: b, color: '#000000' }\n"
     "          - { id: 1, name: c, color: '#000000' }\n",
     9, ".height.biome.table[2].id: the same as in table[0]; expected each id once"},
    {"      height:\n        biome:\n          table:\n          - { id: 1, name: a, color: '#000000' }\n"
     "          - { id: 2, name: a, color: '#000000' }\n",
     8, ".height.biome.table[1].name: the same as in table[0]; expected each name once"},
    {"      height: { biome: { height: 1, table: [{ id: 1, name: a, color: '#000000',\n"
     "        height: [2, 1] }] } }\n",
     5, ".height.biome.table[0].height: from 2 to 1; expected the lesser number first"},
    {"      height: { biome: { height: 1, table: [{ id: 1, name: a, height: 5 }] } }\n", 4,
     ".height.biome.table[0].height: got \"5\"; " RANGE},
    {"      height: { biome: { height: 1, table: [{ id: 1, name: a, height: [1, 2, 3] }] } }\n", 4,
     ".height.biome.table[0].height: got a list of 3; " RANGE},
    {"      height: { biome: { height: 1, table: [{ id: 1, name: a, height: [1, .nan] }] } }\n", 4,
     ".height.biome.table[0].height: got a list of 2; " RANGE},
    {"      height: { biome: { height: 1, table: [{ id: 1, name: a, height: [.inf, 1] }] } }\n", 4,
     ".height.biome.table[0].height: got a list of 2; " RANGE},
    {"      height: { biome: { height: 1, table: [{ id: 1, name: a, height: [0, 1e10] }] } }\n", 4,
     ".height.biome.table[0].height: got a list of 2; " RANGE},
    {"      height:\n        biome:\n          height: 1\n          table:\n"
     "          - { id: 1, name: a, color: '#000000', height: [0, 1] }\n"
     "          - { id: 2, name: b, color: '#000000',\n"
     "              slope: [0, 1] }\n",
     10,
     ".height.biome.table[1].slope: the node has no such input; expected slope: EXPRESSION "
     "beside the table"},
    {"      height: { biome: { height: 1, table: [{ id: 1, name: a, color: '#000000' }] },\n"
     "        lattice: 4 }\n",
     5, ".height.lattice: a lattice would blend ids; expected it beside what the biome is made of"},
    {"      height: { biome: { height: 1, table: [{ id: 1, name: a, color: '#000000' }],\n"
     "        lattice: 4 } }\n",
     5,
     ".height.biome.lattice: unknown key; expected beside biome, as in { biome: { ... }, lattice: ... }"},
    {"      big: { multiply: [1e9, 9e8] }\n      height: { clamp: { of: { multiply: [big, 2] },\n"
     "        from: 0, to: 1 } }\n",
     5, ".height.clamp.of.multiply: its values could exceed 1e18"},
    {"      height: { add: [1000000, 1] }\n", 4,
     ".height: its values could be from 999991 to 1000011; expected metres from -1000000 to "
     "1000000, if need be by a clamp"},
    {"      height: { abs: b, lattice: 4 }\n      b: { abs: a, lattice: 4 }\n      a:\n"
     "        noise: { wavelength: 1000000000, octaves: 60, lacunarity: 1.2, basis: cellular,\n"
     "          warp: { amplitude: 10, wavelength: 1000 } }\n        lattice: 4\n",
     7,
     ".a: takes 100 % of the time of tiles of \"height\" with samples 4096 blocks apart, which "
     "is more than a second for 256 x 256; expected fewer octaves, moved noises, or lattices that need "
     "each other"},
};

START_TEST(bad_fields_are_refused)
{
    char expected[1200];
    struct config *config = NULL;
    struct config_error error = {0};
    const char *text = world_of(bad[_i].fields);
    file_write(file, text, strlen(text));
    snprintf(expected, sizeof expected, "%s:%d: worlds[0].fields%s", file, bad[_i].line,
             bad[_i].message);
    ck_assert_int_eq(config_load(&config, file, NULL, &error), -EINVAL);
    ck_assert_str_eq(error.text, expected);
}
END_TEST

/* Whole worlds, and the message. */
static const struct {
    const char *world;
    int line;
    const char *message;
} bad_worlds[] = {
    {"    fields: { height: 1 }\n    noise: { octaves: 3 }\n", 4,
     "noise: this world has `fields`, too; expected either `fields`, or `noise` and `elevation`"},
    {"    fields: { height: 1 }\n    elevation: [[0, 1], [1, 2]]\n", 4,
     "elevation: this world has `fields`, too; expected either `fields`, or `noise` and "
     "`elevation`"},
    {"    wrap: true\n    fields:\n      height:\n        noise:\n          octaves: 2\n"
     "          wavelength: 3\n",
     8,
     "fields.height.noise.wavelength: the wavelength of octave 1 is 3 blocks, which does not "
     "divide the window of 16777216 blocks (256 * 2^native_zoom), with which the world wraps; "
     "expected one that divides it"},
    {"    wrap: true\n    fields:\n      height: { noise: { octaves: 1, wavelength: 4,\n"
     "        basis: simplex } }\n",
     6,
     "fields.height.noise.basis: simplex noise cannot repeat, only perlin, cellular and value can"},
    {"    wrap: true\n    native_zoom: 0\n    fields:\n      height: { wave_y: { wavelength: 512 } }\n",
     6,
     "fields.height.wave_y.wavelength: the wavelength is 512 blocks, which does not divide the "
     "window of 256 blocks (256 * 2^native_zoom), with which the world wraps; expected one that "
     "divides it"},
    {"    wrap: true\n    native_zoom: 0\n    fields:\n      height: { of: 1, lattice: 512 }\n", 6,
     "fields.height.lattice: the spacing of the lattice is 512 blocks, which does not divide the "
     "window of 256 blocks (256 * 2^native_zoom), with which the world wraps; expected one that "
     "divides it"},
    {"    wrap: true\n    fields:\n      height: { abs: { drain: { of: 1 } } }\n", 5,
     "fields.height.abs.drain: rivers do not repeat; expected none in a world that wraps"},
    {"    wrap: true\n    fields:\n      height: { drainage: { envelope: 1, steepness: 1, side: 1 } }\n",
     5, "fields.height.drainage: rivers do not repeat; expected none in a world that wraps"},
    {"    wrap: true\n    fields:\n      height: { erode: { of: 1, wavelength: 48 } }\n", 5,
     "fields.height.erode.wavelength: the wavelength of octave 1 is 48 blocks, which does not "
     "divide the window of 16777216 blocks (256 * 2^native_zoom), with which the world wraps; "
     "expected one that divides it"},
};

START_TEST(bad_worlds_are_refused)
{
    char text[1200], expected[1200];
    struct config *config = NULL;
    struct config_error error = {0};
    snprintf(text, sizeof text, "worlds:\n  - name: a\n%s", bad_worlds[_i].world);
    file_write(file, text, strlen(text));
    snprintf(expected, sizeof expected, "%s:%d: worlds[0].%s", file, bad_worlds[_i].line,
             bad_worlds[_i].message);
    ck_assert_int_eq(config_load(&config, file, NULL, &error), -EINVAL);
    ck_assert_str_eq(error.text, expected);
}
END_TEST

/* Two noises as deep as a file can have them, in the field with the longest name. */
START_TEST(deep_noises_have_salts_of_their_own)
{
    static const char noise[] = "{abs: {noise: {wavelength: 64, octaves: 1}}}";
    char fields[2048], name[64] = "";
    unsigned first, second;
    size_t used =
        (size_t)sprintf(fields, "      height: 1\n      %s: ", (char *)memset(name, 'a', 63));
    for (int depth = 0; depth < 12; depth++)
        used += (size_t)sprintf(fields + used, "{multiply: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ");
    used += (size_t)sprintf(fields + used, "%s, %s", noise, noise);
    for (int depth = 0; depth < 12; depth++)
        used += (size_t)sprintf(fields + used, "]}");
    struct config *config = load(world_of(fields));
    const char *salt = strstr(world_fields_text(config->worlds[0].fields), "\"salt\":");
    ck_assert_int_eq(sscanf(salt, "\"salt\":%u", &first), 1);
    ck_assert_int_eq(sscanf(strstr(salt + 1, "\"salt\":"), "\"salt\":%u", &second), 1);
    ck_assert_uint_ne(first, second);
    config_free(config);
}
END_TEST

/* A sum of COUNT different numbers has as many nodes, and one less for the sums. */
static int load_sum(int count, struct config_error *error)
{
    static char fields[1 << 16];
    struct config *config = NULL;
    size_t used = (size_t)sprintf(fields, "      height: { add: [0");
    for (int i = 1; i < count; i++)
        used += (size_t)sprintf(fields + used, ", %d", i);
    sprintf(fields + used, "] }\n");
    const char *text = world_of(fields);
    file_write(file, text, strlen(text));
    int err = config_load(&config, file, NULL, error);
    config_free(config);
    return err;
}

START_TEST(graphs_have_a_largest_size)
{
    struct config_error error = {0};
    ck_assert_int_eq(load_sum(192, &error), 0);
    ck_assert_int_eq(load_sum(193, &error), -EINVAL);
    ck_assert_ptr_nonnull(
        strstr(error.text,
               ":4: worlds[0].fields.height: too many nodes; expected at most 384 in a world"));
}
END_TEST

/* --- Random fields --- */

struct draft {
    char text[1 << 14];
    size_t used;
    int nodes;
};

__attribute__((format(printf, 2, 3))) static void put(struct draft *draft, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    draft->used += (size_t)vsnprintf(draft->text + draft->used, sizeof draft->text - draft->used,
                                     format, arguments);
    va_end(arguments);
}

static void put_expression(struct draft *draft, struct draws *draws, int depth);

/* FORMAT, in which each '?' is an expression, each '#' a number above 0, each '$' a color. */
static void put_node(struct draft *draft, struct draws *draws, const char *format, int depth)
{
    for (; *format; format++)
        if (*format == '?')
            put_expression(draft, draws, depth - 1);
        else if (*format == '#')
            put(draft, "%d.%d", (int)draw_between(draws, 1, 9), (int)draw_between(draws, 0, 99));
        else if (*format == '$')
            put(draft, "'#102030'");
        else
            put(draft, "%c", *format);
}

static void put_expression(struct draft *draft, struct draws *draws, int depth)
{
    static const char *const nodes[] = {
        "{add: [?, ?, ?]}",
        "{subtract: [?, ?]}",
        "{multiply: [?, #]}",
        "{min: [?, ?]}",
        "{max: [?, ?, ?], lattice: 4}",
        "{smooth_min: {of: [?, ?], width: #}}",
        "{smooth_max: {of: [?, ?], width: #}}",
        "{abs: ?}",
        "{of: ?, lattice: 16}",
        "{clamp: {of: ?, from: -#, to: #}}",
        "{step: {of: ?, from: #, to: -#}}",
        "{mix: {from: ?, to: ?, by: {clamp: {of: ?, from: 0, to: 1}}}}",
        "{spline: {of: ?, knots: [[-#, #], [#, -#]]}}",
        "{spline: {of: ?, knots: [[-#, #], [0, 0], [#, -#]], cubic: false}}",
        "{ridge: {of: ?, width: #}}",
        "{terrace: {of: ?, height: #, slope: 0.3}}",
        "{noise: {wavelength: 1000, octaves: 3, persistence: 0.5}}",
        "{noise: {wavelength: 900.5, octaves: 2, basis: cellular, fractal: ridged, gain: #}}",
        "{noise: {wavelength: 64, fractal: none, move: {x: ?, y: ?, by: #}, salt: 5}}",
        "{damped: {wavelength: 400, octaves: 4, damping: #}}",
        "{erode: {of: ?, wavelength: 256, octaves: 2, strength: 0.2, lattice: 1}}",
        "{gullies: {of: ?, wavelength: 200, octaves: 1, lattice: 1}}",
        "{channel: {of: ?, drain: {drain: {of: first, spacing: 4096, levels: 2, from: #}}}}",
        "{drainage: {envelope: first, steepness: #, side: #, spacing: 1024, levels: 3, floor: #}}",
        ("{biome: {temperature: ?, slope: ?, table: [{id: 4, name: a, color: $, slope: [-#, #]}, "
         "{id: 1, name: b, color: $, temperature: [#, .inf]}]}}"),
    };
    const int pick = (int)draw_between(draws, 0, depth > 0 ? ROWS(nodes) - 1 : 1);
    if (depth > 0)
        put_node(draft, draws, nodes[pick], depth);
    else if (pick)
        put(draft, "first");
    else
        put_node(draft, draws, "#", 0);
}

/* A world of random fields, or NULL if it is too large or its values are. */
static struct worlds *draw_worlds(struct draws *draws)
{
    struct draft draft = {.used = 0};
    struct config *config = NULL;
    struct config_error error = {0};
    struct worlds *worlds = NULL;
    put(&draft, "      first: {noise: {wavelength: 5000, octaves: 3}, unit: m}\n      second: ");
    put_expression(&draft, draws, 2);
    put(&draft, "\n      height: {clamp: {of: {add: [second, ");
    put_expression(&draft, draws, 3);
    put(&draft, "]}, from: -1000, to: 1000}}\n");
    const char *text = world_of(draft.text);
    file_write(file, text, strlen(text));
    if (config_load(&config, file, NULL, &error)) {
        must(strstr(error.text, "too many nodes") || strstr(error.text, "at most the spacing") ||
                 strstr(error.text, "10-millionth") || strstr(error.text, "could") ||
                 strstr(error.text, "pairs") || strstr(error.text, "at most 4"),
             "%s\n%s", error.text, text);
        return NULL;
    }
    ck_assert_int_eq(worlds_new(&worlds, config), 0);
    config_free(config);
    return worlds;
}

static void must_come_back(const struct world *world);

START_TEST(random_fields_come_back)
{
    struct draws draws = {9000 + (uint64_t)_i, 0};
    int made = 0;
    for (int i = 0; i < 10; i++) {
        struct worlds *worlds = draw_worlds(&draws);
        if (!worlds)
            continue;
        must_come_back(worlds->world);
        worlds_release(worlds);
        made++;
    }
    ck_assert_int_ge(made, 3);
}
END_TEST

/* --- Documents --- */

/* Documents without what is not looked at, and why they are refused; NULL: they are not. */
static const struct {
    const char *text, *why;
    int err;
} documents[] = {
    {"{\"name\":\"a\",\"generator\":3,\"fields\":{\"height\":1}}", NULL, 0},
    {"{\"name\":\"a\",\"generator\":3,\"fields\":{\"height\":1},\"ranges\":7}", NULL, 0},
    {"{\"name\":\"a\",\"generator\":2,\"noise\":{}}", NULL, 0},
    {"{\"name\":\"a\",\"generator\":3,\"noise\":{}}", NULL, 0},
    {"{\"name\":\"a\",\"generator\":2,\"fields\":{\"height\":1}}",
     "text:1: fields: unknown to generator 2; expected generator 3", -EINVAL},
    {"{\"name\":\"a\",\"generator\":4,\"fields\":{\"height\":1}}",
     "text:1: generator: document was made by generator 4; expected 2 or 3, which this release "
     "implements",
     -ENOTSUP},
    {"{\"name\":\"a\",\"generator\":1,\"noise\":{}}",
     "text:1: generator: document was made by generator 1; expected 2 or 3, which this release "
     "implements",
     -ENOTSUP},
    {"{\"name\":\"a\",\"generator\":3,\"fields\":{\"height\":1},\"noise\":{}}",
     "text:1: noise: this world has `fields`, too; expected either `fields`, or `noise` and "
     "`elevation`",
     -EINVAL},
    {"{\"name\":\"a\",\"generator\":3,\"fields\":{\"height\":{\"geysers\":1}}}",
     "text:1: fields.height.geysers: unknown key; expected one of " NODES ", lattice, unit",
     -EINVAL},
};

START_TEST(documents_name_their_generator)
{
    struct world_text read;
    struct config_error error = {0};
    const char *text = documents[_i].text;
    ck_assert_int_eq(world_text_read(&read, text, strlen(text), NULL, &error), documents[_i].err);
    if (documents[_i].why)
        ck_assert_str_eq(error.text, documents[_i].why);
    else
        world_fields_release(read.world.fields);
}
END_TEST

enum { SIDE = 40 };

/* The document of WORLD gives its very heights, fields, text and fingerprint. */
static void must_come_back(const struct world *world)
{
    struct blob *document = document_world(world);
    struct world_text read;
    struct config_error error = {0};
    int err = world_text_read(&read, (const char *)document->bytes, document->length, NULL, &error);
    must(err == 0, "%s", error.text);
    ck_assert_str_eq(read.fingerprint, world->fingerprints.region);
    ck_assert_str_eq(read.world.name, world->name);
    ck_assert_int_eq(fields_format((struct world_fields *)read.world.fields), 0);
    ck_assert_str_eq(world_fields_text(read.world.fields),
                     world_fields_text(world->config->fields));
    const struct farlands_terrain *own;
    struct farlands_terrain *terrain;
    struct farlands_scratch *scratch;
    ck_assert_int_eq(world_terrain_hold(world, &own), 0);
    ck_assert_int_eq(world_config_terrain(&terrain, &read.world), 0);
    ck_assert_uint_eq(terrain->program->id, own->program->id);
    ck_assert_int_eq(farlands_scratch_new(&scratch), 0);
    const struct farlands_grid grid = {-12345678, 87654321, 3333, SIDE, SIDE, false};
    float heights[SIDE * SIDE], again[SIDE * SIDE];
    ck_assert_int_eq(terrain_heights(own, scratch, &grid, heights, SIDE), 0);
    ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, again, SIDE), 0);
    ck_assert_mem_eq(heights, again, sizeof heights);
    farlands_scratch_free(scratch);
    terrain_free(terrain);
    world_terrain_release(world, own);
    world_fields_release(read.world.fields);
    blob_release(document);
}

START_TEST(documents_of_samples_come_back)
{
    glob_t samples;
    int graphs = 0;
    ck_assert_int_eq(glob("config/worlds/*.yaml", 0, NULL, &samples), 0);
    for (size_t i = 0; i < samples.gl_pathc; i++) {
        struct worlds *worlds = worlds_of(samples.gl_pathv[i]), *derived;
        if (worlds->world->config->fields) {
            must_come_back(worlds->world);
            ck_assert_int_eq(worlds_derive(&derived, worlds->world, 99), 0);
            must_come_back(derived->world);
            worlds_release(derived);
            graphs++;
        }
        worlds_release(worlds);
    }
    ck_assert_int_ge(graphs, 1);
    globfree(&samples);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fields");
    TCase *tcase = suite_case(suite, "fields of a world");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, every_node_is_in_a_good_row);
    tcase_add_test(tcase, every_operation_has_a_node);
    tcase_add_test(tcase, keys_have_the_bounds_of_their_operation);
    tcase_add_test(tcase, every_node_is_in_the_readme);
    tcase_add_test(tcase, fuzzers_know_every_node);
    tcase_add_loop_test(tcase, good_fields_have_a_text_that_comes_back, 0, ROWS(good));
    tcase_add_loop_test(tcase, bad_fields_are_refused, 0, ROWS(bad));
    tcase_add_loop_test(tcase, bad_worlds_are_refused, 0, ROWS(bad_worlds));
    tcase_add_test(tcase, deep_noises_have_salts_of_their_own);
    tcase_add_test(tcase, graphs_have_a_largest_size);
    tcase_add_loop_test(tcase, random_fields_come_back, 0, 20);
    tcase_add_loop_test(tcase, documents_name_their_generator, 0, ROWS(documents));
    tcase_add_test(tcase, documents_of_samples_come_back);
    return suite_run(suite);
}
