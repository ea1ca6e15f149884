/* Worlds from text: the daemon's document and YAML yield the same parameters. */
#include "config/library/world_text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fenv.h>
#include <glob.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "config/text/yaml_file.h"
#include "config/values/exact_numbers.h"
#include "config/world/world_options.h"
#include "config/world/world_terrain.h"
#include "server/api/documents.h"
#include "tests/unit/support/configuration_file.h"

enum { WHY = sizeof((struct config_error *)0)->text };

/* World NAME of TEXT; on an error WHY, of SIZE bytes, gets the message. */
static int read_text(struct world_text *out, const char *text, size_t length, const char *name,
                     char *why, size_t size)
{
    struct config_error error = {0};
    const int err = world_text_read(out, text, length, name, &error);
    if (err)
        snprintf(why, size, "%s", error.text);
    return err;
}

static void must_be_read(struct world_text *out, const char *text, size_t length, const char *name)
{
    char why[WHY] = "";
    const int err = read_text(out, text, length, name, why, sizeof why);
    must(err == 0, "%d: %s", err, why);
}

/* TEXT must be refused with ERR and a message that contains EXPECTED. */
static void must_be_refused(const char *text, size_t length, const char *name, int err,
                            const char *expected)
{
    struct world_text world, before;
    char why[WHY] = "";
    memset(&world, 0x5a, sizeof world);
    before = world;
    const int got = read_text(&world, text, length, name, why, sizeof why);
    must(got == err, "%d, not %d: %s", got, err, why);
    must(strncmp(why, "text:", 5) == 0 && strstr(why, expected), "%s, not %s", why, expected);
    must(memcmp(&world, &before, sizeof world) == 0, "touched");
}

/* Compare heights near the origin, between blocks, and far out. */
static void must_have_same_heights(const struct farlands_terrain *a, const struct world_config *b)
{
    enum { SIDE = 33 };
    static const int64_t places[][2] = {
        {0, 0},
        {-17 * FARLANDS_UNIT, -16 * FARLANDS_UNIT},
        {INT64_C(123456789012345), INT64_C(-98765432109876)},
        {FARLANDS_LIMIT - SIDE * INT64_C(333), -FARLANDS_LIMIT},
    };
    float expected[SIDE * SIDE], heights[SIDE * SIDE];
    struct farlands_terrain *terrain;
    struct farlands_scratch *scratch;
    ck_assert_int_eq(world_config_terrain(&terrain, b), 0);
    ck_assert_int_eq(farlands_scratch_new(&scratch), 0);
    for (int i = 0; i < ROWS(places); i++) {
        const struct farlands_grid grid = {
            .x = places[i][0], .y = places[i][1], .step = 333, .width = SIDE, .height = SIDE};
        ck_assert_int_eq(terrain_heights(a, scratch, &grid, expected, SIDE), 0);
        ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, heights, SIDE), 0);
        ck_assert_mem_eq(heights, expected, sizeof heights);
    }
    farlands_scratch_free(scratch);
    terrain_free(terrain);
}

/* READ must be WORLD. Releases it. */
static void must_be(const struct world_text *read, const struct world *world,
                    const char *fingerprint)
{
    const struct world_config *config = world->config;
    ck_assert_str_eq(read->world.name, config->name);
    ck_assert_str_eq(read->fingerprint, fingerprint);
    ck_assert_int_eq(read->world.native_zoom, config->native_zoom);
    ck_assert_mem_eq(read->world.origin, config->origin, sizeof read->world.origin);
    ck_assert_mem_eq(&read->world.terrain, &config->terrain, sizeof read->world.terrain);
    must_have_same_heights(world->base_terrain, &read->world);
    world_fields_release(read->world.fields);
}

