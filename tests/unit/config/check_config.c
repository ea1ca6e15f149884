/* The configuration: defaults of omitted keys, and errors by line and key. */
#include "config/daemon/config.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <sys/wait.h>

#include "config/daemon/daemon_options.h"
#include "config/fields/field_nodes.h"
#include "config/text/yaml_file.h"
#include "config/world/world_options.h"
#include "config/world/world_terrain.h"
#include "tests/unit/support/configuration_file.h"

#define DEEP_31 "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["

/* Known layers; two of them cannot hold all heights. */
static const struct config_layer known[] = {
    {.name = "any"},
    {.name = "feet", .lowest = -20000, .highest = 20000.5f},
    {.name = "any-other"},
    {.name = "deep", .lowest = -32768, .highest = 32767.996f},
    {.name = "ids", .biomes = true},
    {.name = "rivers", .rivers = true},
    {0},
};

static struct config *load(const char *path)
{
    struct config *config = NULL;
    struct config_error error = {0};
    int err = config_load(&config, path, known, &error);
    ck_assert_msg(err == 0, "%d %s", err, error.text);
    return config;
}

static struct config *load_text(const char *yaml)
{
    file_write(file, yaml, strlen(yaml));
    return load(file);
}

/* A and B must agree on OPTIONS, except for the key EXCEPT. */
static void must_equal(const struct option *options, const void *a, const void *b,
                       const char *except)
{
    for (const struct option *option = options; option->key; option++) {
        char left[OPTION_TEXT_MAX], right[OPTION_TEXT_MAX];
        if (except && strcmp(option->key, except) == 0)
            continue;
        if (option->kind == OPTION_SECTION) {
            must_equal(option->options, a, b, except);
        } else if (option->kind == OPTION_WORLDS) {
            const struct config *one = a, *other = b;
            ck_assert_int_eq(one->world_count, other->world_count);
            for (int i = 0; i < one->world_count; i++)
                must_equal(option->options, &one->worlds[i], &other->worlds[i], except);
        } else if (option->kind == OPTION_LAYERS) {
            ck_assert_uint_eq(((const struct world_config *)a)->layers,
                              ((const struct world_config *)b)->layers);
        } else if (option->kind == OPTION_FIELDS) {
            const struct world_fields *left_fields = ((const struct world_config *)a)->fields,
                                      *right_fields = ((const struct world_config *)b)->fields;
            ck_assert(!left_fields == !right_fields);
            if (left_fields)
                ck_assert_str_eq(world_fields_text(left_fields), world_fields_text(right_fields));
        } else if (option->kind == OPTION_LIST) {
            ck_assert_mem_eq(&((const struct config *)a)->site.proxies,
                             &((const struct config *)b)->site.proxies, sizeof(struct networks));
        } else {
            world_option_format(option, a, left, sizeof left);
            world_option_format(option, b, right, sizeof right);
            ck_assert_msg(strcmp(left, right) == 0, "%s: %s and %s", option->key, left, right);
        }
    }
}

static const char *const builtin_worlds[] = {"default", "archipelago", "alps"};

START_TEST(test_builtin)
{
    struct config *config = load(NULL);
    ck_assert_str_eq(config->listen, "127.0.0.1:8080");
    ck_assert_str_eq(config->site.public_url, "");
    ck_assert_str_eq(config->site.base_path, "");
    ck_assert_int_eq(config->site.proxies.count, 0);
    ck_assert_uint_eq(config->threads, 0);
    ck_assert_int_eq(config->log, LOG_INFO);
    ck_assert_str_eq(config->cache.path, "");
    ck_assert_uint_eq(config->cache.memory, 256 << 20);
    ck_assert_uint_eq(config->limits.connections, 4096);
    ck_assert_uint_eq(config->limits.queue, 1024);
    ck_assert_uint_eq(config->limits.wait, 1000);
    ck_assert_uint_eq(config->limits.connections_per_client, 1024);
    ck_assert_uint_eq(config->limits.idle, 75);
    ck_assert_uint_eq(config->limits.drain, 4);
    ck_assert_uint_eq(config->limits.misses_per_client, 512);
    ck_assert_uint_eq(config->limits.memory, 0);
    ck_assert_uint_eq(config->limits.streams, 512);
    ck_assert_uint_eq(config->limits.streams_per_client, 16);
    ck_assert_uint_eq(config->webp.quality, 85);
    ck_assert_uint_eq(config->webp.quality_2x, 65);
    ck_assert_uint_eq(config->webp.method, 0);
    ck_assert_uint_eq(config->shards, 0);
    ck_assert_str_eq(config->access_log, "");
    ck_assert_uint_eq(config->cache.disk, UINT64_C(10) << 30);
    ck_assert_uint_eq(config->cache.files, 1000000);
    ck_assert_int_eq(config->world_count, ROWS(builtin_worlds));
    for (int i = 0; i < config->world_count; i++) {
        const struct world_config *world = &config->worlds[i];
        ck_assert_str_eq(world->name, builtin_worlds[i]);
        ck_assert_int_eq(world->seeds, SEEDS_ANY);
        ck_assert_ptr_nonnull(world->fields);
    }
    config_free(config);
    config_free(NULL);
}
END_TEST

START_TEST(test_defaults)
{
    const struct world_config *world = &world_defaults;
    ck_assert_int_eq(world->native_zoom, 16);
    ck_assert_int_eq(world->origin[0], -8388608 * FARLANDS_UNIT);
    ck_assert_int_eq(world->origin[1], -8388608 * FARLANDS_UNIT);
    ck_assert(!world->wrap);
    ck_assert_int_eq(world->terrain.period, 0);
    ck_assert_int_eq(world->terrain.basis, FARLANDS_PERLIN);
    ck_assert_double_eq(world->terrain.offset, 1);
    ck_assert_double_eq(world->terrain.gain, 2);
    ck_assert_int_eq(world->terrain.warp.amplitude, 0);
    ck_assert_int_eq(world->terrain.warp.wavelength, 0);
    ck_assert_int_gt(world->terrain.volume.overhangs.amplitude, 0);
    ck_assert_double_gt(world->terrain.volume.caverns.size, 0);
    ck_assert_int_gt(world->terrain.volume.tunnels.radius, 0);
    ck_assert_int_ge(world->terrain.knots, 2);
    ck_assert_int_ge(world->stops, 2);
    ck_assert_ptr_null(params_fault(&world->terrain, NULL));
}
END_TEST

/*
 * The text of farlands.yaml, and without the comment signs before its worlds, which show the
 * defaults.
 */
static char *documented_text(bool with_worlds)
{
    struct blob *yaml = file_read("config/farlands.yaml");
    char *text = strndup((const char *)yaml->bytes, yaml->length),
         *line = strstr(text, "\n#worlds:");
    blob_release(yaml);
    ck_assert_ptr_nonnull(line);
    while (with_worlds && line) {
        ck_assert(line[1] == '#' || line[1] == '\n' || line[1] == '\0');
        if (line[1] == '#')
            memmove(line + 1, line + 2, strlen(line + 2) + 1);
        line = strchr(line + 1, '\n');
    }
    return text;
}

/* The world in farlands.yaml shows the defaults, and has a name. */
START_TEST(test_documented_world_is_default)
{
    char *text = documented_text(true);
    struct config *config = load_text(text);
    ck_assert_int_eq(config->world_count, 1);
    struct world_config *world = config->worlds;
    ck_assert_str_eq(world->name, "mine");
    memset(world->name, 0, sizeof world->name);
    ck_assert_mem_eq(world, &world_defaults, sizeof *world);
    config_free(config);
    free(text);
}
END_TEST

START_TEST(test_documented_file_is_builtin)
{
    struct config *builtin = load(NULL), *given = load("config/farlands.yaml");
    must_equal(daemon_options, builtin, given, NULL);
    config_free(builtin);
    config_free(given);
}
END_TEST

/* True if a line of TEXT sets KEY, or would without the comment before it. */
static bool documented(const char *text, const char *key)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n -#");
        if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':')
            return true;
    }
    return false;
}

static void must_be_documented(const char *text, const struct option *options)
{
    for (; options->key; options++) {
        ck_assert_msg(documented(text, options->key), "%s is not in config/farlands.yaml",
                      options->key);
        if (options->options)
            must_be_documented(text, options->options);
    }
}

START_TEST(test_every_key_is_documented)
{
    char *text = documented_text(false);
    must_be_documented(text, daemon_options);
    free(text);
}
END_TEST

static void must_come_back(const struct option *options, const struct world_config *world,
                           struct world_config *copy)
{
    for (const struct option *option = options; option->key; option++) {
        char text[OPTION_TEXT_MAX], again[OPTION_TEXT_MAX];
        if (option->options)
            must_come_back(option->options, world, copy);
        if (option->kind >= OPTION_ORIGIN)
            continue;
        option_format(option, world, text, sizeof text);
        ck_assert_msg(option_parse(option, text, strlen(text), copy) == 0, "%s: %s", option->key,
                      text);
        option_format(option, copy, again, sizeof again);
        ck_assert_str_eq(text, again);
    }
}

/* The text of every scalar of a world parses to the same value. */
START_TEST(test_format_and_parse)
{
    struct config *config = load(FRACTAL_WORLD);
    static struct world_config copy;
    must_come_back(world_options, config->worlds, &copy);
    config_free(config);
}
END_TEST

/* A file without keys is the built-in configuration. */
static const char *const empty_files[] = {"", "\n", "# nothing\n", "{}"};

START_TEST(test_empty_file)
{
    struct config *builtin = load(NULL), *config = load_text(empty_files[_i]);
    must_equal(daemon_options, builtin, config, NULL);
    config_free(builtin);
    config_free(config);
}
END_TEST

