/*
 * Fingerprints: each product of a world has one, which changes if its bytes change, and only then.
 * A product is the regions, the volumes, or the tiles of a layer.
 */
#include "server/world/worlds.h"

#include "config/world/world_options.h"
#include "server/png/image_checksum.h"
#include "server/tiles/render.h"
#include "tests/unit/support/tile_fixtures.h"

static struct render_scratch *scratch;

static void set_up(void)
{
    ck_assert_int_eq(render_scratch_new(&scratch), 0);
}

static void tear_down(void)
{
    render_scratch_free(scratch);
}

/* COLORED, SHADED: layers with WORLD_COLORS or WORLD_SHADING among their parts. PLAIN: the others.
 */
enum { REGIONS = 1, VOLUMES = 2, COLORED = 4, SHADED = 8, PLAIN = 16 };
/* A curve for noises above 0, steep enough for slopes to differ. */
#define HIGH "elevation: [[0, 0], [2, 20000]], "

enum { NONE = 0, TILES = COLORED | SHADED | PLAIN, ALL = REGIONS | VOLUMES | TILES };

/*
 * A key, and two worlds that differ in its value alone: the products that they do not share. The
 * worlds are such that the key has an effect. Each key of a world needs a row.
 */
static const struct row {
    const char *key, *before, *after;
    int moved;
} rows[] = {
    {"name", "name: a", "name: b", NONE},
    {"seed", "seed: 2", "seed: 3", ALL},
    {"seeds", "seeds: fixed", "seeds: any", NONE},
    {"native_zoom", "native_zoom: 16", "native_zoom: 17", TILES},
    {"native_zoom", "native_zoom: 16, wrap: true", "native_zoom: 17, wrap: true", ALL},
    {"origin", "origin: [0, 0]", "origin: [0, 1]", TILES},
    {"origin", "origin: [0, 0]", "origin: [0.5, 0]", TILES},
    {"wrap", "wrap: false", "wrap: true", ALL},
    {"noise.basis", "noise: {basis: perlin}", "noise: {basis: simplex}", ALL},
    {"noise.gradients", "noise: {gradients: unit256}", "noise: {gradients: unit8}", ALL},
    {"noise.fade", "noise: {fade: quintic}", "noise: {fade: cubic}", ALL},
    {"noise.hash", "noise: {hash: mix64}", "noise: {hash: permutation}", ALL},
    {"noise.octave_salt", "noise: {hash: permutation, wavelength: 1000003, octaves: 9}",
     "noise: {hash: permutation, wavelength: 1000003, octaves: 9, octave_salt: true}", ALL},
    {"noise.fractal", "noise: {fractal: fbm}", "noise: {fractal: billow}", ALL},
    {"noise.wavelength", "noise: {wavelength: 1048576}", "noise: {wavelength: 2097152}", ALL},
    {"noise.octaves", "noise: {octaves: 21}", "noise: {octaves: 5}", ALL},
    {"noise.persistence", "noise: {persistence: 0.55}", "noise: {persistence: 0.5}", ALL},
    {"noise.lacunarity", "noise: {octaves: 9, lacunarity: 2}", "noise: {octaves: 9, lacunarity: 3}",
     ALL},
    {"noise.offset", HIGH "noise: {fractal: hybrid}", HIGH "noise: {fractal: hybrid, offset: 0.9}",
     ALL},
    {"noise.gain", HIGH "noise: {fractal: ridged}", HIGH "noise: {fractal: ridged, gain: 1}", ALL},
    {"noise.warp.amplitude", "noise: {warp: {amplitude: 0, wavelength: 65536}}",
     "noise: {warp: {amplitude: 30000, wavelength: 65536}}", ALL},
    {"noise.warp.wavelength", "noise: {warp: {amplitude: 30000, wavelength: 65536}}",
     "noise: {warp: {amplitude: 30000, wavelength: 32768}}", ALL},
    {"elevation", "elevation: [[-0.5, -6000], [0.5, 6000]]",
     "elevation: [[-0.5, -6000], [0, 500], [0.5, 6000]]", ALL},
    {"volume.overhangs.amplitude", "volume: {}", "volume: {overhangs: {amplitude: 50}}", VOLUMES},
    {"volume.overhangs.threshold", "volume: {}", "volume: {overhangs: {threshold: 0.1}}", VOLUMES},
    {"volume.overhangs.wavelength", "volume: {}", "volume: {overhangs: {wavelength: 32}}", VOLUMES},
    {"volume.overhangs.octaves", "volume: {}", "volume: {overhangs: {octaves: 1}}", VOLUMES},
    {"volume.overhangs.persistence", "volume: {}", "volume: {overhangs: {persistence: 1}}",
     VOLUMES},
    {"volume.overhangs.lacunarity", "volume: {}", "volume: {overhangs: {lacunarity: 3}}", VOLUMES},
    {"volume.overhangs.squash", "volume: {}", "volume: {overhangs: {squash: 1}}", VOLUMES},
    {"volume.caverns.size", "volume: {}", "volume: {caverns: {size: 0.8}}", VOLUMES},
    {"volume.caverns.cover", "volume: {}", "volume: {caverns: {cover: 0}}", VOLUMES},
    {"volume.caverns.wavelength", "volume: {}", "volume: {caverns: {wavelength: 64}}", VOLUMES},
    {"volume.caverns.octaves", "volume: {}", "volume: {caverns: {octaves: 1}}", VOLUMES},
    {"volume.caverns.persistence", "volume: {}", "volume: {caverns: {persistence: 1}}", VOLUMES},
    {"volume.caverns.lacunarity", "volume: {}", "volume: {caverns: {lacunarity: 3}}", VOLUMES},
    {"volume.caverns.squash", "volume: {}", "volume: {caverns: {squash: 1}}", VOLUMES},
    {"volume.tunnels.radius", "volume: {}", "volume: {tunnels: {radius: 12}}", VOLUMES},
    {"volume.tunnels.cover", "volume: {}", "volume: {tunnels: {cover: 40}}", VOLUMES},
    {"volume.tunnels.wavelength", "volume: {}", "volume: {tunnels: {wavelength: 64}}", VOLUMES},
    {"volume.tunnels.octaves", "volume: {}", "volume: {tunnels: {octaves: 1}}", VOLUMES},
    {"volume.tunnels.persistence", "volume: {}", "volume: {tunnels: {persistence: 1}}", VOLUMES},
    {"volume.tunnels.lacunarity", "volume: {}", "volume: {tunnels: {lacunarity: 3}}", VOLUMES},
    {"volume.tunnels.squash", "volume: {}", "volume: {tunnels: {squash: 1}}", VOLUMES},
    {"palette", "palette: [[-6500, \"#000000\"], [6500, \"#ffffff\"]]",
     "palette: [[-6500, \"#000000\"], [6500, \"#fffffe\"]]", COLORED},
    {"palette", "palette: [[-6500, \"#000000\"], [6500, \"#ffffff\"]]",
     "palette: [[-6500, \"#ffffff\"], [6500, \"#000000\"]]", COLORED},
    {"exaggeration", "exaggeration: 1", "exaggeration: 1.5", SHADED},
    {"about", "about: one", "about: two", NONE},
    {"layers", "layers: all", "layers: [gray, relief]", NONE},
};