/* The document as another program may print it. */
static void must_survive_printing(const struct blob *document, const struct world *world)
{
    struct world_text read;
    cJSON *json = cJSON_ParseWithLength((const char *)document->bytes, document->length);
    /* With tabs and line breaks. cJSON keeps numbers as doubles, which hold all of these exactly.
     */
    char *text = cJSON_Print(json);
    must_be_read(&read, text, strlen(text), world->name);
    must_be(&read, world, world->fingerprints.region);
    cJSON_free(text);
    cJSON_Delete(json);
}

/* Read each world of the file PATH (NULL: those that are built in) from both kinds of text. */
static void must_come_back(const char *path)
{
    struct worlds *worlds = worlds_of(path);
    struct blob *yaml = file_read(path ? path : "config/farlands.yaml");
    struct world_text read;
    ck_assert_ptr_nonnull(yaml);
    for (int i = 0; i < worlds->count; i++) {
        const struct world *world = &worlds->world[i];
        struct blob *document = document_world(world);
        const char *text = (const char *)document->bytes;
        must_be_read(&read, text, document->length, NULL);
        must_be(&read, world, world->fingerprints.region);
        must_be_read(&read, text, document->length, world->name);
        must_be(&read, world, world->fingerprints.region);
        must_survive_printing(document, world);
        must_be_read(&read, (const char *)yaml->bytes, yaml->length, world->name);
        must_be(&read, world, "");
        blob_release(document);
    }
    blob_release(yaml);
    worlds_release(worlds);
}

START_TEST(test_default)
{
    must_come_back(NULL);
    must_come_back(FRACTAL_WORLD);
}
END_TEST

START_TEST(test_samples)
{
    glob_t samples;
    ck_assert_int_eq(glob("config/worlds/*.yaml", 0, NULL, &samples), 0);
    ck_assert_uint_ge(samples.gl_pathc, 7);
    for (size_t i = 0; i < samples.gl_pathc; i++)
        must_come_back(samples.gl_pathv[i]);
    globfree(&samples);
}
END_TEST

/* Numbers that doubles cannot hold, bounds, and layers, which this library does not know. */
static const char extremes[] =
    "listen: 127.0.0.1:0\n"
    "worlds:\n"
    "  - {name: first, seed: 18446744073709551615, native_zoom: 32,\n"
    "     origin: [-0.0009765625, 2251799813685248], layers: [normal, relief],\n"
    "     elevation: [[-0.1, -11000.25], [1e-7, 0.3], [0.7, 8848.75]],\n"
    "     noise: {persistence: 0.1, lacunarity: 1.0000001, octaves: 2, offset: 1e-300}}\n"
    "  - {name: second, native_zoom: 0, wrap: true,\n"
    "     noise: {wavelength: 256, octaves: 3, warp: {amplitude: 0.5, wavelength: 32}}}\n"
    "  - {name: third-, noise: {basis: simplex, hash: permutation, octave_salt: true}}\n";

START_TEST(test_extremes)
{
    file_write(file, extremes, sizeof extremes - 1);
    must_come_back(file);
}
END_TEST

START_TEST(test_choice)
{
    const size_t length = sizeof extremes - 1;
    must_be_refused(extremes, length, NULL, -EINVAL, "worlds: 3 worlds");
    must_be_refused(extremes, length, NULL, -EINVAL, "\"first\", \"second\", \"third-\"");
    must_be_refused(extremes, length, "fourth\n", -ENOENT,
                    "no world \"fourth?\"; expected one of \"first\", \"second\", \"third-\"");
    must_be_refused(extremes, length, "", -ENOENT, "no world \"\"");
}
END_TEST

/* The document of the default world, for changes. */
static cJSON *document_of_default(void)
{
    struct worlds *worlds = worlds_of(FRACTAL_WORLD);
    struct blob *document = document_world(&worlds->world[0]);
    cJSON *json = cJSON_ParseWithLength((const char *)document->bytes, document->length);
    blob_release(document);
    worlds_release(worlds);
    return json;
}

static void document_must_be_refused(const cJSON *json, const char *name, int err,
                                     const char *expected)
{
    char *text = cJSON_PrintUnformatted(json);
    must_be_refused(text, strlen(text), name, err, expected);
    cJSON_free(text);
}

