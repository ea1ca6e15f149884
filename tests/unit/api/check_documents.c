/* JSON documents: valid for any input, with the keys that clients read, and exact. */
#include "server/api/documents.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>

#include "config/values/exact_numbers.h"
#include "server/layers/layer.h"
#include "server/world/tile.h"
#include "server/world/worlds.h"
#include "tests/unit/support/fixtures.h"

static struct worlds *worlds;

static void set_up(void)
{
    static const char yaml[] = "worlds:\n"
                               "  - name: first\n"
                               "    seed: 18446744073709551615\n"
                               "    native_zoom: 32\n"
                               "    origin: [-0.5, 2251799813685248]\n"
                               "    elevation: [[-0.5, -11000.25], [0.5, 8848.75]]\n"
                               "    layers: [normal, relief, terrarium, height]\n" /* any order */
                               "  - name: second\n"
                               "    seeds: any\n"
                               "    native_zoom: 0\n"
                               "  - name: third-\n"
                               "  - name: fourth\n"
                               "    wrap: true\n"
                               "    noise: {warp: {amplitude: 0.5, wavelength: 4096}}\n";
    worlds = worlds_of_text(yaml);
}

static void tear_down(void)
{
    worlds_release(worlds);
}

/* Parse the document, which must have nothing behind its end. Releases BLOB. */
static cJSON *parse(struct blob *blob)
{
    const char *end = NULL;
    must(blob != NULL, "no document");
    must(blob->references == 1, "%u references", blob->references);
    must(memchr(blob->bytes, 0, blob->length) == NULL, "a 0 in the document");
    cJSON *json = cJSON_ParseWithLengthOpts((const char *)blob->bytes, blob->length, &end, 0);
    must(json != NULL, "not JSON: %.*s", (int)blob->length, blob->bytes);
    const char *stop = (const char *)blob->bytes + blob->length;
    while (end < stop && (*end == '\n' || *end == ' '))
        end++;
    must(end == stop, "more than JSON: %.*s", (int)blob->length, blob->bytes);
    blob_release(blob);
    return json;
}

static const cJSON *member(const cJSON *object, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
    must(found != NULL, "no %s", key);
    return found;
}

static const char *string(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(member(object, key));
    must(text != NULL, "%s is no text", key);
    return text;
}

static double number(const cJSON *object, const char *key)
{
    must(cJSON_IsNumber(member(object, key)), "%s is no number", key);
    return member(object, key)->valuedouble;
}

/* True if the array under KEY consists of these two numbers. */
static void must_be_pair(const cJSON *object, const char *key, double first, double second)
{
    const cJSON *pair = member(object, key);
    must(cJSON_IsArray(pair) && cJSON_GetArraySize(pair) == 2, "%s is no pair", key);
    double a = cJSON_GetArrayItem(pair, 0)->valuedouble;
    double b = cJSON_GetArrayItem(pair, 1)->valuedouble;
    must(a == first && b == second, "%s: [%.17g, %.17g]", key, a, b);
}

/* The parameters that place tiles are those of the configuration. */
static void must_tell_grid(const cJSON *json, const struct world *world)
{
    char seed[32];
    /* As text: most readers would round large numbers. */
    snprintf(seed, sizeof seed, "%" PRIu64, world->seed);
    ck_assert_str_eq(string(json, "seed"), seed);
    ck_assert_str_eq(string(json, "seeds"), world->config->seeds == SEEDS_ANY ? "any" : "fixed");
    ck_assert_double_eq(number(json, "native_zoom"), world->config->native_zoom);
    must_be_pair(json, "origin", (double)world->config->origin[0] / FARLANDS_UNIT,
                 (double)world->config->origin[1] / FARLANDS_UNIT);
    ck_assert_int_eq(cJSON_IsTrue(member(json, "wrap")), world->config->wrap);
    const struct farlands_params *terrain = &world->config->terrain;
    must_be_pair(json, "range", terrain->elevation[0].metres,
                 terrain->elevation[terrain->knots - 1].metres);
    ck_assert_double_eq(number(json, "generator"), FARLANDS_GENERATOR);
    const cJSON *limits = member(json, "limits");
    ck_assert_double_eq(number(limits, "coordinate"), 0x1p52);
    ck_assert_double_eq(number(limits, "overview"), world_overview_zoom(world));
    must_be_pair(limits, "zoom", world_min_zoom(world), world_max_zoom(world, 1));
    must_be_pair(limits, "zoom_2x", world_min_zoom(world), world_max_zoom(world, 2));
}