START_TEST(test_omitted_keys)
{
    struct config *builtin = load(NULL);
    struct config *config = load_text("threads: 3\n"
                                      "cache: {memory: 1K}\n"
                                      "worlds:\n"
                                      "  - name: first\n"
                                      "    seed: 18446744073709551615\n"
                                      "    native_zoom: 3\n"
                                      "    origin: [-0.5, 2251799813685248]\n"
                                      "    noise: {octaves: 5, hash: permutation}\n"
                                      "    elevation: [[-0.5, -1], [0.5, 1]]\n"
                                      "    palette: [[0, '#000000'], [0, '#ffFFfe']]\n"
                                      "  - name: second\n"
                                      "  - name: third\n"
                                      "    noise: {octaves: 2}\n"
                                      "  - name: fourth\n"
                                      "    seeds: any\n"
                                      "    noise: {basis: value, fractal: ridged, offset: 16,\n"
                                      "            gain: 0.25, warp: {amplitude: 1.5,\n"
                                      "            wavelength: 4}}\n");
    ck_assert_str_eq(config->listen, builtin->listen);
    ck_assert_uint_eq(config->threads, 3);
    ck_assert_uint_eq(config->cache.memory, 1024);
    ck_assert_str_eq(config->cache.path, builtin->cache.path);
    ck_assert_uint_eq(config->limits.queue, builtin->limits.queue);
    ck_assert_int_eq(config->world_count, 4);

    const struct world_config *first = &config->worlds[0];
    ck_assert_str_eq(first->name, "first");
    ck_assert_uint_eq(first->terrain.seed, UINT64_MAX);
    ck_assert_int_eq(first->native_zoom, 3);
    ck_assert_int_eq(first->origin[0], -512);
    ck_assert_int_eq(first->origin[1], FARLANDS_LIMIT / 2);
    ck_assert_int_eq(first->terrain.octaves, 5);
    ck_assert_int_eq(first->terrain.hash, FARLANDS_PERMUTATION);
    ck_assert_int_eq(first->terrain.wavelength, world_defaults.terrain.wavelength);
    ck_assert_double_eq(first->terrain.persistence, world_defaults.terrain.persistence);
    ck_assert_int_eq(first->terrain.knots, 2);
    ck_assert_float_eq(first->terrain.elevation[1].metres, 1);
    ck_assert_int_eq(first->stops, 2);
    ck_assert_int_eq(first->palette[1].blue, 0xfe);

    /* Defaults do not come from the previous world, nor from those that are built in. */
    for (int i = 0; i < config->world_count; i++)
        ck_assert_int_eq(config->worlds[i].seeds, i == 3 ? SEEDS_ANY : SEEDS_FIXED);
    must_equal(world_options, &world_defaults, &config->worlds[1], "name");
    ck_assert_int_eq(config->worlds[2].terrain.octaves, 2);
    config->worlds[2].terrain.octaves = world_defaults.terrain.octaves;
    must_equal(world_options, &world_defaults, &config->worlds[2], "name");

    const struct farlands_params *fourth = &config->worlds[3].terrain;
    ck_assert_int_eq(fourth->basis, FARLANDS_VALUE);
    ck_assert_int_eq(fourth->fractal, FARLANDS_RIDGED);
    ck_assert_double_eq(fourth->offset, 16);
    ck_assert_double_eq(fourth->gain, 0.25);
    ck_assert_int_eq(fourth->warp.amplitude, FARLANDS_UNIT * 3 / 2);
    ck_assert_int_eq(fourth->warp.wavelength, FARLANDS_UNIT * 4);
    ck_assert_int_eq(fourth->wavelength, world_defaults.terrain.wavelength);
    config_free(builtin);
    config_free(config);
}
END_TEST

/* A thousand worlds that are like one: its fields are shared, and were checked once. */
START_TEST(test_many_alike)
{
    enum { WORLDS = 1000, LINE = 48 };
    static char text[16 + WORLDS * LINE];
    char *at = stpcpy(text, "worlds:\n");
    for (int i = 0; i < WORLDS; i++)
        at += sprintf(at, "  - {like: alps, name: a%d, seed: %d}\n", i, i);
    struct config *config = load_text(text);
    ck_assert_int_eq(config->world_count, WORLDS);
    for (int i = 0; i < WORLDS; i++) {
        ck_assert_ptr_eq(config->worlds[i].fields, config->worlds[0].fields);
        ck_assert_uint_eq(config->worlds[i].terrain.seed, i);
    }
    ck_assert_int_eq(config->worlds[0].fields->checks, 1);
    config_free(config);
}
END_TEST

/* Worlds like those that are built in. */
START_TEST(test_like)
{
    struct config *builtin = load(NULL);
    struct config *config = load_text("worlds:\n"
                                      "  - like: alps\n"
                                      "  - name: first\n"
                                      "    like: alps\n"
                                      "  - seed: 7\n"
                                      "    seeds: fixed\n"
                                      "    volume: {caverns: {size: 0.25}}\n"
                                      "    like: default\n"
                                      "  - {like: default, name: flat, fields: {height: 5}}\n"
                                      "  - name: plain\n");
    const struct world_config *worlds = config->worlds, *alps = &builtin->worlds[2];
    ck_assert_int_eq(config->world_count, 5);
    must_equal(world_options, &worlds[0], alps, NULL);
    ck_assert_str_eq(worlds[1].name, "first");
    must_equal(world_options, &worlds[1], alps, "name");

    struct world_config third = builtin->worlds[0];
    third.terrain.seed = 7;
    third.seeds = SEEDS_FIXED;
    third.terrain.volume.caverns.size = 0.25;
    must_equal(world_options, &worlds[2], &third, NULL);

    ck_assert_str_eq(worlds[3].name, "flat");
    ck_assert_str_eq(world_fields_text(worlds[3].fields), "{\"height\":5}");
    must_equal(world_options, &worlds[4], &world_defaults, "name");
    config_free(builtin);
    config_free(config);
}
END_TEST

#define WORLD "worlds:\n  - name: a\n"
#define WRAP WORLD "    wrap: true\n"
#define NOISE WORLD "    noise:\n"
/* At most 26 octaves at this wavelength: 65536 * 1024 / 2^25 = 2. */
#define OCTAVES(count) NOISE "      wavelength: 65536\n      lacunarity: 2\n      octaves: " #count
#define VOLUME WORLD "    volume:\n"
#define NAME63 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff123"

/* Valid, but near a limit. */
static const char *const good[] = {
    "threads: 256",
    "threads: \"4\"",
    "log: debug",
    "public_url: https://[::1]:8443/a/b/",
    "base_path: /",
    "base_path: /a/b/",
    "proxies: []",
    "cache: {memory: 0}",
    "limits: {memory: 0}",
    "webp: {quality: 0, quality_2x: 100, method: 6}",
    "webp: {method: 0}",
    "limits: {memory: 8M}",
    "cache: {memory: 1024T}",
    "limits: {connections: 1, queue: 1000000}",
    "limits: {idle: 1}",
    "limits: {idle: 86400}",
    "limits: {drain: 1}",
    "limits: {drain: 3600}",
    "listen: \"a:1\" # comment",
    "\xef\xbb\xbflisten: a:1",
    "%YAML 1.1\n---\nthreads: 1\n",
    "threads: 1\r\nlog: info\r\n",
    "cache: {path: \"/tmp/\xc3\xa9 x\"}",
    WORLD "    seed: 0",
    WORLD "    seed: 18446744073709551615",
    WORLD "    seed: -1",
    WORLD "    seed: hello",
    WORLD "    seed: '\xC3\xA9 & 1.5'",
    WORLD "    seeds: fixed",
    WORLD "    seeds: any",
    WORLD "    native_zoom: 32",
    WORLD "    origin: [-2251799813685248, 2251799813685248]",
    WORLD "    elevation: [[0, 5], [1, 5]]",
    WORLD "    elevation: [[-1, 5], [1, -5]]",
    WORLD "    palette: [[0, \"#000000\"], [0, \"#FFFFFF\"]]",
    OCTAVES(1),
    NOISE "      wavelength: 0.001953125\n      octaves: 1",
    NOISE "      wavelength: 1099511627776\n      octaves: 2",
    NOISE "      wavelength: 1e3\n      octaves: 6",
    NOISE "      wavelength: 2.5E+2\n      octaves: 5e0",
    NOISE "      wavelength: 1.953125e-3\n      octaves: 1",
    "cache: {memory: 1e9}",
    NOISE "      persistence: 1\n      lacunarity: 1024\n      octaves: 2",
    NOISE "      hash: permutation\n      octave_salt: true",
    NOISE "      fractal: none\n      octaves: 64",
    NOISE "      basis: perlin\n      fractal: fbm",
    NOISE "      basis: simplex\n      fractal: billow",
    NOISE "      basis: cellular\n      fractal: ridged",
    NOISE "      basis: value\n      fractal: hybrid",
    NOISE "      offset: 0\n      gain: 0",
    NOISE "      offset: 16\n      gain: 1024",
    NOISE "      warp: {}",
    NOISE "      warp: {amplitude: 0, wavelength: 0}",
    NOISE "      warp: {amplitude: 0, wavelength: 0.001953125}",
    NOISE "      warp: {amplitude: 0.0009765625, wavelength: 0.001953125}",
    NOISE "      warp: {wavelength: 1099511627776, amplitude: 1099511627776}",
    NOISE "      basis: simplex\n    wrap: false",
    WRAP "    noise: {wavelength: 16777216, octaves: 1}",
    /* Disabled noise need not fit the window. */
    WRAP "    noise: {warp: {amplitude: 0, wavelength: 300}}",
    WRAP "    noise: {fractal: none, lacunarity: 3}",
    OCTAVES(26),
    VOLUME "      caverns: {}",
    VOLUME "      overhangs: {amplitude: 16384, threshold: 0, wavelength: 16384}",
    VOLUME "      tunnels: {radius: 0, octaves: 16, wavelength: 0.001953125}",
    VOLUME "      caverns: {size: 1, cover: 0.5, squash: 0.0625, lacunarity: 1, octaves: 1}",
    WRAP "    volume: {caverns: {size: 0, wavelength: 100}}",
    WRAP "    native_zoom: 0\n    noise: {wavelength: 64, octaves: 3}",
    WORLD "    layers: [deep, feet, any-other, any]",
    WORLD "    elevation: [[0, -20000], [1, 20000.5]]",
    WORLD "    layers: [any, deep]\n    elevation: [[0, -32768], [1, 32767.996]]",
    WORLD "    layers: [any-other]\n    elevation: [[0, -1000000], [1, 1000000]]",
    "worlds: [{name: " NAME63 "}]",
    "worlds: [{name: 0_-}]",
    "worlds: [{name: default}, {name: relief}]",
    "\xef\xbb\xbfthreads: 1\nlog: info",
    "%YAML 1.1\n--- !!map\nlog: !!str info\nthreads: !<TAG> 1",
};