START_TEST(test_seeds)
{
    struct world_text read;
    cJSON *json = document_of_default();
    cJSON_ReplaceItemInObject(json, "name", cJSON_CreateString("default:18446744073709551615"));
    cJSON_ReplaceItemInObject(json, "seed", cJSON_CreateString("18446744073709551615"));
    char *text = cJSON_PrintUnformatted(json);
    must_be_read(&read, text, strlen(text), NULL);
    ck_assert_str_eq(read.world.name, "default:18446744073709551615");
    ck_assert_uint_eq(read.world.terrain.seed, UINT64_MAX);
    must_be_read(&read, text, strlen(text), "default:18446744073709551615");
    must_be_refused(text, strlen(text), "default", -ENOENT,
                    "expected \"default:18446744073709551615\"");
    cJSON_free(text);
    static const char *const names[] = {"default:",    "default:01",
                                        "default:-1",  "default:18446744073709551616",
                                        "default:1:2", ":1"};
    for (int i = 0; i < ROWS(names); i++) {
        cJSON_ReplaceItemInObject(json, "name", cJSON_CreateString(names[i]));
        document_must_be_refused(json, NULL, -EINVAL, "name: ");
    }
    cJSON_Delete(json);
}
END_TEST

START_TEST(test_generator)
{
    cJSON *json = document_of_default();
    cJSON_ReplaceItemInObject(json, "generator", cJSON_CreateNumber(WORLD_FIELDS_GENERATOR + 1));
    document_must_be_refused(json, NULL, -ENOTSUP,
                             "generator: document was made by generator 4; expected 2 or 3");
    cJSON_ReplaceItemInObject(json, "generator", cJSON_CreateString("two"));
    document_must_be_refused(json, NULL, -EINVAL, "generator: ");
    cJSON_DeleteItemFromObject(json, "generator");
    document_must_be_refused(json, NULL, -EINVAL, "generator: missing");
    cJSON_Delete(json);
}
END_TEST

/* ROOT must be read as the default world. */
static void document_must_be_default(const cJSON *root)
{
    struct worlds *worlds = worlds_of(FRACTAL_WORLD);
    struct world_text read;
    char *text = cJSON_PrintUnformatted(root);
    must_be_read(&read, text, strlen(text), "default");
    ck_assert_mem_eq(&read.world.terrain, &worlds->world->config->terrain,
                     sizeof read.world.terrain);
    ck_assert_int_eq(read.world.native_zoom, worlds->world->config->native_zoom);
    ck_assert_mem_eq(read.world.origin, worlds->world->config->origin, sizeof read.world.origin);
    cJSON_free(text);
    worlds_release(worlds);
}

/* Omit each key of OPTIONS from OBJECT, which is PATH in ROOT. Returns their number. */
static int must_default_each(const cJSON *root, cJSON *object, const struct option *options,
                             const char *path)
{
    int count = 0;
    for (const struct option *option = options; option->key; option++) {
        char key[128];
        snprintf(key, sizeof key, "%s%s", path, option->key);
        if (option->kind == OPTION_FIELDS || option->kind == OPTION_LIKE ||
            strcmp(key, "about") == 0) /* of other worlds */
            continue;
        cJSON *value = cJSON_DetachItemFromObjectCaseSensitive(object, option->key);
        must(value != NULL, "the document has no %s", key);
        if (strcmp(key, "name") == 0)
            document_must_be_refused(root, NULL, -EINVAL, "unknown key");
        else if (strcmp(key, "noise") == 0)
            document_must_be_refused(root, NULL, -EINVAL, "noise: missing; expected the complete");
        else
            document_must_be_default(root);
        cJSON_AddItemToObject(object, option->key, value);
        count++;
        snprintf(key, sizeof key, "%s%s.", path, option->key);
        if (option->options)
            count += must_default_each(root, value, option->options, key);
    }
    return count;
}