/* The only world of YAML, a mapping without braces. */
static struct worlds *world_of(const char *yaml)
{
    char text[512];
    snprintf(text, sizeof text, "worlds: [{%s%s}]",
             strncmp(yaml, "name:", 5) == 0 ? "" : "name: a, ", yaml);
    return worlds_of_text(text);
}

/* Far from the places where coordinates or noises are 0. */
enum { Z = 6, X = -3, Y = -7 };

static struct blob *tile_of(const struct world *world, int layer)
{
    const struct tile_address tile = {
        .world = world, .layer = layer, .scale = 1, .z = Z, .x = X, .y = Y};
    struct blob *png;
    ck_assert_int_eq(render_address(&png, scratch, &tile, NULL, NULL), 0);
    blob_release(png);
    return blob_copy(render_scratch_pixels(scratch),
                     TILE_SIZE * TILE_SIZE * pixel_bytes(layers[layer].pixel));
}

static const struct farlands_grid region = {.x = INT64_C(-123456789012),
                                            .y = INT64_C(987654321098),
                                            .step = 17 * FARLANDS_UNIT,
                                            .width = 65,
                                            .height = 33};

static struct blob *values_of(const struct world *world, enum format format)
{
    const struct content heights = world_content(world, layer_find("height"), 0);
    struct blob *values;
    ck_assert_int_eq(render_values(&values, scratch, &heights, format, &region, NULL), 0);
    return values;
}

/* Air and ground, with overhangs, caverns and tunnels. */
static struct blob *density_of(const struct world *world)
{
    const float height = terrain_height(world->base_terrain, region.x, region.y);
    const struct farlands_box box = {.x = region.x,
                                     .y = region.y,
                                     .z = ((int64_t)height - 200) * FARLANDS_UNIT,
                                     .step = 4 * FARLANDS_UNIT,
                                     .width = 64,
                                     .height = 64,
                                     .depth = 64};
    struct blob *density;
    ck_assert_int_eq(render_density(&density, scratch, world, &box, NULL), 0);
    return density;
}

