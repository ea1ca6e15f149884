/* The documents about single places: valid JSON, and exact for all numbers. */
#include "server/api/point_documents.h"

#include <cjson/cJSON.h>
#include <math.h>

#include "config/values/exact_numbers.h"
#include "noise/graph/rivers_params.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_params.h"

static const struct field_values none;
static const struct climate_values no_climate;

/* The document as text, in a static buffer. Releases BLOB. */
static const char *text_of(struct blob *blob)
{
    static char text[131072];
    must(blob != NULL, "no document");
    must(blob->references == 1, "%u references", blob->references);
    must(blob->length < sizeof text, "%zu bytes", blob->length);
    must(memchr(blob->bytes, 0, blob->length) == NULL, "a 0 in the document");
    memcpy(text, blob->bytes, blob->length);
    text[blob->length] = 0;
    blob_release(blob);
    return text;
}

static cJSON *parse(const char *text)
{
    const char *end = NULL;
    cJSON *json = cJSON_ParseWithOpts(text, &end, 0);
    must(json != NULL, "not JSON: %s", text);
    must(strcmp(end, "\n") == 0, "more than JSON and its line's end: %s", text);
    return json;
}

static double number(const cJSON *object, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
    must(cJSON_IsNumber(found), "%s is no number", key);
    return found->valuedouble;
}

/* The text that follows KEY. */
static void value_text(const char *text, const char *key, char out[64])
{
    char pattern[16];
    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    const char *at = strstr(text, pattern);
    must(at != NULL, "no %s in %s", key, text);
    at += strlen(pattern);
    snprintf(out, 64, "%.*s", (int)strcspn(at, ",}]"), at);
}

static void must_read_back(const char *text, float expected)
{
    must(float_bits(strtof(text, NULL)) == float_bits(expected), "%a as %s", (double)expected,
         text);
    must(float_bits((float)strtod(text, NULL)) == float_bits(expected), "%a as %s",
         (double)expected, text);
}

/* The floats are read back exactly, as floats and as doubles. */
static void must_come_back(const struct surface *surface, bool through_json)
{
    char value[64];
    const char *text = text_of(document_height(0, 0, surface, &no_climate, &none));
    value_text(text, "height", value);
    must_read_back(value, surface->height);
    value_text(text, "surface", value);
    must_read_back(value, surface->ground);
    value_text(text, "slope", value);
    must_read_back(value, surface->slope);
    if (!through_json)
        return;
    cJSON *json = parse(text);
    ck_assert_int_eq(cJSON_GetArraySize(json), 6);
    must(float_bits((float)number(json, "height")) == float_bits(surface->height), "%s", text);
    must(float_bits((float)number(json, "surface")) == float_bits(surface->ground), "%s", text);
    must(float_bits((float)number(json, "slope")) == float_bits(surface->slope), "%s", text);
    const cJSON *normal = cJSON_GetObjectItemCaseSensitive(json, "normal");
    ck_assert_int_eq(cJSON_GetArraySize(normal), 3);
    for (int axis = 0; axis < 3; axis++)
        must(float_bits((float)cJSON_GetArrayItem(normal, axis)->valuedouble) ==
                 float_bits(surface->normal[axis]),
             "normal[%d]: %s", axis, text);
    cJSON_Delete(json);
}

static const float edges[] = {
    0,        1,           -1,        0.1f,      -4000,      3999.9998f, 1e20f,
    16777216, 16777215,    0x1p-126f, 0x1p-149f, -0.0f,      1e-10f,     0.333333f,
    -1e20f,   123456792.f, -1e-10f,   -0.1f,     -0x1p-149f, 1e6f,       0x1.fffffep127f,
};

static float any_float(uint64_t *state)
{
    for (;;) {
        const uint32_t bits = (uint32_t)chance(state);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            return value;
    }
}