START_TEST(test_missing)
{
    cJSON *json = document_of_default();
    ck_assert_int_ge(must_default_each(json, json, world_options, ""), 40);
    cJSON_Delete(json);
}
END_TEST

/* A document of the oldest form that has this generator, and of the shortest. */
static const struct {
    const char *text, *name, *yaml;
} earlier[] = {
    {"{\"name\":\"ridges\",\"seed\":\"8\",\"native_zoom\":16,\"origin\":[-8388608,-8388608],"
     "\"wrap\":true,\"noise\":{\"basis\":\"perlin\",\"gradients\":\"unit256\",\"fade\":\"quintic\","
     "\"hash\":\"mix64\",\"octave_salt\":false,\"fractal\":\"ridged\",\"wavelength\":65536,"
     "\"octaves\":16,\"persistence\":0.5,\"lacunarity\":2,\"offset\":1,\"gain\":2,"
     "\"warp\":{\"amplitude\":20000,\"wavelength\":65536}},"
     "\"elevation\":[[0.05,-1500],[0.3,-120],[0.36,0],[0.5,300],[0.7,1200],[0.95,4000]],"
     "\"palette\":[[-1500,\"#10375f\"],[4000,\"#e4eaf0\"]],\"fingerprint\":\"0123456789abcdef\","
     "\"generator\":2,\"range\":[-1500,4000],\"tile_size\":256,"
     "\"limits\":{\"coordinate\":4503599627370496,\"zoom\":[-26,26],\"zoom_2x\":[-26,25]},"
     "\"layers\":[{\"name\":\"relief\",\"extensions\":[\"png\"],"
     "\"tilejson\":\"ridges/relief.json\"}]}",
     "ridges",
     "worlds: [{name: ridges, seed: 8, wrap: true, noise: {fractal: ridged, wavelength: 65536,\n"
     "  octaves: 16, persistence: 0.5, warp: {amplitude: 20000, wavelength: 65536}},\n"
     "  elevation: [[0.05, -1500], [0.3, -120], [0.36, 0], [0.5, 300], [0.7, 1200], [0.95, "
     "4000]]}]"},
    {"{\"name\":\"a\",\"generator\":2,\"noise\":{\"octaves\":3}}", "a",
     "worlds: [{name: a, noise: {octaves: 3}}]"},
};

START_TEST(test_earlier)
{
    struct world_text read;
    struct worlds *worlds = worlds_of_text(earlier[_i].yaml);
    must_be_read(&read, earlier[_i].text, strlen(earlier[_i].text), earlier[_i].name);
    must_be(&read, worlds->world, read.fingerprint);
    worlds_release(worlds);
}
END_TEST

/* Keys that say nothing about heights may have any value; others that are unknown may not be
 * there. */