START_TEST(test_good)
{
    config_free(load_text(good[_i]));
}
END_TEST

#define ANCHORS "anchors and aliases (& and *) are not supported; expected each value written out"
#define TOO_MANY "too many keys and values; expected at most 200000"
#define ALL_LAYERS "all, or a list of any, feet, any-other, deep"

static const struct {
    const char *yaml;
    int line;             /* 0: any */
    const char *key;      /* NULL: none */
    const char *expected; /* a part of the message */
} broken[] = {
    /* Not YAML. */
    {"\tlisten: a:1", 1, NULL, "UTF-8 text"},
    {"# a\nlog: info\n\tlisten: a:1", 3, NULL, "UTF-8 text"},
    {"listen: \"\xff:1\"", 1, NULL, "UTF-8 text"},
    {"listen: \"a\xc3(:1\"", 1, NULL, "UTF-8 text"},
    {"# a\nlog: info\ncache: {path: \"\xc0\xaf\"}", 3, NULL, "UTF-8 text"},
    {"log: info\nlisten: \"\x01\"", 2, NULL, "UTF-8 text"},
    {"worlds: [{name: a", 0, NULL, "UTF-8 text"},
    {"worlds: [{name: a]}", 1, NULL, "UTF-8 text"},
    {"listen: \"a:1", 1, NULL, "UTF-8 text"},
    {"a: b: c", 1, NULL, "UTF-8 text"},
    {"%YAML 3.0\n---\nlog: info", 1, NULL, "UTF-8 text"},
    {"\xff\xfel\0o\0g\0", 1, NULL, "UTF-8 text"},
    {"log:\n [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", 2, NULL,
     "nested too deeply; expected at most 32 levels"},
    {"%TAG ! x\n---\nlog: info", 1, NULL, "%TAG is not supported; expected no such directive"},
    {"# a\r\n%TAG ! x\r\n---\r\nlog: info", 2, NULL, "%TAG is not supported"},
    {"\xef\xbb\xbf%TAG ! x\n---\nlog: info", 1, NULL, "%TAG is not supported"},
    {"log: info\n...\n%TAG ! x", 3, NULL, "%TAG is not supported"},
    /* Not a mapping. */
    {"hello", 1, NULL,
     "listen, public_url, base_path, proxies, shards, threads, log, access_log, cache, limits, webp, "
     "worlds"},
    {"~", 1, NULL, "listen, public_url"},
    {"\n[]", 2, NULL, "listen, public_url"},
    {"cache: 1", 1, "cache", "path, disk, files, memory"},
    {"cache:", 1, "cache", "path, disk, files, memory"},
    {"cache: []", 1, "cache", "path, disk, files, memory"},
    {"limits: [queue, 1]", 1, "limits",
     "connections, connections_per_client, idle, drain, queue, wait, misses_per_client, memory, "
     "streams, streams_per_client"},
    {WORLD "    noise: 4", 3, "worlds[0].noise", "octaves"},
    {WORLD "    noise:", 3, "worlds[0].noise", "octaves"},
    {"worlds: [1]", 1, "worlds[0]", "name, seed"},
    {"worlds:\n  - name: a\n  - [b]", 3, "worlds[1]", "name, seed"},
    /* Not one document. */
    {"log: info\n---\nthreads: -1", 0, NULL, "one document"},
    /* Unknown keys. */
    {"nope: 1", 1, "nope",
     "listen, public_url, base_path, proxies, shards, threads, log, access_log, cache, limits, webp, "
     "worlds"},
    {"Listen: a:1", 1, "Listen", "listen"},
    {"log: info\ncache:\n  nope: 1", 3, "cache.nope", "path, disk, files, memory"},
    {"limits: {path: 1}", 1, "limits.path",
     "connections, connections_per_client, idle, drain, queue, wait, misses_per_client, memory, "
     "streams, streams_per_client"},
    {WORLD "    nope: 1", 3, "worlds[0].nope",
     "name, seed, seeds, native_zoom, origin, wrap, noise"},
    {"worlds:\n  - name: a\n  - name: b\n    listen: a:1", 4, "worlds[1].listen", "name, seed"},
    {NOISE "      nope: 1", 4, "worlds[0].noise.nope", "basis, gradients, fade, hash"},
    {NOISE "      seed: 1", 4, "worlds[0].noise.seed", "octaves"},
    {"<<: {log: info}", 1, "<<", "listen"},
    {"\"log\\0\\a\": info", 1, "log??", "listen"},
    /* Duplicates. */
    {"threads: 1\nlog: info\nthreads: 1", 3, "threads", "once"},
    {"cache: {memory: 1, memory: 1}", 1, "cache.memory", "once"},
    {"\"log\": info\nlog: info", 2, "log", "once"},
    {WORLD "    seed: 1\n    seed: 2", 4, "worlds[0].seed", "once"},
    {NOISE "      fade: cubic\n      fade: cubic", 5, "worlds[0].noise.fade", "once"},
    {"worlds:\n  - name: a\n  - name: b\n  - name: a", 4, "worlds[2].name", "once"},
    {"worlds:\n  - like: alps\n  - like: alps", 3, "worlds[1].name", "once"},
    {"worlds:\n  - like: alps\n  - name: alps", 3, "worlds[1].name", "once"},
    {"worlds:\n  - like: alps\n    like: alps", 3, "worlds[0].like", "once"},
    /* Like a world that is not built in. */
    {WORLD "    like: alp", 3, "worlds[0].like", "a built-in world: default, archipelago, alps"},
    {"worlds:\n  - name: a\n  - name: b\n    like: a", 4, "worlds[1].like", "a built-in world:"},
    {WORLD "    like: [alps]", 3, "worlds[0].like", "a built-in world:"},
    {WORLD "    like:", 3, "worlds[0].like", "a built-in world:"},
    {WORLD "    like: alps\n    noise: {octaves: 3}", 4, "worlds[0].noise", "either `fields`"},
    {"like: alps", 1, "like", "listen, public_url"},
    /* Documents: tests/http/49-saved has more of them. */
    {WORLD "    file: nothing.json\n    like: alps", 3, "worlds[0].file", "one of them"},
    {WORLD "    file: [a]", 3, "worlds[0].file", "the path of a saved"},
    {WORLD "    file:", 3, "worlds[0].file", "the path of a saved"},
    {"file: a.json", 1, "file", "listen, public_url"},
    {"name: a", 1, "generator", "/{world}.json"},
    {"farlands: 1\nworlds: []", 1, NULL, "complete document"},
    {"worlds:\n  - seed: 3", 2, "worlds[0].name", "1 to 63"},
    /* Wrong kinds. */
    {"listen: [a]", 1, "listen", "HOST:PORT"},
    {"listen: {a: 1}", 1, "listen", "HOST:PORT"},
    {"log: [info]", 1, "log", "error, warning, info or debug"},
    {"threads: [1]", 1, "threads", "a whole number from 0 to 256"},
    {"threads: {a: 1}", 1, "threads", "a whole number from 0 to 256"},
    {"cache: {path: [a]}", 1, "cache.path", "a directory's path"},
    {"cache: {path: \"a\\0b\"}", 1, "cache.path", "a directory's path"},
    {"worlds: 1", 1, "worlds", "a list of 1 to 1024 worlds"},
    {"worlds:", 1, "worlds", "a list of 1 to 1024 worlds"},
    {"worlds: []", 1, "worlds", "a list of 1 to 1024 worlds"},
    {"worlds: {name: a}", 1, "worlds", "a list of 1 to 1024 worlds"},
    {WORLD "    seed: [1]", 3, "worlds[0].seed", "2^64-1"},
    {WORLD "    origin: 5", 3, "worlds[0].origin", "[x, y]"},
    {WORLD "    elevation: 5", 3, "worlds[0].elevation", "pairs [noise, metres]"},
    {WORLD "    palette: {0: red}", 3, "worlds[0].palette", "\"#rrggbb\""},
    /* The public address; its parsers have tests of their own. */
    {"public_url: tiles.example.org", 1, "public_url", "http:// or https://"},
    {"log: info\npublic_url: http://a/?b", 2, "public_url", "http:// or https://"},
    {"public_url: [http://a]", 1, "public_url", "http:// or https://"},
    {"public_url: \"http://a\\0\"", 1, "public_url", "http:// or https://"},
    {"base_path: a", 1, "base_path", "a path such as /terrain"},
    {"base_path: /a/../b", 1, "base_path", "a path such as /terrain"},
    {"base_path: {a: 1}", 1, "base_path", "a path such as /terrain"},
    {"proxies: 127.0.0.1", 1, "proxies", "a list of up to 64 addresses and networks"},
    {"proxies: {a: 1}", 1, "proxies", "a list of up to 64 addresses and networks"},
    {"proxies:", 1, "proxies", "a list of up to 64 addresses and networks"},
    {"proxies:\n  - 127.0.0.1\n  - localhost", 3, "proxies[1]", "10.0.0.0/8"},
    {"proxies:\n  - 127.0.0.1\n  -", 3, "proxies[1]", "got no value; expected "},
    {"proxies: [10.0.0.1/8]", 1, "proxies[0]", "without bits beyond the network's"},
    {"proxies: [[127.0.0.1]]", 1, "proxies[0]", "10.0.0.0/8"},
    /* Counts. */
    {"threads: -1", 1, "threads", "a whole number from 0 to 256"},
    {"threads: 257", 1, "threads", "a whole number from 0 to 256"},
    {"threads: 4294967296", 1, "threads", "a whole number from 0 to 256"},
    {"threads: 18446744073709551617", 1, "threads", "a whole number from 0 to 256"},
    {"threads: 1.5", 1, "threads", "a whole number from 0 to 256"},
    {"threads: 01", 1, "threads", "a whole number from 0 to 256"},
    {"threads: +1", 1, "threads", "a whole number from 0 to 256"},
    {"threads: 0x10", 1, "threads", "a whole number from 0 to 256"},
    {"threads: 1e3", 1, "threads", "a whole number from 0 to 256"},
    {"threads: 1e-1", 1, "threads", "a whole number from 0 to 256"},
    {"threads: \" 1\"", 1, "threads", "a whole number from 0 to 256"},
    {"threads:", 1, "threads", "a whole number from 0 to 256"},
    {"webp: {quality: 101}", 1, "webp.quality", "a whole number from 0 to 100"},
    {"webp: {quality: -1}", 1, "webp.quality", "a whole number from 0 to 100"},
    {"webp: {quality: 85.5}", 1, "webp.quality", "a whole number from 0 to 100"},
    {"webp: {quality_2x: 101}", 1, "webp.quality_2x", "a whole number from 0 to 100"},
    {"webp: {method: 7}", 1, "webp.method", "a whole number from 0 to 6"},
    {"webp: {qualty: 5}", 1, "webp.qualty", "quality"},
    {"webp: 85", 1, "webp", ""},
    {"limits: {idle: 0}", 1, "limits.idle", "a whole number from 1 to 86400"},
    {"limits: {idle: 86401}", 1, "limits.idle", "a whole number from 1 to 86400"},
    {"limits: {idle: -1}", 1, "limits.idle", "a whole number from 1 to 86400"},
    {"limits: {idle: 75s}", 1, "limits.idle", "a whole number from 1 to 86400"},
    {"limits: {drain: 0}", 1, "limits.drain", "a whole number from 1 to 3600"},
    {"limits: {drain: 3601}", 1, "limits.drain", "a whole number from 1 to 3600"},
    {"limits: {drain: 4s}", 1, "limits.drain", "a whole number from 1 to 3600"},
    {"limits: {wait: 0}", 1, "limits.wait", "a whole number from 1 to 60000"},
    {"limits: {memory: 8388607}", 1, "limits.memory", "0, or a size from 8M to 1024T"},
    {"limits: {memory: 1025T}", 1, "limits.memory", "0, or a size from 8M to 1024T"},
    {"limits: {streams: 0}", 1, "limits.streams", "from 1 to 1000000"},
    {"limits: {misses_per_client: -1}", 1, "limits.misses_per_client", "from 0 to 1000000"},
    {"limits: {connections_per_client: 1000001}", 1, "limits.connections_per_client",
     "from 0 to 1000000"},
    {"shards: 65", 1, "shards", "a whole number from 0 to 64"},
    {"access_log: [1]", 1, "access_log", "a file's path"},
    {"cache: {disk: 1023K}", 1, "cache.disk", "from 1M to 1024T"},
    {"cache: {files: 99}", 1, "cache.files", "a whole number from 100 to 1000000000"},
    {"limits: {queue: 0}", 1, "limits.queue", "a whole number from 1 to 1000000"},
    {"limits: {connections: 1000001}", 1, "limits.connections", "from 1 to 1000000"},
    {"log: loud", 1, "log", "error, warning, info or debug"},
    {"log: Info", 1, "log", "error, warning, info or debug"},
    {"log: 1", 1, "log", "error, warning, info or debug"},
    /* Sizes. */
    {"cache:\n  memory: 1k", 2, "cache.memory", "a size from 0 to 1024T"},
    {"cache: {memory: -1}", 1, "cache.memory", "a size from 0 to 1024T"},
    {"cache: {memory: 1.5G}", 1, "cache.memory", "a size from 0 to 1024T"},
    {"cache: {memory: 1 K}", 1, "cache.memory", "a size from 0 to 1024T"},
    {"cache: {memory: 1KK}", 1, "cache.memory", "a size from 0 to 1024T"},
    {"cache: {memory: 1KB}", 1, "cache.memory", "a size from 0 to 1024T"},
    {"cache: {memory: K}", 1, "cache.memory", "a size from 0 to 1024T"},
    {"cache: {memory: \"\"}", 1, "cache.memory", "a size from 0 to 1024T"},
    {"cache: {memory: 1025T}", 1, "cache.memory", "a size from 0 to 1024T"},
    {"cache: {memory: 18014398509481984K}", 1, "cache.memory", "a size from 0 to 1024T"},
    {"cache: {memory: 18446744073709551616}", 1, "cache.memory", "a size from 0 to 1024T"},
    /* Worlds. */
    {"log: info\nworlds:\n  - seed: 1", 3, "worlds[0].name", "characters a-z"},
    {"worlds: [{}]", 1, "worlds[0].name", "characters a-z"},
    {"worlds: [{name: A}]", 1, "worlds[0].name", "1 to 63"},
    {"worlds: [{name: a b}]", 1, "worlds[0].name", "1 to 63"},
    {"worlds: [{name: \"\"}]", 1, "worlds[0].name", "1 to 63"},
    {"worlds: [{name: -a}]", 1, "worlds[0].name", "beginning with a letter or digit"},
    {"worlds: [{name: _a}]", 1, "worlds[0].name", "beginning with a letter or digit"},
    {"worlds: [{name: a.b}]", 1, "worlds[0].name", "1 to 63"},
    {"worlds: [{name: a/b}]", 1, "worlds[0].name", "1 to 63"},
    {"worlds: [{name: ..}]", 1, "worlds[0].name", "1 to 63"},
    {"worlds: [{name: \"a:1\"}]", 1, "worlds[0].name", "1 to 63"},
    {"worlds: [{name: \"a\\0b\"}]", 1, "worlds[0].name", "1 to 63"},
    {"worlds: [{name: \xc3\xa9}]", 1, "worlds[0].name", "1 to 63"},
    {"worlds: [{name: " NAME63 "4}]", 1, "worlds[0].name", "1 to 63"},
    {"worlds: [{name: worlds}]", 1, "worlds[0].name", "any other"},
    {"worlds: [{name: viewer}]", 1, "worlds[0].name", "any other"},
    {"worlds: [{name: healthz}]", 1, "worlds[0].name", "any other"},
    {"worlds: [{name: readyz}]", 1, "worlds[0].name", "any other"},
    {"worlds:\n  - name: a\n  - name: metrics", 3, "worlds[1].name", "any other"},
    {WORLD "    seed:", 3, "worlds[0].seed",
     "a whole number from -2^63 to 2^64-1, or any other text"},
    {WORLD "    seed: ' '", 3, "worlds[0].seed", "from -2^63 to 2^64-1"},
    {WORLD "    seeds: all", 3, "worlds[0].seeds", "fixed or any"},
    {WORLD "    seeds: true", 3, "worlds[0].seeds", "fixed or any"},
    {WORLD "    seeds: [any]", 3, "worlds[0].seeds", "fixed or any"},
    {WORLD "    seeds: any\n    seeds: any", 4, "worlds[0].seeds", "once"},
    {WORLD "    native_zoom: 33", 3, "worlds[0].native_zoom", "from 0 to 32"},
    {WORLD "    native_zoom: -1", 3, "worlds[0].native_zoom", "from 0 to 32"},
    {WORLD "    origin: [1]", 3, "worlds[0].origin", "[x, y]"},
    {WORLD "    origin: [1, 2, 3]", 3, "worlds[0].origin", "[x, y]"},
    {WORLD "    origin: [1, [2]]", 3, "worlds[0].origin", "[x, y]"},
    {WORLD "    origin: [0.3, 0]", 3, "worlds[0].origin", "at most 10 fractional bits"},
    {WORLD "    origin: [2251799813685249, 0]", 3, "worlds[0].origin", "(2^51)"},
    {WORLD "    origin: [0, -2251799813685248.5]", 3, "worlds[0].origin", "(2^51)"},
    /* Noise. */
    {NOISE "      basis: marble", 4, "worlds[0].noise.basis", "perlin, simplex, cellular or value"},
    {NOISE "      basis:", 4, "worlds[0].noise.basis", "perlin, simplex, cellular or value"},
    {NOISE "      gradients: axis5", 4, "worlds[0].noise.gradients", "axis4, diagonal4"},
    {NOISE "      fade: sextic", 4, "worlds[0].noise.fade", "linear, cubic or quintic"},
    {NOISE "      hash: mix", 4, "worlds[0].noise.hash", "mix64 or permutation"},
    {NOISE "      fractal: fb", 4, "worlds[0].noise.fractal",
     "none, fbm, billow, ridged or hybrid"},
    {NOISE "      octave_salt: yes", 4, "worlds[0].noise.octave_salt", "true or false"},
    {NOISE "      octave_salt: true", 4, "worlds[0].noise.octave_salt", "hash: permutation"},
    {NOISE "      hash: mix64\n      octave_salt: true", 5, "worlds[0].noise.octave_salt",
     "hash: permutation"},
    {NOISE "      octaves: 0", 4, "worlds[0].noise.octaves", "a whole number from 1 to 64"},
    {NOISE "      octaves: 65", 4, "worlds[0].noise.octaves", "a whole number from 1 to 64"},
    {NOISE "      octaves: -1", 4, "worlds[0].noise.octaves", "a whole number from 1 to 64"},
    {OCTAVES(27), 6, "worlds[0].noise.octaves", "a wavelength of its own"},
    {OCTAVES(64), 6, "worlds[0].noise.octaves", "a wavelength of its own"},
    {NOISE "      octaves: 14\n      wavelength: 8", 0, "worlds[0].noise.octaves",
     "a wavelength of its own"},
    {NOISE "      octaves: 2\n      lacunarity: 1", 0, "worlds[0].noise.octaves",
     "a wavelength of its own"},
    {NOISE "      persistence: 0", 4, "worlds[0].noise.persistence", "above 0 and up to 1"},
    {NOISE "      persistence: 1.0000001", 4, "worlds[0].noise.persistence", "up to 1"},
    {NOISE "      persistence: -0.5", 4, "worlds[0].noise.persistence", "above 0"},
    {NOISE "      persistence: 1e-400", 4, "worlds[0].noise.persistence", "above 0"},
    {NOISE "      persistence: nan", 4, "worlds[0].noise.persistence", "above 0"},
    {NOISE "      persistence: .nan", 4, "worlds[0].noise.persistence", "above 0"},
    {NOISE "      persistence: inf", 4, "worlds[0].noise.persistence", "above 0"},
    {NOISE "      persistence: 0x1p-1", 4, "worlds[0].noise.persistence", "above 0"},
    {NOISE "      persistence: 0.5x", 4, "worlds[0].noise.persistence", "above 0"},
    {NOISE "      persistence: 0,5", 4, "worlds[0].noise.persistence", "above 0"},
    {NOISE "      persistence: \" 0.5\"", 4, "worlds[0].noise.persistence", "above 0"},
    {NOISE "      persistence: \"\"", 4, "worlds[0].noise.persistence", "above 0"},
    {NOISE "      lacunarity: 0.99", 4, "worlds[0].noise.lacunarity", "from 1 to 1024"},
    {NOISE "      lacunarity: 1024.5", 4, "worlds[0].noise.lacunarity", "from 1 to 1024"},
    {NOISE "      lacunarity: 1e400", 4, "worlds[0].noise.lacunarity", "from 1 to 1024"},
    {NOISE "      wavelength: 0.0009765625", 4, "worlds[0].noise.wavelength", "0.001953125 to"},
    {NOISE "      wavelength: 0", 4, "worlds[0].noise.wavelength", "0.001953125 to"},
    {NOISE "      wavelength: -65536", 4, "worlds[0].noise.wavelength", "0.001953125 to"},
    {NOISE "      wavelength: 1099511627777", 4, "worlds[0].noise.wavelength", "1099511627776"},
    {NOISE "      wavelength: 9007199254740992", 4, "worlds[0].noise.wavelength", "1099511627776"},
    {NOISE "      wavelength: 0.1", 4, "worlds[0].noise.wavelength", "10 fractional bits"},
    {NOISE "      wavelength: 1e-11", 4, "worlds[0].noise.wavelength", "10 fractional bits"},
    {NOISE "      wavelength: 1e", 4, "worlds[0].noise.wavelength", "10 fractional bits"},
    {NOISE "      wavelength: 01e3", 4, "worlds[0].noise.wavelength", "10 fractional bits"},
    {NOISE "      wavelength: 1e13", 4, "worlds[0].noise.wavelength", "10 fractional bits"},
    {NOISE "      offset: -0.1", 4, "worlds[0].noise.offset", "a number from 0 to 16"},
    {NOISE "      offset: 16.5", 4, "worlds[0].noise.offset", "a number from 0 to 16"},
    {NOISE "      offset: nan", 4, "worlds[0].noise.offset", "a number from 0 to 16"},
    {NOISE "      offset: [1]", 4, "worlds[0].noise.offset", "a number from 0 to 16"},
    {NOISE "      gain: -1", 4, "worlds[0].noise.gain", "a number from 0 to 1024"},
    {NOISE "      gain: 1024.5", 4, "worlds[0].noise.gain", "a number from 0 to 1024"},
    {NOISE "      gain:", 4, "worlds[0].noise.gain", "a number from 0 to 1024"},
    /* Warp. */
    {NOISE "      warp: 5", 4, "worlds[0].noise.warp", "amplitude, wavelength"},
    {NOISE "      warp: [5, 5]", 4, "worlds[0].noise.warp", "amplitude, wavelength"},
    {NOISE "      warp: {octaves: 2}", 4, "worlds[0].noise.warp.octaves", "amplitude, wavelength"},
    {NOISE "      warp:\n        amplitude: 1\n        amplitude: 1", 6,
     "worlds[0].noise.warp.amplitude", "once"},
    {NOISE "      warp: {amplitude: -1}", 4, "worlds[0].noise.warp.amplitude",
     "0 to 1099511627776"},
    {NOISE "      warp: {amplitude: 0.3}", 4, "worlds[0].noise.warp.amplitude",
     "10 fractional bits"},
    {NOISE "      warp: {amplitude: 1099511627777}", 4, "worlds[0].noise.warp.amplitude",
     "0 to 1099511627776"},
    {NOISE "      warp: {wavelength: -1}", 4, "worlds[0].noise.warp.wavelength",
     "0 to 1099511627776"},
    {NOISE "      warp: {wavelength: 1099511627777}", 4, "worlds[0].noise.warp.wavelength",
     "0 to 1099511627776"},
    {NOISE "      warp:\n        wavelength: 0.0009765625", 5, "worlds[0].noise.warp.wavelength",
     "0.001953125 (2/1024) to 1099511627776"},
    {NOISE "      warp:\n        amplitude: 1\n        wavelength: 0", 6,
     "worlds[0].noise.warp.wavelength", "0.001953125 (2/1024) to 1099511627776"},
    /* A missing key has the line of its section, not that of the octaves' wavelength. */
    {NOISE "      wavelength: 65536\n      octaves: 2\n      warp: {amplitude: 1}", 6,
     "worlds[0].noise.warp.wavelength", "0.001953125 (2/1024) to 1099511627776"},
    /* Wrap. */
    {WORLD "    wrap: yes", 3, "worlds[0].wrap", "true or false"},
    {WORLD "    wrap: 1", 3, "worlds[0].wrap", "true or false"},
    {WORLD "    wrap:", 3, "worlds[0].wrap", "true or false"},
    {WORLD "    native_zoom: 11\n    wrap: true", 4, "worlds[0].wrap",
     "octave 1 is 1048576 blocks, which does not divide the window of 524288 blocks"},
    {WRAP "    native_zoom: 11", 3, "worlds[0].wrap",
     "octave 1 is 1048576 blocks, which does not divide the window of 524288 blocks"},
    {WRAP "    noise: {wavelength: 100.5, octaves: 1}", 3, "worlds[0].wrap",
     "octave 1 is 100.5 blocks, which does not divide the window of 16777216 blocks"},
    {WRAP "    noise: {lacunarity: 3, octaves: 4}", 3, "worlds[0].wrap",
     "octave 2 is 349525.3330078125 blocks, which does not divide"},
    {WRAP "    noise: {wavelength: 33554432}", 3, "worlds[0].wrap", "octave 1 is 33554432 blocks"},
    {NOISE "      warp: {amplitude: 5, wavelength: 96}\n    wrap: true", 5, "worlds[0].wrap",
     "the warp's wavelength is 96 blocks, which does not divide the window of 16777216 blocks"},
    {WRAP "    noise: {basis: simplex}", 3, "worlds[0].wrap", "perlin, cellular and value"},
    {WRAP "    noise: {basis: simplex, lacunarity: 3, octaves: 4}", 3, "worlds[0].wrap",
     "perlin, cellular and value"},
    {"worlds:\n  - name: a\n  - name: b\n    wrap: true\n    native_zoom: 0", 4, "worlds[1].wrap",
     "the window of 256 blocks"},
    /* Volume. */
    {WORLD "    volume: 5", 3, "worlds[0].volume", "overhangs, caverns, tunnels"},
    {VOLUME "      caves: {}", 4, "worlds[0].volume.caves", "overhangs, caverns, tunnels"},
    {VOLUME "      tunnels: {size: 1}", 4, "worlds[0].volume.tunnels.size",
     "radius, cover, wavelength, octaves, persistence, lacunarity, squash"},
    {VOLUME "      overhangs: {amplitude: -1}", 4, "worlds[0].volume.overhangs.amplitude",
     "0 to 16384 blocks"},
    {VOLUME "      overhangs: {threshold: 1.5}", 4, "worlds[0].volume.overhangs.threshold",
     "a number from 0 to 1"},
    {VOLUME "      caverns:\n        size: 2", 5, "worlds[0].volume.caverns.size",
     "a number from 0 to 1"},
    {VOLUME "      caverns: {cover: 20000}", 4, "worlds[0].volume.caverns.cover",
     "0 to 16384 blocks"},
    {VOLUME "      tunnels: {radius: 0.3}", 4, "worlds[0].volume.tunnels.radius",
     "at most 10 fractional bits"},
    {VOLUME "      tunnels: {octaves: 17}", 4, "worlds[0].volume.tunnels.octaves",
     "a whole number from 1 to 16"},
    {VOLUME "      tunnels: {wavelength: 16385}", 4, "worlds[0].volume.tunnels.wavelength",
     "to 16384 blocks"},
    {VOLUME "      tunnels: {squash: 17}", 4, "worlds[0].volume.tunnels.squash",
     "a number from 0.0625 to 16"},
    {VOLUME "      tunnels: {persistence: 0}", 4, "worlds[0].volume.tunnels.persistence",
     "a number above 0 and up to 1"},
    {VOLUME "      tunnels: {lacunarity: 0}", 4, "worlds[0].volume.tunnels.lacunarity",
     "a number from 1 to 1024"},
    {VOLUME "      caverns:\n        wavelength: 1\n        octaves: 16", 6,
     "worlds[0].volume.caverns.octaves", "each octave needs cells of a size of its own"},
    {WRAP "    volume:\n      caverns:\n        wavelength: 100", 6,
     "worlds[0].volume.caverns.wavelength", "divide the period"},
    /* Elevation. */
    {WORLD "    elevation: []", 3, "worlds[0].elevation", "2 to 32 pairs"},
    {WORLD "    elevation: [[0, 0]]", 3, "worlds[0].elevation", "2 to 32 pairs"},
    {WORLD "    elevation: [0, 0]", 3, "worlds[0].elevation[0]", "2 to 32 pairs"},
    {WORLD "    elevation:\n      - [0, 0]\n      -\n", 5, "worlds[0].elevation[1]",
     "got no value; expected 2 to 32 pairs"},
    {WORLD "    elevation: [[0, 0, 0], [1, 1]]", 3, "worlds[0].elevation[0]", "2 to 32 pairs"},
    {WORLD "    elevation: [[0, 0], [1]]", 3, "worlds[0].elevation[1]", "2 to 32 pairs"},
    {WORLD "    elevation: [[0, 0], [x, 1]]", 3, "worlds[0].elevation[1]",
     "got \"x\"; expected noise from -1000 to 1000"},
    {WORLD "    elevation: [[0, 0], [[1], 1]]", 3, "worlds[0].elevation[1]",
     "got a list of 1; expected noise from -1000 to 1000"},
    {WORLD "    elevation: [[-1000.5, 0], [1, 1]]", 3, "worlds[0].elevation[0]",
     "got \"-1000.5\"; expected noise from -1000 to 1000"},
    {WORLD "    elevation:\n      - [0, 0]\n      - [1, nan]", 5, "worlds[0].elevation[1]",
     "got \"nan\"; expected metres from -1000000 to 1000000"},
    {WORLD "    elevation: [[0, -.inf], [1, 1]]", 3, "worlds[0].elevation[0]",
     "got \"-.inf\"; expected metres from -1000000 to 1000000"},
    {WORLD "    elevation: [[0, 0], [1, 1e39]]", 3, "worlds[0].elevation[1]",
     "got \"1e39\"; expected metres from -1000000 to 1000000"},
    {WORLD "    elevation: [[0, 0], [1, -1000000.1]]", 3, "worlds[0].elevation[1]",
     "metres from -1000000 to 1000000"},
    {WORLD "    elevation:\n      - [0, 0]\n      - [0, 1]", 5, "worlds[0].elevation[1]",
     "noise ascending"},
    {WORLD "    elevation:\n      - [0, 0]\n      - [1, 1]\n      - [-1, 2]", 6,
     "worlds[0].elevation[2]", "-1 follows 1; expected 2 to 32 pairs [noise, metres], noise asc"},
    {WORLD "    elevation: [[0.1, 0], [0.100000000001, 1]]", 3, "worlds[0].elevation[1]",
     "noise ascending"},
    /* Palette. */
    {WORLD "    palette: [[0, \"#000000\"]]", 3, "worlds[0].palette", "2 to 64 pairs"},
    {WORLD "    palette: [[0, \"#000000\"], [-1.5, \"#ffffff\"]]", 3, "worlds[0].palette[1]",
     "-1.5 follows 0; expected 2 to 64 pairs [metres, \"#rrggbb\"], metres ascending"},
    {WORLD "    palette: [[0, \"#000000\"], [1]]", 3, "worlds[0].palette[1]",
     "got a list of 1; expected 2 to 64 pairs"},
    {WORLD "    palette:\n      - [0, \"#000000\"]\n      -\n", 5, "worlds[0].palette[1]",
     "got no value; expected 2 to 64 pairs"},
    {WORLD "    palette: [[0, \"#000000\"], 5]", 3, "worlds[0].palette[1]",
     "got \"5\"; expected 2 to 64 pairs"},
    {WORLD "    palette: [[0, \"#000000\"], [\"#ffffff\", 5]]", 3, "worlds[0].palette[1]",
     "got \"#ffffff\"; expected metres from -1000000 to 1000000"},
    {WORLD "    palette:\n      - [.nan, \"#000000\"]\n      - [1, \"#ffffff\"]", 4,
     "worlds[0].palette[0]", "got \".nan\"; expected metres from"},
    {WORLD "    palette: [[0, \"#000000\"], [1, [2]]]", 3, "worlds[0].palette[1]",
     "got a list of 1; expected \"#rrggbb\", in quotes"},
    /* A color without quotes is a comment to YAML, so the list never ends. */
    {WORLD "    palette:\n      - [0, \"#000000\"]\n      - [1, #ffffff]\n      - [2, #ffffff]\n",
     5, NULL, "a color needs quotes, as in \"#ffffff\""},
    {WORLD "    palette: [[0, #000000], [1, \"#ffffff\"]]", 3, NULL, "a color needs quotes"},
    {"# a, #b\n" WORLD "    palette: [[0, \"#000000\"], [1, \"#ffffff\"]", 5, NULL, "did not find"},
    {WORLD "    palette:\n      - [0, \"#000000\"]\n      - [1, \"#00000\"]", 5,
     "worlds[0].palette[1]", "\"#rrggbb\""},
    {WORLD "    palette: [[0, \"#0000000\"], [1, \"#ffffff\"]]", 3, "worlds[0].palette[0]",
     "\"#rrggbb\""},
    {WORLD "    palette: [[0, \"#00000g\"], [1, \"#ffffff\"]]", 3, "worlds[0].palette[0]",
     "\"#rrggbb\""},
    {WORLD "    palette: [[0, \"# 1 2 3\"], [1, \"#ffffff\"]]", 3, "worlds[0].palette[0]",
     "\"#rrggbb\""},
    {WORLD "    palette: [[0, \"#-1-1-1\"], [1, \"#ffffff\"]]", 3, "worlds[0].palette[0]",
     "\"#rrggbb\""},
    {WORLD "    palette: [[0, \"#\\x10\\x10\\x10\\x10\\x10\\x10\"], [1, \"#ffffff\"]]", 3,
     "worlds[0].palette[0]", "\"#rrggbb\""},
    {WORLD "    palette: [[0, \"0x0000\"], [1, \"#ffffff\"]]", 3, "worlds[0].palette[0]",
     "\"#rrggbb\""},
    {WORLD "    palette: [[0, red], [1, \"#ffffff\"]]", 3, "worlds[0].palette[0]", "\"#rrggbb\""},
    {WORLD "    palette: [[0, \"#000000\"], [1e39, \"#ffffff\"]]", 3, "worlds[0].palette[1]",
     "got \"1e39\"; expected metres from -1000000 to 1000000"},
    /* Layers. */
    {WORLD "    layers:", 3, "worlds[0].layers", ALL_LAYERS},
    {WORLD "    layers: any", 3, "worlds[0].layers", ALL_LAYERS},
    {WORLD "    layers: All", 3, "worlds[0].layers", ALL_LAYERS},
    {WORLD "    layers: []", 3, "worlds[0].layers", ALL_LAYERS},
    {WORLD "    layers:\n      - any\n      -\n", 5, "worlds[0].layers[1]",
     "got no value; expected " ALL_LAYERS},
    {WORLD "    layers: {any: true}", 3, "worlds[0].layers", ALL_LAYERS},
    {WORLD "    layers: [all]", 3, "worlds[0].layers[0]", "got \"all\"; expected all, or"},
    {WORLD "    layers:\n      - any\n      - Any", 5, "worlds[0].layers[1]",
     "got \"Any\"; expected " ALL_LAYERS},
    {WORLD "    layers: [\"any\\0\"]", 3, "worlds[0].layers[0]", ALL_LAYERS},
    {WORLD "    layers: [any-]", 3, "worlds[0].layers[0]", ALL_LAYERS},
    {WORLD "    layers: [[any]]", 3, "worlds[0].layers[0]", ALL_LAYERS},
    {WORLD "    layers: [any, any-other, any]", 3, "worlds[0].layers[2]", "once"},
    /* A layer of biomes, in a world without any. */
    {WORLD "    layers: [any, ids]", 3, "worlds[0].layers[1]",
     "world \"a\" has no biomes to show; expected a field \"biome\" that is a node biome, or a list "
     "`layers:` without ids"},
    {WORLD "    layers: [any, rivers]", 3, "worlds[0].layers[1]",
     "world \"a\" has no rivers to show; expected fields \"water\", \"river\" and \"bank\" that are "
     "nodes of these names, or a list `layers:` without rivers"},
    /* A layer that cannot hold the heights: at the height, or at the item of `layers`. */
    {WORLD "    elevation:\n      - [0, 0]\n      - [1, 20000.6]\n      - [2, 20]", 5,
     "worlds[0].elevation[1]",
     "world \"a\" has heights from 0 to 20000.6 metres, which layer feet cannot hold; expected "
     "heights from -20000 to 20000.5 metres, or a list `layers:` without feet"},
    {WORLD "    layers: all\n    elevation: [[0, -20000.5], [1, 5]]", 4, "worlds[0].elevation[0]",
     "heights from -20000.5 to 5 metres, which layer feet cannot hold"},
    {WORLD "    elevation: [[0, 0], [1, 32768]]\n    layers:\n      - any\n      - deep", 6,
     "worlds[0].layers[1]",
     "from 0 to 32768 metres, which layer deep cannot hold; expected "
     "heights from -32768 to 32767.996 metres, or a list `layers:` without deep"},
    {"worlds:\n  - name: a\n    layers: [any]\n    elevation: [[0, 0], [1, 9e5]]\n  - name: b\n"
     "    elevation: [[0, 9e5], [1, 0]]",
     6, "worlds[1].elevation[0]", "world \"b\""},
    /* Anchors and aliases, of values that contain themselves, too. */
    {"log: info\nworlds: *nowhere", 2, NULL, ANCHORS},
    {"log: &a info", 1, NULL, ANCHORS},
    {"&a log: info", 1, NULL, ANCHORS},
    {"log: info\n*a : info", 2, NULL, ANCHORS},
    {"worlds: [{name: a, noise: &n {octaves: 2}}, {name: b, noise: *n}]", 1, NULL, ANCHORS},
    {"log: info\nworlds: &a [*a]", 2, NULL, ANCHORS},
    {"&a {cache: *a}", 1, NULL, ANCHORS},
    {WORLD "    <<: *a", 3, NULL, ANCHORS},
};