/* Compare a product WHAT of two worlds, whose bytes are released. COARSE: a small change may leave
 * them as they are, as a layer of few indices does. */
static void must_match(const struct row *row, const char *what, int moved, bool coarse,
                       const char *a, const char *b, struct blob *bytes_a, struct blob *bytes_b)
{
    must((strcmp(a, b) != 0) == (moved != 0), "%s, %s: %s and %s", row->key, what, a, b);
    const bool same = bytes_a->length == bytes_b->length &&
                      memcmp(bytes_a->bytes, bytes_b->bytes, bytes_a->length) == 0;
    must(same == !moved || (moved && coarse), "%s, %s: bytes are %s", row->key, what,
         same ? "equal" : "different");
    blob_release(bytes_a);
    blob_release(bytes_b);
}

START_TEST(test_moved)
{
    const struct row *row = &rows[_i];
    struct worlds *before = world_of(row->before), *after = world_of(row->after);
    const struct world *a = before->world, *b = after->world;

    must_match(row, "heights", row->moved & REGIONS, false, a->fingerprints.region,
               b->fingerprints.region, values_of(a, FORMAT_F32), values_of(b, FORMAT_F32));
    must_match(row, "samples", row->moved & REGIONS, false, a->fingerprints.region,
               b->fingerprints.region, values_of(a, FORMAT_R16), values_of(b, FORMAT_R16));
    must_match(row, "density", row->moved & VOLUMES, false, a->fingerprints.volume,
               b->fingerprints.volume, density_of(a), density_of(b));
    for (int i = 0; layers[i].name; i++) {
        if (!world_serves(a, i))
            continue; /* biomes */
        const int colored = layers[i].parts & 1U << WORLD_COLORS ? COLORED : 0;
        const int shaded = layers[i].parts & 1U << WORLD_SHADING ? SHADED : 0;
        const int product = colored | shaded ? colored | shaded : PLAIN;
        if (layers[i].fields && row->moved == VOLUMES) { /* one of them is the surface */
            must(strcmp(a->fingerprints.tile[i], b->fingerprints.tile[i]) != 0, "%s, surface",
                 row->key);
            continue;
        }
        const int webp = tile_kind(i, FORMAT_WEBP);
        must((strcmp(a->fingerprints.tile[webp], b->fingerprints.tile[webp]) != 0) ==
                 ((row->moved & product) && layers[i].formats >> FORMAT_WEBP & 1),
             "%s, %s: webp", row->key, layers[i].name);
        must_match(row, layers[i].name, row->moved & product, layers[i].pixel == PIXEL_INDEX8,
                   a->fingerprints.tile[i], b->fingerprints.tile[i], tile_of(a, i), tile_of(b, i));
    }
    worlds_release(before);
    worlds_release(after);
}
END_TEST

/* How WebP is encoded: tiles in this format depend on it, each scale on its own quality, and
 * nothing else does. */
static const struct {
    const char *yaml;
    bool moved, one, two; /* the fingerprint; the bytes of tiles, and of @2x tiles */
} webp_rows[] = {
    {"", false, false, false},
    {"webp: {quality: 85, quality_2x: 65, method: 0}\n", false, false, false},
    {"webp: {quality: 84}\n", true, true, false},
    {"webp: {quality_2x: 66}\n", true, false, true},
    {"webp: {method: 3}\n", true, true, true},
};

static struct worlds *with_webp(const char *yaml)
{
    char text[256];
    snprintf(text, sizeof text, "%sworlds: [{name: a}]", yaml);
    return worlds_of_text(text);
}

static bool same_tile(const struct world *a, const struct world *b, enum format format, int scale)
{
    const struct tile_address one = {
        .world = a, .format = format, .scale = scale, .z = Z, .x = X, .y = Y};
    struct tile_address other = one;
    struct blob *blob_a, *blob_b;
    char key_a[TILE_KEY_MAX], key_b[TILE_KEY_MAX];

    other.world = b;
    ck_assert_int_eq(render_address(&blob_a, scratch, &one, NULL, NULL), 0);
    ck_assert_int_eq(render_address(&blob_b, scratch, &other, NULL, NULL), 0);
    /* Files end with the checksum of their keys. */
    const bool same_key = strcmp(tile_key(&one, key_a), tile_key(&other, key_b)) == 0;
    const size_t compared = blob_a->length - (same_key ? 0 : IMAGE_CHECKSUM);
    const bool same =
        blob_a->length == blob_b->length && memcmp(blob_a->bytes, blob_b->bytes, compared) == 0;
    blob_release(blob_a);
    blob_release(blob_b);
    return same;
}