START_TEST(test_unknown)
{
    cJSON *json = document_of_default();
    static const char *const keys[] = {"palette", "exaggeration", "layers",    "range",
                                       "limits",  "urls",         "tile_size", "about"};
    cJSON_AddItemToObject(json, "about", cJSON_CreateString("of a later \"version\""));
    document_must_be_default(json);
    for (int i = 0; i < ROWS(keys); i++) {
        must(cJSON_HasObjectItem(json, keys[i]), "%s", keys[i]);
        cJSON_DeleteItemFromObject(json, keys[i]);
        document_must_be_default(json);
        cJSON_AddItemToObject(json, keys[i], cJSON_CreateString("of a later version"));
        document_must_be_default(json);
    }
    static const char *const unknown[] = {"field", "later", "nois", "", "palettes"};
    for (int i = 0; i < ROWS(unknown); i++) {
        char expected[64];
        snprintf(expected, sizeof expected, ": %s: unknown key, which may change", unknown[i]);
        cJSON_AddItemToObject(json, unknown[i], cJSON_CreateObject());
        document_must_be_refused(json, NULL, -EINVAL, expected);
        cJSON_DeleteItemFromObject(json, unknown[i]);
    }
    cJSON *noise = cJSON_GetObjectItem(json, "noise");
    cJSON_AddItemToObject(noise, "erosion", cJSON_CreateNumber(0));
    document_must_be_refused(json, NULL, -EINVAL, "noise.erosion: unknown key");
    cJSON_DeleteItemFromObject(noise, "erosion");
    cJSON_ReplaceItemInObject(noise, "octaves", cJSON_CreateNumber(65));
    document_must_be_refused(json, NULL, -EINVAL, "noise.octaves: got \"65\"; expected");
    cJSON_ReplaceItemInObject(noise, "octaves", cJSON_CreateNumber(40));
    document_must_be_refused(json, NULL, -EINVAL, "noise.octaves: invalid value; ");
    cJSON_ReplaceItemInObject(json, "noise", cJSON_CreateString("fine"));
    document_must_be_refused(json, NULL, -EINVAL, "noise: not a mapping");
    cJSON_ReplaceItemInObject(json, "fingerprint", cJSON_CreateString("0123456789abcdeF"));
    document_must_be_refused(json, NULL, -EINVAL, "fingerprint: ");
    cJSON_Delete(json);
}
END_TEST

/* An entry of /worlds.json is no document of a world: it lacks the noise. */
START_TEST(test_outline)
{
    struct worlds *worlds = worlds_of(FRACTAL_WORLD);
    struct blob *catalogue = document_worlds(worlds, false);
    cJSON *json = cJSON_ParseWithLength((const char *)catalogue->bytes, catalogue->length);
    cJSON *entry = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "worlds"), 0);
    cJSON_DeleteItemFromObject(entry, "url");
    document_must_be_refused(entry, NULL, -EINVAL, "noise: missing; expected the complete");
    cJSON_Delete(json);
    blob_release(catalogue);
    worlds_release(worlds);
}
END_TEST

struct refusal {
    const char *text;
    const char *name;
    int err;
    const char *why;
};

static const struct refusal refusals[] = {
    {"", NULL, -EINVAL, "text:1: empty"},
    {" \n", NULL, -EINVAL, "empty"},
    {"{", NULL, -EINVAL, "not YAML"},
    {"\xff\xfe\xff", NULL, -EINVAL, "not YAML"},
    {"not found", NULL, -EINVAL, "not a mapping"},
    {"[]", NULL, -EINVAL, "not a mapping"},
    {"{\"error\": \"no such world\"}", NULL, -EINVAL, "error: unknown key"},
    {"{\"name\": \"default\"}", NULL, -EINVAL, "generator: missing"},
    {"worlds: [{file: /etc/passwd}]", NULL, -EINVAL,
     "text:1: worlds[0].file: not accepted in a text; expected in a file"},
    {"worlds: []", NULL, -EINVAL, "worlds: got a list of 0; expected"},
    {"worlds: [{name: a, sead: 1}]", NULL, -EINVAL, "worlds[0].sead: unknown key"},
    {"worlds:\n- name: a\n  seed: []", "a", -EINVAL, "text:3: worlds[0].seed: "},
    {"worlds: [{name: a}]\nlimits: {queue: 0}", NULL, -EINVAL, "limits.queue: "},
    {"worlds: [{name: a}]\n---\nworlds: [{name: b}]", NULL, -EINVAL, "text:3: not YAML: a second"},
};

START_TEST(test_refusals)
{
    const struct refusal *row = &refusals[_i];
    must_be_refused(row->text, strlen(row->text), row->name, row->err, row->why);
}
END_TEST