START_TEST(test_surfaces)
{
    uint64_t state = 17;
    for (int i = 0; i < ROWS(edges); i++)
        must_come_back(&(struct surface){edges[i], -edges[i], edges[i], {edges[i], -edges[i], 1}},
                       true);
    for (int i = 0; i < 50000; i++) {
        const struct surface surface = {
            any_float(&state),
            any_float(&state),
            any_float(&state),
            {any_float(&state), any_float(&state), any_float(&state)},
        };
        must_come_back(&surface, i % 16 == 0);
    }
    /* Random ones. */
    for (int i = 0; i < 20000; i++) {
        const double part = (double)(int64_t)chance(&state) * 0x1p-63;
        const struct surface surface = {(float)(part * 9000),
                                        (float)(part * 8000),
                                        (float)fabs(part),
                                        {(float)part, (float)-part, (float)(1 - part)}};
        must_come_back(&surface, i % 16 == 0);
    }
}
END_TEST

/* The climate of a place, and of several; a name with a quote, fields that the world lacks. */
START_TEST(test_climate)
{
    static struct biome_table table = {.rows = {.row = {{.id = 3}, {.id = 255}}, .rows = 2},
                                       .look = {{.name = "sea"}, {.name = "a \"\\"}}};
    static const float values[][CLIMATE_FIELDS] = {{-1.5F, 0.25F, 255}, {2, 1, 3}};
    const struct surface surface = {-12.5f, -9.75f, 0.25f, {0, 0, 1}};
    const struct spawn_place place = {BLOCKS(-3), BLOCKS(4), 5.5, surface};
    struct climate climate = {.temperature = 1, .humidity = 2, .biome = 3, .table = &table};
    const struct climate_values told = {&climate, values, NULL, NULL};
    const int64_t at[][2] = {{0, 0}, {BLOCKS(1), 0}};
    ck_assert_str_eq(
        text_of(document_height(0, 0, &surface, &told, &none)),
        "{\"x\":0,\"y\":0,\"height\":-12.5,\"surface\":-9.75,\"slope\":0.25,\"normal\":[0,0,1],"
        "\"biome\":{\"id\":255,\"name\":\"a \\\"\\\\\"},"
        "\"temperature\":-1.5,\"humidity\":0.25}\n");
    ck_assert_str_eq(text_of(document_heights((const float[]){7, 8}, at, 2, &told, &none)),
                     "{\"heights\":[7,8],\"at\":[[0,0],[1,0]],\"biome\":[255,3],"
                     "\"temperature\":[-1.5,2],\"humidity\":[0.25,1]}\n");
    climate.temperature = climate.humidity = -1;
    ck_assert_str_eq(
        text_of(document_spawn(&place, &told, 0, 0)),
        "{\"x\":-3,\"y\":4,\"height\":-12.5,\"surface\":-9.75,\"slope\":0.25,\"normal\":[0,0,1],"
        "\"biome\":{\"id\":255,\"name\":\"a \\\"\\\\\"},"
        "\"distance\":5.5,\"from\":[0,0]}\n");
}
END_TEST

/* Several spawns, each with its climate. */
START_TEST(test_spawns)
{
    static struct biome_table table = {.rows = {.row = {{.id = 3}, {.id = 4}}, .rows = 2},
                                       .look = {{.name = "sea"}, {.name = "beach"}}};
    static const float values[][CLIMATE_FIELDS] = {{1, 0.5F, 4}, {2, 0.25F, 3}};
    const struct spawn_place two[] = {{BLOCKS(1), 0, 1, {7, 7, 0, {0, 0, 1}}},
                                      {0, BLOCKS(-20), 20, {8, 8, 0, {0, 0, 1}}}};
    struct climate climate = {.temperature = 1, .humidity = -1, .biome = 3, .table = &table};
    const struct climate_values climates = {&climate, values, NULL, NULL};
    ck_assert_str_eq(text_of(document_spawns(two, 0, &climates, 0, 512, 1024)),
                     "{\"places\":[],\"searched\":1024,\"from\":[0,0.5]}\n");
    ck_assert_str_eq(
        text_of(document_spawns(two, 2, &climates, 0, 512, -1)),
        "{\"places\":[{\"x\":1,\"y\":0,\"height\":7,\"surface\":7,\"slope\":0,\"normal\":[0,0,1],"
        "\"biome\":{\"id\":4,\"name\":\"beach\"},\"temperature\":1,\"distance\":1},"
        "{\"x\":0,\"y\":-20,\"height\":8,\"surface\":8,\"slope\":0,\"normal\":[0,0,1],"
        "\"biome\":{\"id\":3,\"name\":\"sea\"},\"temperature\":2,\"distance\":20}],"
        "\"from\":[0,0.5]}\n");
}
END_TEST