/* The encoding of the layer's heights, if it has one. */
static void must_tell_encoding(const cJSON *json, int layer)
{
    ck_assert_int_eq(cJSON_HasObjectItem(json, "encoding"), layers[layer].encoding != NULL);
    if (layers[layer].encoding)
        ck_assert_str_eq(string(json, "encoding"), layers[layer].encoding);
}

/* A layer that is shaded tells the exaggeration of the world. */
static void must_tell_exaggeration(const cJSON *json, const struct world *world, int layer)
{
    const bool shaded = layers[layer].parts & 1U << WORLD_SHADING;
    ck_assert_int_eq(cJSON_HasObjectItem(json, "exaggeration"), shaded);
    if (!shaded)
        return;
    const double least = number(member(json, "exaggeration"), "least");
    const double spacing = number(member(json, "exaggeration"), "spacing");
    for (int64_t step = 1; step < FARLANDS_MAX_STEP; step *= 2) {
        const double exaggeration = least * sqrt(1 + (double)step / FARLANDS_UNIT / spacing);
        const double ratio = exaggeration / (double)world_exaggeration(world, step);
        must(fabs(ratio - 1) < 1e-6, "%" PRId64 " units: %g", step, exaggeration);
    }
}

/* The colors of a layer with a scale are those of its pixels; no other layer has any. */
static void must_tell_legend(const cJSON *json, int layer)
{
    const struct scale_stop *stops = layers[layer].scale;
    ck_assert_int_eq(cJSON_HasObjectItem(json, "legend"), stops != NULL);
    if (!stops)
        return;
    const cJSON *legend = member(json, "legend"), *palette = member(legend, "palette");
    ck_assert_str_eq(string(legend, "unit"), "degrees");
    ck_assert_int_eq(cJSON_GetArraySize(palette), layers[layer].stops);
    for (int i = 0; i < cJSON_GetArraySize(palette); i++) {
        const cJSON *stop = cJSON_GetArrayItem(palette, i);
        char color[8];
        snprintf(color, sizeof color, "#%02x%02x%02x", stops[i].color[0], stops[i].color[1],
                 stops[i].color[2]);
        ck_assert_double_eq(stop->child->valuedouble, (double)stops[i].degrees);
        ck_assert_str_eq(stop->child->next->valuestring, color);
    }
}

/* Layers that only eyes read have tiles in WebP, too. */
static void must_tell_webp(const cJSON *json, const struct world *world, int layer)
{
    const bool has = layers[layer].formats >> FORMAT_WEBP & 1;
    char url[256];
    ck_assert_int_eq(cJSON_HasObjectItem(json, "tiles_webp"), has);
    if (!has)
        return;
    snprintf(url, sizeof url, "%s/%s/{z}/{x}/{y}.webp?v=%s", world->name, layers[layer].name,
             world->fingerprints.tile[tile_kind(layer, FORMAT_WEBP)]);
    ck_assert_str_eq(string(json, "tiles_webp"), url);
    ck_assert_str_eq(cJSON_GetStringValue(cJSON_GetArrayItem(member(json, "extensions"), 1)),
                     "webp");
}

START_TEST(test_worlds)
{
    cJSON *json = parse(document_worlds(worlds, false));
    const cJSON *list = member(json, "worlds");
    ck_assert(cJSON_IsArray(list));
    ck_assert_int_eq(cJSON_GetArraySize(list), worlds->count);
    for (int i = 0; i < worlds->count; i++) {
        const cJSON *world = cJSON_GetArrayItem(list, i);
        ck_assert_str_eq(string(world, "name"), worlds->world[i].name);
        ck_assert_str_eq(string(world, "fingerprint"), worlds->world[i].fingerprints.region);
        ck_assert_int_eq(cJSON_GetArraySize(member(world, "layers")), i == 0 ? 4 : plain_layers());
        must_tell_grid(world, &worlds->world[i]);
    }
    cJSON_Delete(json);
}
END_TEST