/* TEXT must be "FILE:LINE: KEY: PROBLEM; expected ..." and contain EXPECTED. */
static void must_say(const char *text, int line, const char *key, const char *expected,
                     const char *yaml)
{
    char part[FOLDER_TEXT + 128];
    size_t length = strlen(file);
    ck_assert_msg(strncmp(text, file, length) == 0 && text[length] == ':',
                  "no file in \"%s\" for\n%s", text, yaml);
    text += length;
    if (line) {
        length = (size_t)snprintf(part, sizeof part, ":%d: ", line);
        ck_assert_msg(strncmp(text, part, length) == 0, "not line %d in \"%s\" for\n%s", line, text,
                      yaml);
    }
    const char *rest = strstr(text, ": ");
    ck_assert_msg(rest != NULL, "no line in \"%s\" for\n%s", text, yaml);
    if (key) {
        length = (size_t)snprintf(part, sizeof part, ": %s: ", key);
        ck_assert_msg(strncmp(rest, part, length) == 0, "no key %s in \"%s\" for\n%s", key, text,
                      yaml);
        rest += length;
    }
    /* params_fault gives reasons, which need not name the values. */
    ck_assert_msg(strstr(rest, "; expected ") || strstr(rest, "invalid value; "),
                  "nothing expected in \"%s\" for\n%s", text, yaml);
    ck_assert_msg(strstr(rest, expected) != NULL, "no %s in \"%s\" for\n%s", expected, text, yaml);
}