/* A configuration without worlds has those that are built in. */
START_TEST(test_no_worlds)
{
    static const char text[] = "listen: 127.0.0.1:0\n";
    struct worlds *worlds = worlds_of(NULL);
    struct world_text read;
    ck_assert_int_eq(worlds->count, 3);
    for (int i = 0; i < worlds->count; i++) {
        must_be_read(&read, text, sizeof text - 1, worlds->world[i].name);
        must_be(&read, &worlds->world[i], "");
    }
    must_be_refused(text, sizeof text - 1, NULL, -EINVAL,
                    "worlds: 3 worlds and no name given; expected one of \"default\", "
                    "\"archipelago\", \"alps\"");
    worlds_release(worlds);
}
END_TEST

/* Truncated texts are refused, and nothing beyond their end is read. */
START_TEST(test_ends)
{
    struct guarded guarded;
    cJSON *json = document_of_default();
    char *text = cJSON_PrintUnformatted(json);
    const size_t length = strlen(text);
    struct world_text read;
    guarded_new(&guarded, length);
    for (size_t i = 0; i < length; i++) {
        const char *copy = (const char *)guarded_copy(&guarded, text, i);
        must_be_refused(copy, i, NULL, -EINVAL, i == 0 ? "empty" : "");
    }
    must_be_read(&read, (const char *)guarded_copy(&guarded, text, length), length, NULL);
    guarded_free(&guarded);
    cJSON_free(text);
    cJSON_Delete(json);
}
END_TEST

/* Deep nesting, which takes libyaml alone an hour. */
START_TEST(test_large)
{
    static char text[TEXT_BYTES_MAX + 1];
    memset(text, '[', sizeof text);
    must_be_refused(text, sizeof text - 1, NULL, -EINVAL,
                    "text:1: nested too deeply; expected at most 32");
    must_be_refused(text, sizeof text, NULL, -EFBIG, "1048577 bytes");
    for (size_t i = 0; i < sizeof text; i += 2)
        memcpy(&text[i], "- ", i + 2 < sizeof text ? 2 : 1);
    must_be_refused(text, sizeof text - 1, NULL, -EINVAL, "nested too deeply");
    memset(text, ' ', sizeof text);
    memcpy(text, "worlds: [{name: a}]", 19);
    struct world_text read;
    must_be_read(&read, text, sizeof text - 1, NULL);
}
END_TEST

/* Documents with a second key `urls` of rows, which are ignored if they can be parsed. */
static const struct {
    const char *head, *row, *tail;
    const char *why; /* NULL: valid */
} junk[] = {
    {"[\"?\"", ",\"unexpected\"", "]", NULL},
    {"[[]", ",[\"some text\", \"some other text\", 0.25]", "]", NULL},
    {"{\"k\":0", ",\"another key\":0.25", "}", NULL},
    {"\"", "text", "\"", NULL},
    {"0", ",\"range\":0.25", "", NULL},
    {"0", ",\"limits\":\"unexpected\"", "", NULL},
    {"0", ",\"octaves\":0.25", "", "text:1: octaves: unknown key"},
    {"[0", ",0", "]", "text:1: too many keys and values; expected at most 200000"},
    {"[0", ",{}", "]", "text:1: too many keys and values; expected at most 200000"},
    {"[", "[", "", "text:1: nested too deeply; expected at most 32 levels"},
    {"[0", ",&a0 x", "]", "text:1: anchors and aliases (& and *) are not supported; expected"},
    {"[0", ",*a0", "]", "text:1: anchors and aliases (& and *) are not supported; expected"},
};

/* Read DOCUMENT with SIZE bytes of row I. Returns the number of steps. */
static size_t read_junk(int i, const char *document, size_t size, char why[WHY])
{
    static char text[TEXT_BYTES_MAX];
    struct world_text read;
    const size_t row = strlen(junk[i].row);
    int length = snprintf(text, sizeof text, "%.*s,\"urls\":%s", (int)strlen(document) - 1,
                          document, junk[i].head);
    for (; (size_t)length + row + 16 < size; length += (int)row)
        memcpy(text + length, junk[i].row, row);
    length += snprintf(text + length, 16, "%s}", junk[i].tail);
    struct config_error error = {0};
    const int err = world_text_read(&read, text, (size_t)length, NULL, &error);
    snprintf(why, WHY, "%s", err ? error.text : "");
    return error.steps;
}