START_TEST(test_world)
{
    const struct world *world = &worlds->world[_i];
    const struct farlands_params *terrain = &world->config->terrain;
    cJSON *json = parse(document_world(world));
    ck_assert_str_eq(string(json, "name"), world->name);
    ck_assert_str_eq(string(json, "fingerprint"), world->fingerprints.region);
    ck_assert_uint_eq(strspn(world->fingerprints.region, "0123456789abcdef"), 16);
    must_tell_grid(json, world);

    const cJSON *noise = member(json, "noise");
    ck_assert_double_eq(number(noise, "octaves"), terrain->octaves);
    ck_assert_double_eq(number(noise, "persistence"), terrain->persistence);
    ck_assert_double_eq(number(noise, "lacunarity"), terrain->lacunarity);
    ck_assert_double_eq(number(noise, "wavelength"), (double)terrain->wavelength / FARLANDS_UNIT);
    ck_assert_str_eq(string(noise, "basis"), "perlin");
    ck_assert_str_eq(string(noise, "hash"), "mix64");
    const cJSON *warp = member(noise, "warp");
    ck_assert_double_eq(number(warp, "amplitude"), (double)terrain->warp.amplitude / FARLANDS_UNIT);
    ck_assert_double_eq(number(warp, "wavelength"),
                        (double)terrain->warp.wavelength / FARLANDS_UNIT);
    const cJSON *caverns = member(member(json, "volume"), "caverns");
    ck_assert_double_eq(number(caverns, "size"), terrain->volume.caverns.size);
    ck_assert_double_eq(number(caverns, "wavelength"),
                        (double)terrain->volume.caverns.noise.wavelength / FARLANDS_UNIT);
    for (const cJSON *item = json->child; item; item = item->next)
        for (const cJSON *other = item->next; other; other = other->next)
            ck_assert_str_ne(item->string, other->string);
    ck_assert_int_eq(cJSON_GetArraySize(member(json, "elevation")), terrain->knots);
    ck_assert_int_eq(cJSON_GetArraySize(member(json, "palette")), world->config->stops);

    const cJSON *list = member(json, "layers");
    static const char *const some[] = {"relief", "height", "terrarium", "normal", NULL};
    int count = 0;
    for (int i = 0; _i == 0 ? some[i] != NULL : !layers[i].fields; i++) {
        if (_i != 0 && layers[i].rivers) /* these worlds have no rivers */
            continue;
        const cJSON *layer = cJSON_GetArrayItem(list, count++);
        ck_assert_ptr_nonnull(layer);
        ck_assert_str_eq(string(layer, "name"), _i == 0 ? some[i] : layers[i].name);
        must_tell_encoding(layer, layer_find(string(layer, "name")));
        must_tell_exaggeration(layer, world, layer_find(string(layer, "name")));
        must_tell_legend(layer, layer_find(string(layer, "name")));
        must_tell_webp(layer, world, layer_find(string(layer, "name")));
    }
    ck_assert_int_eq(cJSON_GetArraySize(list), count);
    cJSON_Delete(json);
}
END_TEST

/* The initial view of a map is within its bounds and zooms. By the index of the world. */
static const double centers[][3] = {
    {-180, 0, 22}, /* x at the edge of the window, y far north of it */
    {0, 0, 0},
    {0, 0, 6},
    {0, 0, 6},
};