START_TEST(test_webp)
{
    struct worlds *plain = with_webp(""), *other = with_webp(webp_rows[_i].yaml);
    const struct world *a = plain->world, *b = other->world;
    for (int kind = 0; kind < TILE_KINDS; kind++) {
        const bool moved = strcmp(a->fingerprints.tile[kind], b->fingerprints.tile[kind]) != 0;
        const bool is_webp = kind >= CONFIG_LAYERS_MAX && a->fingerprints.tile[kind][0];
        must(moved == (is_webp && webp_rows[_i].moved), "kind %d", kind);
    }
    ck_assert_str_eq(a->fingerprints.region, b->fingerprints.region);
    ck_assert(same_tile(a, b, FORMAT_PNG, 1));
    ck_assert_int_eq(!same_tile(a, b, FORMAT_WEBP, 1), webp_rows[_i].one);
    ck_assert_int_eq(!same_tile(a, b, FORMAT_WEBP, 2), webp_rows[_i].two);
    worlds_release(plain);
    worlds_release(other);
}
END_TEST

static void must_have_row(void *context, const struct world_key *key)
{
    bool *seen = context;
    bool has = false;
    for (int i = 0; i < ROWS(rows); i++)
        if (strcmp(rows[i].key, key->name) == 0)
            seen[i] = has = true;
    must(has, "no row for the key %s", key->name);
}

START_TEST(test_all_keys)
{
    bool seen[ROWS(rows)] = {false};
    struct world_config world = world_defaults;
    world.about[0] = 'a'; /* an empty one is no key */
    config_world_visit(&world, must_have_row, seen);
    for (int i = 0; i < ROWS(rows); i++) /* `layers` chooses among products */
        must(seen[i] || strcmp(rows[i].key, "layers") == 0, "no key %s", rows[i].key);
}
END_TEST

/* A default has no part in fingerprints, whether or not the file has the key. */
START_TEST(test_defaults)
{
    struct worlds *plain = world_of("name: a"), *given = worlds_of(FRACTAL_WORLD);
    ck_assert_str_eq(plain->world->fingerprints.region, given->world->fingerprints.region);
    ck_assert_str_eq(plain->world->fingerprints.volume, given->world->fingerprints.volume);
    for (int i = 0; layers[i].name; i++)
        ck_assert_str_eq(plain->world->fingerprints.tile[i], given->world->fingerprints.tile[i]);
    for (int part = WORLD_IDENTITY + 1; part < WORLD_PARTS; part++)
        must(plain->world->parameters->part[part] == 0, "%d", part);
    worlds_release(plain);
    worlds_release(given);
}
END_TEST

/*
 * Fingerprints of released worlds. They change with the generator and IMAGE_VERSION, and a layer's
 * with its version, but not because a key is added.
 */
static const struct {
    const char *file, *regions, *volumes, *relief, *gray;
} golden[] = {
    {FRACTAL_WORLD, "90b5a03a9cb8d9ee", "d728486f5818a2f2", "51001fe8a36e9c0c", "f61b24b1fa42c25c"},
    {"config/worlds/ridges.yaml", "c8ae8d75220d95cd", "6be8eaf9cee9cedc", "296d6a3bf314596e",
     "9223cde61fe78238"},
    {"config/worlds/octaves.yaml", "761f931ce26b8b5d", "ef1345c19f9cae4e", "5c6e1b702fd7eced",
     "7e13c78e7b83e2d5"},
};

START_TEST(test_golden)
{
    struct worlds *worlds = worlds_of(golden[_i].file);
    const struct world *world = worlds->world;
    ck_assert_str_eq(world->fingerprints.region, golden[_i].regions);
    ck_assert_str_eq(world->fingerprints.volume, golden[_i].volumes);
    ck_assert_str_eq(world->fingerprints.tile[layer_find("relief")], golden[_i].relief);
    ck_assert_str_eq(world->fingerprints.tile[layer_find("gray")], golden[_i].gray);
    worlds_release(worlds);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fingerprints");
    TCase *tcase = suite_case(suite, "worlds");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_moved, 0, ROWS(rows));
    tcase_add_loop_test(tcase, test_webp, 0, ROWS(webp_rows));
    tcase_add_test(tcase, test_all_keys);
    tcase_add_test(tcase, test_defaults);
    tcase_add_loop_test(tcase, test_golden, 0, ROWS(golden));
    return suite_run(suite);
}