START_TEST(test_linear_time)
{
    const char *row = junk[_i].row, *expected = junk[_i].why;
    char why[WHY];
    cJSON *json = document_of_default();
    char *document = cJSON_PrintUnformatted(json);
    const size_t half = read_junk(_i, document, TEXT_BYTES_MAX / 2, why);
    const size_t whole = read_junk(_i, document, TEXT_BYTES_MAX, why);
    must(expected ? strncmp(why, expected, strlen(expected)) == 0 : !*why, "%s: %s", row, why);
    must_be_linear(half, whole, STEPS_PER_BYTE * TEXT_BYTES_MAX, row);
    cJSON_free(document);
    cJSON_Delete(json);
}
END_TEST

/* With a decimal comma, and with a decimal point of two bytes. */
static const struct {
    const char *name, *half;
} locales[] = {{"de_DE", "0,5"},
               {"ps_AF", "0\xd9\xab"
                         "5"}};

/* Returns false without Debian's package locales. */
static bool enter_locale(const char *name)
{
    char command[2 * FOLDER_TEXT + 128], full[32];
    snprintf(full, sizeof full, "%s.UTF-8", name);
    snprintf(command, sizeof command, "localedef -i %s -f UTF-8 %s/%s 2>/dev/null", name, folder,
             full);
    ck_assert_int_eq(setenv("LOCPATH", folder, 1), 0);
    return system(command) != -1 && setlocale(LC_ALL, full);
}

/* What numbers and messages are in this locale. */
static void must_have_points(void)
{
    static const char wrong[] = "worlds: [{name: a, volume: {overhangs: {squash: 0}}}]";
    char text[REAL_TEXT];
    double number;
    ck_assert_int_eq(real_parse("-62.5e-2", 8, &number), 0);
    ck_assert_double_eq(number, -0.625);
    ck_assert_int_eq(real_parse("0,5", 3, &number), -EINVAL);
    ck_assert_str_eq(real_format(-1.5e-9, text), "-1.5e-09");
    ck_assert_str_eq(float_format(0.1f, text), "0.1");
    must_be_refused(wrong, sizeof wrong - 1, NULL, -EINVAL, "a number from 0.");
}

/* Any locale, which the calls leave in place. */
START_TEST(test_locale)
{
    struct world_text local, plain;
    char number[8];
    if (!enter_locale(locales[_i].name))
        return;
    must_be_read(&local, extremes, sizeof extremes - 1, "first");
    must_have_points();
    snprintf(number, sizeof number, "%.1f", 0.5);
    ck_assert_str_eq(number, locales[_i].half);
    setlocale(LC_ALL, "C");
    must_be_read(&plain, extremes, sizeof extremes - 1, "first");
    ck_assert_mem_eq(&local, &plain, sizeof plain);
}
END_TEST

static atomic_bool is_over;

/* A thread that has its own ideas of the locale. */
static void *change_locale(void *name)
{
    while (!atomic_load(&is_over)) {
        setlocale(LC_NUMERIC, name);
        setlocale(LC_NUMERIC, "C");
    }
    return NULL;
}