START_TEST(test_broken)
{
    struct config *config;
    struct config_error error;
    const char *yaml = broken[_i].yaml;
    memset(&error, 'x', sizeof error);
    file_write(file, yaml, strlen(yaml));
    int err = config_load(&config, file, known, &error);
    ck_assert_msg(err < 0, "no error for\n%s", yaml);
    ck_assert_ptr_nonnull(memchr(error.text, 0, sizeof error.text));
    must_say(error.text, broken[_i].line, broken[_i].key, broken[_i].expected, yaml);
}
END_TEST

/* Files with COUNT repetitions of a row. */
static const struct {
    const char *head, *row, *tail;
    int count;
    int err;
} repetitions[] = {
    {"", "[", "", 2000, -EINVAL},
    {"worlds: ", "[", "", 2000, -EINVAL},
    {"", "{a: ", "", 2000, -EINVAL},
    {"", "- ", "", 2000, -EINVAL},
    {"", "? ", "", 2000, -EINVAL},
    {"", "!!", "", 2000, -EINVAL},
    {"", "a", ": 1", 200000, -EINVAL},
    {"listen: \"", "a", ":80\"", 255 - 3, 0},
    {"listen: \"", "a", ":80\"", 256 - 3, -EINVAL},
    {"cache: {path: \"", "a", "\"}", CONFIG_TEXT_MAX - 1, 0},
    {"cache: {path: \"", "a", "\"}", CONFIG_TEXT_MAX, -EINVAL},
    {"", "# nothing\n", "threads: 1", 100000, 0},
    {"", "# nothing\n", "threads: x", 100000, -EINVAL},
    {WORLD "    elevation: [", "[0, 0],", "]", 100000, -EINVAL},
    {"proxies: [", "127.0.0.1,", "]", NETWORKS_MAX, 0},
    {"proxies: [", "127.0.0.1,", "]", NETWORKS_MAX + 1, -EINVAL},
    {WORLD "    palette: [", "[0, \"#000000\"],", "]", PALETTE_MAX, 0},
    {WORLD "    palette: [", "[0, \"#000000\"],", "]", PALETTE_MAX + 1, -EINVAL},
    {WORLD "    noise: {", "octaves: 1,", "}", 10000, -EINVAL},
};