/* The water of places: a river, a lake, the sea, land. */
START_TEST(test_water)
{
    static const float values[][WATER_FIELDS] = {
        {20.5F, 3.25F}, {20.5F, 0}, {-32768, 0}, {-32768, 0}};
    static const float heights[] = {18, 20, -2.5F, 7};
    static const int64_t at[4][2] = {{0}};
    const struct surface surface = {18, 18, 0.25f, {0, 0, 1}};
    const struct rivers_params params = {.width = 2, .widening = 2};
    const struct world_water rivers = {.rivers = &params};
    const struct climate_values told = {NULL, NULL, &rivers, values};
    ck_assert_str_eq(
        text_of(document_height(0, 0, &surface, &told, &none)),
        "{\"x\":0,\"y\":0,\"height\":18,\"surface\":18,\"slope\":0.25,\"normal\":[0,0,1],"
        "\"water\":20.5,\"depth\":2.5,\"river\":3.25,\"width\":10,\"kind\":\"river\"}\n");
    ck_assert_str_eq(
        text_of(document_heights(heights, at, 4, &told, &none)),
        "{\"heights\":[18,20,-2.5,7],\"at\":[[0,0],[0,0],[0,0],[0,0]],"
        "\"water\":[20.5,20.5,0,null],\"depth\":[2.5,0.5,2.5,null],"
        "\"river\":[3.25,null,null,null],\"width\":[10,null,null,null],\"kind\":[\"river\",\"lake\",\"sea\",null]}\n");
}
END_TEST

/* A part of a course, and the end of one, a single point. */
START_TEST(test_course)
{
    const struct farlands_course_point points[] = {
        {BLOCKS(1), -512, 7.5F, 7, 2.5F, 3, FARLANDS_RIVER},
        {BLOCKS(2), 0, 0, -4, 3, 3.5F, FARLANDS_END_LAKE}};
    struct course_part part = {.x = BLOCKS(5),
                               .y = 1,
                               .limit = 2,
                               .point = points,
                               .count = 2,
                               .course = {-8, 9, 3},
                               .origin = {BLOCKS(-32768), BLOCKS(-32768)},
                               .native_zoom = 8};
    ck_assert_str_eq(text_of(document_course(&part)),
                     "{\"type\":\"Feature\",\"geometry\":{\"type\":\"LineString\",\"coordinates\":"
                     "[[1,-0.5,7.5],[2,0,0]]},\"properties\":{\"from\":[5,0.0009765625],"
                     "\"level\":[7.5,0],\"bed\":[7,-4],\"width\":[2.5,3],\"order\":[3,3.5],"
                     "\"kind\":[\"river\",\"end lake\"],\"end\":null,"
                     "\"next\":\"downstream?x=5&y=0.0009765625&limit=2&after=-8,9,3\"}}\n");
    part.crs = CRS_NORTH;
    const char *text = text_of(document_course(&part));
    must(strstr(text, "\"coordinates\":[[1,0.5,7.5],[2,0,0]]") != NULL, "%s", text);
    must(strstr(text, "{\"type\":\"Feature\",\"crs\":{\"type\":\"name\",") != NULL, "%s", text);
    must(strstr(text, "\"from\":[5,0.0009765625]") != NULL, "%s", text);
    must(strstr(text, "&limit=2&crs=north&after=-8,9,3\"") != NULL, "%s", text);
    cJSON_Delete(parse(text));
    part.crs = CRS_LNGLAT;
    text = text_of(document_course(&part));
    must(strstr(text, "\"coordinates\":[[0.005493164,0.002746582,7.5],[0.010986328,0,0]]") != NULL,
         "%s", text);
    must(strstr(text, "&limit=2&crs=lnglat&after=-8,9,3\"") != NULL, "%s", text);
    part.crs = CRS_BLOCKS;
    part.point++;
    part.count = part.limit = 1;
    part.has_ended = true;
    ck_assert_str_eq(
        text_of(document_course(&part)),
        "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":"
        "[2,0,0]},\"properties\":{\"from\":[5,0.0009765625],\"level\":[0],\"bed\":[-4],"
        "\"width\":[3],\"order\":[3.5],\"kind\":[\"end lake\"],\"end\":\"end lake\","
        "\"next\":null}}\n");
}
END_TEST