/* The parts of the world outside 0 <= x, y < 2^z. */
static void must_tell_plane(const cJSON *json, const struct world *world, int layer,
                            enum format format)
{
    const char *extension = format_extension(format);
    const char *fingerprint = world->fingerprints.tile[tile_kind(layer, format)];
    const cJSON *plane = member(json, "farlands");
    char url[512], name[LAYER_NAME_MAX];
    ck_assert_str_eq(string(plane, "world"), world->name);
    ck_assert_str_eq(string(plane, "layer"), layer_name(world, layer, 0, name));
    ck_assert_str_eq(string(plane, "fingerprint"), world->fingerprints.region);
    must_tell_grid(plane, world);
    ck_assert_str_eq(cJSON_GetStringValue(cJSON_GetArrayItem(member(plane, "extensions"), 0)),
                     "png");
    snprintf(url, sizeof url, "https://[::1]:8443/%s/%s/{z}/{x}/{y}@2x.%s?v=%s", world->name, name,
             extension, fingerprint);
    ck_assert_str_eq(string(plane, "tiles_2x"), url);
    snprintf(url, sizeof url, "https://[::1]:8443/%s/%s/{z}/{x}/{y}.%s?border=1&v=%s", world->name,
             name, extension, fingerprint);
    ck_assert_str_eq(string(plane, "tiles_border"), url);
}

/* World _i / 2, PNG or WebP. */
START_TEST(test_tilejson)
{
    const struct world *world = &worlds->world[_i / 2];
    const enum format format = _i % 2 ? FORMAT_WEBP : FORMAT_PNG;
    for (int layer = 0; layers[layer].name; layer++) {
        char url[512], name[LAYER_NAME_MAX];
        const char *fingerprint = world->fingerprints.tile[tile_kind(layer, format)];
        if (!(layers[layer].formats >> format & 1))
            continue;
        layer_name(world, layer, 0, name);
        cJSON *json = parse(document_tilejson(world, layer, 0, format, "https://[::1]:8443"));
        ck_assert_str_eq(string(json, "tilejson"), "3.0.0");
        ck_assert_uint_eq(strlen(fingerprint), 16);
        ck_assert_str_eq(string(json, "fingerprint"), fingerprint);
        const cJSON *tiles = member(json, "tiles");
        ck_assert_int_ge(cJSON_GetArraySize(tiles), 1);
        snprintf(url, sizeof url, "https://[::1]:8443/%s/%s/{z}/{x}/{y}.%s?v=%s", world->name, name,
                 format_extension(format), fingerprint);
        ck_assert_str_eq(cJSON_GetStringValue(cJSON_GetArrayItem(tiles, 0)), url);
        ck_assert(!cJSON_GetObjectItem(json, "vector_layers"));
        ck_assert_double_eq(number(json, "tileSize"), TILE_SIZE);
        if (cJSON_HasObjectItem(json, "scheme"))
            ck_assert_str_eq(string(json, "scheme"), "xyz");
        /* Within the limits of the schema, of MapLibre (25) and of the world. */
        double min = number(json, "minzoom"), max = number(json, "maxzoom");
        ck_assert_double_ge(min, 0);
        ck_assert_double_ge(min, world_min_zoom(world));
        ck_assert_double_le(max, 25);
        ck_assert_double_le(max, world_max_zoom(world, 1));
        ck_assert_double_le(min, max);
        const cJSON *bounds = member(json, "bounds");
        static const double most[] = {180, 90, 180, 90};
        ck_assert_int_eq(cJSON_GetArraySize(bounds), 4);
        for (int i = 0; i < 4; i++)
            ck_assert_double_le(fabs(cJSON_GetArrayItem(bounds, i)->valuedouble), most[i]);
        const cJSON *center = member(json, "center");
        ck_assert_int_eq(cJSON_GetArraySize(center), 3);
        for (int i = 0; i < 3; i++)
            ck_assert_double_eq_tol(cJSON_GetArrayItem(center, i)->valuedouble, centers[_i / 2][i],
                                    1e-9);
        must_tell_encoding(json, layer);
        must_tell_plane(json, world, layer, format);
        must_tell_exaggeration(member(json, "farlands"), world, layer);
        cJSON_Delete(json);
    }
}
END_TEST