START_TEST(test_repetition)
{
    FILE *out = fopen(file, "wb");
    fputs(repetitions[_i].head, out);
    for (int i = 0; i < repetitions[_i].count; i++)
        fputs(repetitions[_i].row, out);
    fputs(repetitions[_i].tail, out);
    ck_assert_int_eq(fclose(out), 0);

    struct config *config;
    struct config_error error;
    memset(&error, 'x', sizeof error);
    int err = config_load(&config, file, known, &error);
    ck_assert_msg(err == repetitions[_i].err, "%d times %s: %d", repetitions[_i].count,
                  repetitions[_i].row, err);
    if (err)
        ck_assert_ptr_nonnull(memchr(error.text, 0, sizeof error.text));
    else
        config_free(config);
}
END_TEST

/* The maximum numbers of worlds and knots. */
START_TEST(test_maximum_counts)
{
    static const struct {
        const char *head, *row, *tail;
        int most;
    } lists[] = {
        {"worlds:\n", "  - name: w%d\n", "", WORLDS_MAX},
        {WORLD "    elevation: [", "[%d, 0],", "]", FARLANDS_MAX_KNOTS},
    };
    for (int i = 0; i < ROWS(lists); i++) {
        for (int count = lists[i].most; count <= lists[i].most + 1; count++) {
            struct config *config;
            struct config_error error;
            FILE *out = fopen(file, "wb");
            fputs(lists[i].head, out);
            for (int j = 0; j < count; j++)
                fprintf(out, lists[i].row, j);
            fputs(lists[i].tail, out);
            ck_assert_int_eq(fclose(out), 0);
            int err = config_load(&config, file, known, &error);
            ck_assert_msg(err == (count > lists[i].most ? -EINVAL : 0), "%d of %s: %d", count,
                          lists[i].row, err);
            if (!err)
                config_free(config);
        }
    }
}
END_TEST