START_TEST(test_fields)
{
    static const float values[] = {1.5F, -0.1F, 2, 1e20F, 3, -0.0F};
    const struct surface surface = {-12.5f, -9.75f, 0.25f, {0, 0, 1}};
    const struct field_values fields = {.name = {"rain", "a-b_2"}, .value = values, .count = 2};
    const int64_t at[][2] = {{0, 0}, {BLOCKS(1), 0}, {0, BLOCKS(2)}};
    ck_assert_str_eq(
        text_of(document_height(0, 0, &surface, &no_climate, &fields)),
        "{\"x\":0,\"y\":0,\"height\":-12.5,\"surface\":-9.75,\"slope\":0.25,\"normal\":[0,0,1],"
        "\"fields\":{\"rain\":1.5,\"a-b_2\":-0.1}}\n");
    ck_assert_str_eq(
        text_of(document_heights((const float[]){7, 8, 9}, at, 3, &no_climate, &fields)),
        "{\"heights\":[7,8,9],\"at\":[[0,0],[1,0],[0,2]],"
        "\"fields\":{\"rain\":[1.5,2,3],\"a-b_2\":[-0.1,1e+20,-0]}}\n");
}
END_TEST

/* As many fields as a URL can ask for, with the longest names and numbers, fit their memory. */
START_TEST(test_longest_fields)
{
    enum { MOST = 2048 };
    static float values[MOST * ROUTE_FIELDS_MAX], heights[MOST];
    static int64_t at[MOST][2];
    static char name[QUERY_WORD], text[1 << 20];
    const struct surface surface = {0};
    struct field_values fields = {.value = values, .count = ROUTE_FIELDS_MAX};
    memset(name, 'n', QUERY_WORD - 1);
    for (int i = 0; i < ROUTE_FIELDS_MAX; i++)
        fields.name[i] = name;
    for (int i = 0; i < MOST * ROUTE_FIELDS_MAX; i++)
        values[i] = -0x1.23456ap-126f;
    struct blob *blob = document_heights(heights, at, MOST, &no_climate, &fields);
    ck_assert_uint_lt(blob->length, sizeof text);
    memcpy(text, blob->bytes, blob->length);
    blob_release(blob);
    cJSON_Delete(parse(text));
    cJSON_Delete(parse(text_of(document_height(0, 0, &surface, &no_climate, &fields))));
}
END_TEST

START_TEST(test_form)
{
    const struct surface surface = {-12.5f, -9.75f, 0.25f, {-0.1f, 0, 1}};
    const struct spawn_place place = {BLOCKS(-3), BLOCKS(4), 5.5, surface};
    ck_assert_str_eq(
        text_of(document_height(BLOCKS(-3) - 512, 1, &surface, &no_climate, &none)),
        "{\"x\":-3.5,\"y\":0.0009765625,\"height\":-12.5,\"surface\":-9.75,\"slope\":0.25,"
        "\"normal\":[-0.1,0,1]}\n");
    ck_assert_str_eq(text_of(document_spawn(&place, &no_climate, 1, -BLOCKS(7))),
                     "{\"x\":-3,\"y\":4,\"height\":-12.5,\"surface\":-9.75,\"slope\":0.25,"
                     "\"normal\":[-0.1,0,1],\"distance\":5.5,\"from\":[0.0009765625,-7]}\n");
    const int64_t at[][2] = {{0, 0}, {512, -BLOCKS(3)}, {FARLANDS_LIMIT - 1, 1}};
    ck_assert_str_eq(
        text_of(document_heights((const float[]){1.5f, -0.1f, 7}, at, 3, &no_climate, &none)),
        "{\"heights\":[1.5,-0.1,7],\"at\":[[0,0],[0.5,-3],"
        "[4503599627370495.9990234375,0.0009765625]]}\n");
    ck_assert_str_eq(text_of(document_heights(NULL, NULL, 0, &no_climate, &none)),
                     "{\"heights\":[],\"at\":[]}\n");
}
END_TEST