/* Worlds and numbers are the same while another thread sets locales. */
START_TEST(test_changing_locale)
{
    enum { TIMES = 300, NUMBERS = 100 };
    struct world_text local, plain;
    pthread_t thread;
    char text[REAL_TEXT];
    must_be_read(&plain, extremes, sizeof extremes - 1, "first");
    if (!enter_locale("de_DE"))
        return;
    ck_assert_int_eq(pthread_create(&thread, NULL, change_locale, (void *)"de_DE.UTF-8"), 0);
    for (int i = 0; i < TIMES; i++) {
        must_be_read(&local, extremes, sizeof extremes - 1, "first");
        ck_assert_mem_eq(&local, &plain, sizeof plain);
        for (int k = 0; k < NUMBERS; k++) {
            ck_assert_str_eq(real_format(-62.5e-2, text), "-0.625");
            ck_assert_str_eq(float_format(0.1f, text), "0.1");
        }
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    setlocale(LC_ALL, "C");
}
END_TEST

/* Without libyaml, documents are the same worlds. */
START_TEST(test_json)
{
    struct config_error error;
    struct world_text read, plain;
    cJSON *json = document_of_default();
    char *document = cJSON_PrintUnformatted(json);
    memset(&read, 0, sizeof read);
    memset(&plain, 0, sizeof plain);
    ck_assert_int_eq(world_yaml_read(&plain, document, strlen(document), "default", &error), 0);
    ck_assert_int_eq(world_json_read(&read, document, strlen(document), "default", &error), 0);
    ck_assert_mem_eq(&read, &plain, sizeof plain);
    cJSON_free(document);
    cJSON_Delete(json);
}
END_TEST

/* Other texts, and what is expected instead. */
static const struct {
    const char *text, *why;
} not_documents[] = {
    {"worlds: [{name: a}]",
     "text:1: not JSON: expected nothing after the value; expected JSON, the complete document that "
     "the daemon serves at /{world}.json: this build has no libyaml, so it reads no YAML"},
    {"# no world\n", "text:1: not JSON: expected a value; expected JSON, the complete"},
    {"{\"worlds\": [{\"name\": \"a\"}]}",
     "text:1: generator: missing; expected the complete document that the daemon serves at "},
};

START_TEST(test_not_documents)
{
    const char *text = not_documents[_i].text, *why = not_documents[_i].why;
    struct config_error error = {0};
    struct world_text read;
    ck_assert_int_eq(world_json_read(&read, text, strlen(text), NULL, &error), -EINVAL);
    must(strncmp(error.text, why, strlen(why)) == 0, "%s: %s", text, error.text);
}
END_TEST

/* Numbers are rounded to the nearest whatever the caller's rounding direction is. */
START_TEST(test_rounding)
{
    static const int directions[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static const char text[] = "worlds: [{name: a, noise: {persistence: 0.7, lacunarity: 2.3, "
                               "octaves: 3}, elevation: [[-0.3, 0.1], [0.7, 1e-40]]}]";
    struct world_text rounded, plain;
    must_be_read(&plain, text, sizeof text - 1, NULL);
    fesetround(directions[_i]);
    must_be_read(&rounded, text, sizeof text - 1, NULL);
    const int after = fegetround();
    fesetround(FE_TONEAREST);
    ck_assert_mem_eq(&rounded, &plain, sizeof plain);
    ck_assert_int_eq(after, directions[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worlds from text");
    TCase *tcase = suite_case(suite, "world_text_read");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_default);
    tcase_add_test(tcase, test_samples);
    tcase_add_test(tcase, test_extremes);
    tcase_add_test(tcase, test_choice);
    tcase_add_test(tcase, test_seeds);
    tcase_add_test(tcase, test_generator);
    tcase_add_test(tcase, test_missing);
    tcase_add_loop_test(tcase, test_earlier, 0, ROWS(earlier));
    tcase_add_test(tcase, test_unknown);
    tcase_add_test(tcase, test_outline);
    tcase_add_loop_test(tcase, test_refusals, 0, ROWS(refusals));
    tcase_add_test(tcase, test_no_worlds);
    tcase_add_test(tcase, test_ends);
    tcase_add_test(tcase, test_large);
    tcase_add_loop_test(tcase, test_linear_time, 0, ROWS(junk));
    tcase_add_loop_test(tcase, test_locale, 0, ROWS(locales));
    tcase_add_test(tcase, test_changing_locale);
    tcase_add_test(tcase, test_json);
    tcase_add_loop_test(tcase, test_not_documents, 0, ROWS(not_documents));
    tcase_add_loop_test(tcase, test_rounding, 0, 3);
    return suite_run(suite);
}