/*
 * Files of rows, each of which is the text or printed with its number. Something in them takes a
 * time that grows with the square of the size in libyaml, or might do so here.
 */
static const struct {
    const char *head, *row, *tail;
    const char *why; /* a part of the message; NULL: valid */
} hostile[] = {
    {"worlds: [", "&%d x,", "]", ANCHORS},
    {"worlds: [0", ",*a", "]", ANCHORS},
    {"", "%%TAG !a%d! x\n", "--- 1", "%TAG is not supported"},
    {"", "%%YAML 1.1\n", "--- 1", "duplicate %YAML directive"},
    {"", "!a%d!x ", "", "undefined tag handle"},
    {"", "- !!a%d 1\n", "", "not a mapping"},
    {"", "key%d: 1\n", "", "key0: unknown key"},
    {"cache: {", "key%d: 1,", "}", "cache.key0: unknown key"},
    {"", "?\n", "", TOO_MANY},
    {"log: info\n", "log: info # and again\n", "", "log: duplicate key"},
    {"<<: {log: info}\n", "<<: {log: info and then others}\n", "", "<<: unknown key"},
    {"worlds: [", "1,", "]", TOO_MANY},
    {"worlds: [", "[],", "]", TOO_MANY},
    {"worlds: [", "\"\",", "]", TOO_MANY},
    {"worlds: [", "some words,", "]", "worlds: got a list of 95319; expected"},
    {"worlds:\n", "- {name: world%d, seed: 1}\n", "", "worlds: got a list of"},
    {"", "[", "", "nested too deeply; expected at most 32 levels"},
    {"", "? ", "", "nested too deeply"},
    {"log: " DEEP_31, "[1],", "", TOO_MANY},
    {"log: " DEEP_31, "?,", "", "not YAML"},
    {"log: " DEEP_31, "x\n", "", "not YAML"},
    {"log: \"", "\\n", "\"", "expected error, warning, info or debug"},
    {"log: \"", "\n", "\"", "expected error, warning, info or debug"},
    {"log: ", "x", "", "expected error, warning, info or debug"},
    {"log: >\n", "  x\n", "", "expected error, warning, info or debug"},
    {"", "x", ": 1", "not YAML"},
    {"", "---\n", "", "a second document begins"},
    {"log: info\n", "# x\n", "", NULL},
    {"log: info\n", "\n", "", NULL},
};

/* Write file with SIZE bytes of row I at most. */
static void write_hostile(int i, size_t size)
{
    char row[64];
    FILE *out = fopen(file, "wb");
    size_t length = strlen(hostile[i].head) + strlen(hostile[i].tail);
    fputs(hostile[i].head, out);
    for (int number = 0; length + sizeof row < size; number++) {
        /* The format is a row of the table. */
        length += (size_t)snprintf(row, sizeof row, hostile[i].row, number);
        fputs(row, out);
    }
    fputs(hostile[i].tail, out);
    ck_assert_int_eq(fclose(out), 0);
}

/* Load file. Returns the number of steps. */
static size_t load_hostile(int *err, struct config_error *error)
{
    struct config *config;
    *err = config_load(&config, file, known, error);
    if (*err == 0)
        config_free(config);
    return error->steps;
}

START_TEST(test_linear_time)
{
    const char *row = hostile[_i].row, *why = hostile[_i].why;
    struct config_error error;
    int err;
    write_hostile(_i, TEXT_BYTES_MAX / 2);
    const size_t half = load_hostile(&err, &error);
    write_hostile(_i, TEXT_BYTES_MAX);
    const size_t whole = load_hostile(&err, &error);
    ck_assert_msg(err == 0 ? !why : why && strstr(error.text, why), "%s: %s", row,
                  err == 0 ? "no error" : error.text);
    must_be_linear(half, whole, STEPS_PER_BYTE * TEXT_BYTES_MAX, row);
}
END_TEST

/* Paths that are not regular files, also without a writer or an end. */
START_TEST(test_unreadable)
{
    char fifo[FOLDER_TEXT + 16];
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    const struct {
        const char *path, *why;
    } rows[] = {
        {"/nowhere/a.yaml", "No such file or directory"},
        {"", "No such file or directory"},
        {folder, "is a directory"},
        {fifo, "is a FIFO"},
        {"/dev/zero", "is a device or a socket"},
    };
    for (int i = 0; i < ROWS(rows); i++) {
        struct config *config;
        struct config_error error;
        char expected[2 * FOLDER_TEXT];
        memset(&error, 'x', sizeof error);
        ck_assert_int_lt(config_load(&config, rows[i].path, known, &error), 0);
        snprintf(expected, sizeof expected,
                 "%s: cannot be read: %s; expected a regular file of up to 1 MiB of YAML",
                 rows[i].path, rows[i].why);
        ck_assert_ptr_nonnull(memchr(error.text, 0, sizeof error.text));
        ck_assert_msg(strncmp(error.text, expected, strlen(expected)) == 0, "%s, not %s",
                      error.text, expected);
    }
}
END_TEST

/* Files that other programs give us by a name of their own. */
START_TEST(test_pipe)
{
    struct config *config, *builtin = load(NULL);
    int ends[2];
    char path[32];
    must_equal(daemon_options, builtin, config = load("/dev/null"), NULL);
    config_free(config);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], "threads: 3\n", 11), 11);
    const pid_t writer = fork();
    if (writer == 0) {
        usleep(20000); /* the reader waits for the rest */
        _exit(write(ends[1], "shards: 5\n", 10) == 10 ? 0 : 1);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    config = load(path);
    ck_assert_uint_eq(config->threads, 3);
    ck_assert_uint_eq(config->shards, 5);
    ck_assert_int_eq(waitpid(writer, NULL, 0), writer);
    close(ends[0]);
    config_free(config);
    config_free(builtin);
}
END_TEST

/* Random bytes give an error with a message, or a configuration. */
START_TEST(test_damaged)
{
    char *yaml = documented_text(true);
    uint64_t state = 3;
    for (int i = 0; i < 300; i++) {
        struct config *config;
        struct config_error error;
        uint8_t bytes[8192];
        size_t length = strnlen(yaml, sizeof bytes);
        memcpy(bytes, yaml, length);
        for (int j = chance_below(&state, 4); j >= 0; j--)
            bytes[chance_below(&state, (int)length)] = "\n\t :-[]{}#&*!|>'\"%@`9\xff"[i % 22];
        file_write(file, bytes, length - (size_t)chance_below(&state, 64));
        memset(&error, 'x', sizeof error);
        int err = config_load(&config, file, known, &error);
        if (err == 0)
            config_free(config);
        else
            must(memchr(error.text, 0, sizeof error.text) != NULL, "error not terminated");
    }
    free(yaml);
}
END_TEST