/* A derived world has its seed in the name, and its relative URLs have no scheme. */
START_TEST(test_seeded)
{
    struct worlds *derived;
    ck_assert_int_eq(worlds_derive(&derived, &worlds->world[1], UINT64_MAX), 0);
    const struct world *world = derived->world;
    cJSON *json = parse(document_world(world));
    ck_assert_str_eq(string(json, "name"), "second:18446744073709551615");
    ck_assert_str_eq(string(json, "fingerprint"), world->fingerprints.region);
    ck_assert_str_ne(string(json, "fingerprint"), worlds->world[1].fingerprints.region);
    must_tell_grid(json, world);
    const cJSON *relief = cJSON_GetArrayItem(member(json, "layers"), 0);
    ck_assert_str_eq(string(relief, "tilejson"), "./second:18446744073709551615/relief.json");
    ck_assert_ptr_eq(strstr(string(relief, "tiles"), "./second:18446744073709551615/relief/{z}"),
                     string(relief, "tiles"));
    cJSON_Delete(json);

    json = parse(document_tilejson(world, 0, 0, FORMAT_PNG, "https://[::1]:8443"));
    must_tell_plane(json, world, 0, FORMAT_PNG);
    const char *tiles = cJSON_GetArrayItem(member(json, "tiles"), 0)->valuestring;
    ck_assert_ptr_eq(strstr(tiles, "https://[::1]:8443/second:18446744073709551615/relief/{z}"),
                     tiles);
    cJSON_Delete(json);
    worlds_release(derived);
}
END_TEST

/* The longest base, and the longest name. */
START_TEST(test_long_urls)
{
    static char base[1024], url[2048];
    struct world world = worlds->world[1];
    memset(base, 'a', sizeof base - 1);
    memset(world.name, 'w', WORLD_SEEDED_NAME_MAX - 1);
    for (int layer = 0; layers[layer].name; layer++) {
        char name[LAYER_NAME_MAX];
        cJSON *json = parse(document_tilejson(&world, layer, 0, FORMAT_PNG, base));
        snprintf(url, sizeof url, "%s/%s/%s/{z}/{x}/{y}@2x.png?v=%s", base, world.name,
                 layer_name(&world, layer, 0, name), world.fingerprints.tile[layer]);
        ck_assert_str_eq(string(member(json, "farlands"), "tiles_2x"), url);
        cJSON_Delete(json);
    }
}
END_TEST

static const char *const messages[] = {
    "",
    "no such world",
    "x: \"1e3\" is not a number",
    "\\",
    "\\\"",
    "a\nb\r\tc\b\f",
    "\x01\x02\x1f",
    "\x7f",
    "</script><!--",
    "%s%n",
    "\xc3\xa9\xe2\x82\xac\xf0\x9f\x97\xba",
    "{\"error\": \"\"}",
};

START_TEST(test_errors)
{
    const char *message = messages[_i];
    struct blob *blob = document_message("error", message);
    for (size_t i = 0; i + 1 < blob->length; i++)
        ck_assert_msg(blob->bytes[i] >= ' ', "byte %02x for %s", blob->bytes[i], message);
    cJSON *json = parse(blob);
    ck_assert_str_eq(string(json, "error"), message);
    cJSON_Delete(json);
    json = parse(document_message("status", message));
    ck_assert_str_eq(string(json, "status"), message);
    cJSON_Delete(json);
}
END_TEST

/* All characters, and long messages. */
START_TEST(test_any_error)
{
    uint64_t state = 18;
    for (int i = 0; i < 5000; i++) {
        char message[300];
        int length = chance_below(&state, 299);
        for (int j = 0; j < length; j++)
            message[j] = (char)(1 + chance_below(&state, 127));
        message[length] = 0;
        cJSON *json = parse(document_message("error", message));
        must(strcmp(string(json, "error"), message) == 0, "%s", message);
        cJSON_Delete(json);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("documents");
    TCase *tcase = suite_case(suite, "JSON");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_worlds);
    tcase_add_loop_test(tcase, test_world, 0, 4);
    tcase_add_loop_test(tcase, test_tilejson, 0, 2 * 4);
    tcase_add_test(tcase, test_seeded);
    tcase_add_test(tcase, test_long_urls);
    tcase_add_loop_test(tcase, test_errors, 0, ROWS(messages));
    tcase_add_test(tcase, test_any_error);
    return suite_run(suite);
}