static const int64_t places[][2] = {
    {0, 0},
    {1, -1},
    {1024, -1024},
    {-8388608 * FARLANDS_UNIT - 512, 3},
    {FARLANDS_LIMIT, -FARLANDS_LIMIT},
    {FARLANDS_LIMIT - 1, 1 - FARLANDS_LIMIT},
    {INT64_C(123456789012345678), INT64_C(-1234567890123456789)},
};

static void must_tell_place(const char *text, const int64_t at[2])
{
    char value[64], expected[BLOCKS_TEXT];
    value_text(text, "x", value);
    ck_assert_str_eq(value, blocks_format(at[0], expected));
    value_text(text, "y", value);
    ck_assert_str_eq(value, blocks_format(at[1], expected));
    cJSON *json = parse(text);
    ck_assert_double_eq(number(json, "x"), (double)at[0] / FARLANDS_UNIT);
    ck_assert_double_eq(number(json, "y"), (double)at[1] / FARLANDS_UNIT);
    ck_assert_double_eq(number(json, "height"), 1.5);
    cJSON_Delete(json);
}

/* Places are exact, with more digits than a double has. There is room for the longest numbers. */
START_TEST(test_places)
{
    const float longest = -0x1.23456ap-126f;
    const struct surface surface = {1.5f, longest, longest, {longest, longest, longest}};
    const struct spawn_place place = {places[_i][0], places[_i][1], 0x1.23456789abcdp-1000,
                                      surface};
    must_tell_place(text_of(document_height(place.x, place.y, &surface, &no_climate, &none)),
                    places[_i]);
    must_tell_place(text_of(document_spawn(&place, &no_climate, place.x, place.y)), places[_i]);
}
END_TEST

START_TEST(test_distances)
{
    uint64_t state = 18;
    for (int i = 0; i < 20000; i++) {
        const double distance = sqrt((double)(chance(&state) >> 20)) / FARLANDS_UNIT;
        const struct spawn_place place = {0, 0, distance, {0, 0, 0, {0, 0, 1}}};
        cJSON *json = parse(text_of(document_spawn(&place, &no_climate, place.x, place.y)));
        must(number(json, "distance") == distance, "%a is %a", distance, number(json, "distance"));
        ck_assert_int_eq(cJSON_GetArraySize(json), 8);
        cJSON_Delete(json);
    }
}
END_TEST

/* As many heights as a URL can ask for, with the longest numbers. */
START_TEST(test_heights)
{
    enum { MOST = 2048 };
    static float heights[MOST];
    static int64_t at[MOST][2];
    uint64_t state = 19;
    for (int count = 1; count <= MOST; count = count < 40 ? count + 1 : count * 2) {
        for (int i = 0; i < count; i++) {
            at[i][0] = 1 - FARLANDS_LIMIT;
            at[i][1] = i;
            heights[i] = count % 2 ? any_float(&state) : -0x1.23456ap-126f;
        }
        cJSON *json =
            parse(text_of(document_heights(heights, at, (size_t)count, &no_climate, &none)));
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "heights");
        ck_assert_int_eq(cJSON_GetArraySize(list), count);
        const cJSON *item = list->child;
        for (int i = 0; i < count; i++, item = item->next)
            must(float_bits((float)item->valuedouble) == float_bits(heights[i]), "%a is %a",
                 (double)heights[i], item->valuedouble);
        const cJSON *used = cJSON_GetObjectItemCaseSensitive(json, "at");
        ck_assert_int_eq(cJSON_GetArraySize(used), count);
        const cJSON *last = cJSON_GetArrayItem(cJSON_GetArrayItem(used, count - 1), 1);
        ck_assert_double_eq(last->valuedouble, (count - 1) / 1024.0);
        cJSON_Delete(json);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("point documents");
    TCase *tcase = suite_case(suite, "JSON");
    tcase_add_test(tcase, test_surfaces);
    tcase_add_test(tcase, test_form);
    tcase_add_test(tcase, test_spawns);
    tcase_add_test(tcase, test_water);
    tcase_add_test(tcase, test_course);
    tcase_add_test(tcase, test_fields);
    tcase_add_test(tcase, test_climate);
    tcase_add_test(tcase, test_longest_fields);
    tcase_add_loop_test(tcase, test_places, 0, ROWS(places));
    tcase_add_test(tcase, test_distances);
    tcase_add_test(tcase, test_heights);
    return suite_run(suite);
}