static const struct {
    const char *text;
    bool valid;
} listens[] = {
    {"127.0.0.1:8080", 1},
    {"0.0.0.0:0", 1},
    {"localhost:80", 1},
    {"example.org:65535", 1},
    {"[::1]:0", 1},
    {"[::]:8080", 1},
    {"[fe80::1%eth0]:8080", 1},
    {"a:1", 1},
    {"", 0},
    {"a", 0},
    {":", 0},
    {":80", 0},
    {"a:", 0},
    {"80", 0},
    {"a:65536", 0},
    {"a:-1", 0},
    {"a:+1", 0},
    {"a:080", 0},
    {"a:00", 0},
    {"a:1e1", 0},
    {"a: 1", 0},
    {"a:1 ", 0},
    {"a:18446744073709551617", 0},
    {"a:b", 0},
    {"a:http", 0},
    {"a:80:81", 0},
    {"::1", 0},
    {"::1:80", 0},
    {"[::1]", 0},
    {"[::1]80", 0},
    {"[::1]:", 0},
    {"[::1]:65536", 0},
    {"[]:80", 0},
    {"[::1:80", 0},
    {"[a:80", 0},
    {"a]:80", 0},
    {"[a]b:80", 0},
    {"a b:80", 0},
    {" :80", 0},
    {"a\n:80", 0},
};

START_TEST(test_listen)
{
    const char *text = listens[_i].text;
    ck_assert_msg(authority_can_listen(text, strlen(text)) == listens[_i].valid, "\"%s\": not %d",
                  text, listens[_i].valid);
    struct config *config;
    struct config_error error;
    char yaml[128];
    char *end = yaml + snprintf(yaml, sizeof yaml, "listen: \"");
    for (const char *c = text; *c; c++)
        end += snprintf(end, 8, *c == '\n' ? "\\n" : "%c", *c);
    end += snprintf(end, 4, "\"\n");
    file_write(file, yaml, (size_t)(end - yaml));
    int err = config_load(&config, file, known, &error);
    ck_assert_msg(err == (listens[_i].valid ? 0 : -EINVAL), "%s %d", yaml, err);
    if (!err) {
        ck_assert_str_eq(config->listen, text);
        config_free(config);
    }
}
END_TEST

START_TEST(test_site)
{
    static const char *const proxies[] = {"127.0.0.1", "10.0.0.0/8", "::1"};
    struct config *config = load_text("public_url: https://tiles.example.org/a/\n"
                                      "base_path: /a/b/\n"
                                      "proxies: [127.0.0.1, 10.0.0.0/8, \"::1\"]\n");
    ck_assert_str_eq(config->site.public_url, "https://tiles.example.org/a");
    ck_assert_str_eq(config->site.base_path, "/a/b");
    ck_assert_int_eq(config->site.proxies.count, ROWS(proxies));
    for (int i = 0; i < ROWS(proxies); i++) {
        struct network network;
        ck_assert_int_eq(network_parse(&network, proxies[i], strlen(proxies[i])), 0);
        ck_assert_mem_eq(&config->site.proxies.network[i], &network, sizeof network);
    }
    config_free(config);
}
END_TEST

/* The period of a world in units, with its keys in any order. */
static const struct {
    const char *yaml;
    int64_t period;
} periods[] = {
    {WRAP, 16777216 * FARLANDS_UNIT},
    {WORLD "    wrap: false", 0},
    {WRAP "    native_zoom: 32", (INT64_C(256) << 32) * FARLANDS_UNIT},
    {WRAP "    native_zoom: 0\n    noise: {wavelength: 64, octaves: 3}", 256 * FARLANDS_UNIT},
    {NOISE "      wavelength: 64\n      octaves: 3\n    native_zoom: 0\n    wrap: true",
     256 * FARLANDS_UNIT},
    {WRAP "    origin: [0.5, 3]", 16777216 * FARLANDS_UNIT},
    {WORLD "  - name: b\n    wrap: true", 0},
};

START_TEST(test_period)
{
    struct config *config = load_text(periods[_i].yaml);
    ck_assert_msg(config->worlds[0].terrain.period == periods[_i].period, "%lld for\n%s",
                  (long long)config->worlds[0].terrain.period, periods[_i].yaml);
    config_free(config);
}
END_TEST

/* The layers of a world; bits in the order of the known layers. */
static const struct {
    const char *yaml;
    uint32_t layers;
} choices[] = {
    {WORLD, 15},
    {WORLD "    layers: all", 15},
    {WORLD "    layers: \"all\"", 15},
    {WORLD "    layers: [any]", 1},
    {WORLD "    layers: [deep, feet]", 10},
    {WORLD "  - name: b\n    layers: [any]", 15}, /* one list per world */
};

START_TEST(test_layers)
{
    struct config *config = load_text(choices[_i].yaml);
    ck_assert_msg((config->worlds[0].layers & 15) == choices[_i].layers, "%x for\n%s",
                  config->worlds[0].layers, choices[_i].yaml);
    config_free(config);
}
END_TEST

static const struct {
    const char *key, *value;
    int quoted;
} visited[] = {
    {"seed", "18446744073709551615", 1}, /* readers that use doubles would round a number */
    {"seeds", "fixed", 1},
    {"wrap", "true", 0},
    {"about", "islands", 1},
    {"noise.basis", "cellular", 1},
    {"noise.octaves", "5", 0},
    {"noise.offset", "0.75", 0},
    {"noise.gain", "2", 0},
    {"noise.warp.amplitude", "0.5", 0},
    {"noise.warp.wavelength", "4096", 0},
    {"volume.overhangs.amplitude", "12.5", 0},
    {"volume.caverns.squash", "1.5", 0},
    {"volume.tunnels.radius", "0", 0},
};

struct visits {
    int count;
    int right; /* values as above */
};

static void count_visit(void *context, const struct world_key *key)
{
    struct visits *visits = context;
    visits->count++;
    for (int i = 0; i < ROWS(visited); i++) {
        if (strcmp(key->name, visited[i].key) != 0)
            continue;
        ck_assert_msg(strcmp(key->value, visited[i].value) == 0 && key->quoted == visited[i].quoted,
                      "%s: %s, %d", key->name, key->value, key->quoted);
        visits->right++;
    }
}

static int option_count(const struct option *options)
{
    int count = 0;
    for (; options->key; options++)
        /* layers select pictures, and do not change them; this world has a noise, and is like none
         */
        if (options->kind != OPTION_LAYERS && options->kind != OPTION_FIELDS &&
            options->kind != OPTION_LIKE)
            count += options->options ? option_count(options->options) : 1;
    return count;
}

START_TEST(test_visit)
{
    struct config *config =
        load_text(WRAP "    seed: 18446744073709551615\n"
                       "    about: islands\n"
                       "    noise: {octaves: 5, basis: cellular, offset: 0.75,\n"
                       "            warp: {amplitude: 0.5, wavelength: 4096}}\n"
                       "    volume: {overhangs: {amplitude: 12.5}, caverns: {squash: 1.5},\n"
                       "             tunnels: {radius: 0}}\n");
    struct visits visits = {0};
    config_world_visit(config->worlds, count_visit, &visits);
    ck_assert_int_eq(visits.right, ROWS(visited));
    ck_assert_int_eq(visits.count, option_count(world_options));
    config_free(config);
}
END_TEST

/* Each sample is a valid configuration with one world, named like the file. */
START_TEST(test_samples)
{
    glob_t samples;
    ck_assert_int_eq(glob("config/worlds/*.yaml", 0, NULL, &samples), 0);
    ck_assert_uint_ge(samples.gl_pathc, 8);
    for (size_t i = 0; i < samples.gl_pathc; i++) {
        const char *path = samples.gl_pathv[i];
        struct config *config = load(path);
        struct farlands_terrain *terrain;
        char name[WORLD_SEEDED_NAME_MAX + 8];
        ck_assert_msg(config->world_count == 1, "%s: %d worlds", path, config->world_count);
        snprintf(name, sizeof name, "%s.yaml", config->worlds->name);
        ck_assert_msg(strcmp(strrchr(path, '/') + 1, name) == 0, "%s: %s", path, name);
        int err = world_config_terrain(&terrain, config->worlds);
        ck_assert_msg(err == 0, "%s: %d", path, err);
        terrain_free(terrain);
        config_free(config);
    }
    globfree(&samples);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config");
    TCase *tcase = suite_case(suite, "files");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_builtin);
    tcase_add_test(tcase, test_defaults);
    tcase_add_test(tcase, test_documented_world_is_default);
    tcase_add_test(tcase, test_documented_file_is_builtin);
    tcase_add_test(tcase, test_every_key_is_documented);
    tcase_add_test(tcase, test_format_and_parse);
    tcase_add_loop_test(tcase, test_empty_file, 0, ROWS(empty_files));
    tcase_add_test(tcase, test_omitted_keys);
    tcase_add_test(tcase, test_like);
    tcase_add_test(tcase, test_many_alike);
    tcase_add_loop_test(tcase, test_period, 0, ROWS(periods));
    tcase_add_loop_test(tcase, test_layers, 0, ROWS(choices));
    tcase_add_test(tcase, test_visit);
    tcase_add_test(tcase, test_samples);
    tcase_add_loop_test(tcase, test_good, 0, ROWS(good));
    tcase_add_loop_test(tcase, test_broken, 0, ROWS(broken));
    tcase_add_loop_test(tcase, test_repetition, 0, ROWS(repetitions));
    tcase_add_loop_test(tcase, test_linear_time, 0, ROWS(hostile));
    tcase_add_test(tcase, test_maximum_counts);
    tcase_add_test(tcase, test_unreadable);
    tcase_add_test(tcase, test_pipe);
    tcase_add_test(tcase, test_damaged);
    tcase_add_loop_test(tcase, test_listen, 0, ROWS(listens));
    tcase_add_test(tcase, test_site);
    return suite_run(suite);
}
