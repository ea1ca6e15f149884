/* The JSON writer: text, numbers with every digit, and without memory. */
#include "server/core/json.h"

#include <cjson/cJSON.h>
#include <math.h>

#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/refusals.h"

static struct blob *example(bool indented)
{
    struct json json = json_new(indented);
    json_text(&json, "name", "a \"%s\" %d", "quoted", 7);
    json_list(&json, "list");
    json_string(&json, NULL, "x");
    json_integer(&json, NULL, -2);
    json_list(&json, NULL);
    json_close(&json);
    json_object(&json, NULL);
    json_close(&json);
    json_close(&json);
    json_object(&json, "in");
    json_string(&json, "none", NULL);
    json_raw(&json, "raw", "1e3");
    json_object(&json, "deeper");
    json_reals(&json, "reals", (double[]){1, 0.5}, 2);
    return json_end(&json);
}

static const struct {
    bool indented;
    const char *expected;
} rows[] = {
    {false, "{\"name\":\"a \\\"quoted\\\" 7\",\"list\":[\"x\",-2,[],{}],"
            "\"in\":{\"none\":null,\"raw\":1e3,\"deeper\":{\"reals\":[1,0.5]}}}\n"},
    {true, "{\n  \"name\": \"a \\\"quoted\\\" 7\",\n  \"list\": [\"x\", -2, [], {}],\n"
           "  \"in\": {\n    \"none\": null,\n    \"raw\": 1e3,\n    \"deeper\": {\n"
           "      \"reals\": [1, 0.5]\n    }\n  }\n}\n"},
};

START_TEST(objects_become_text)
{
    struct blob *text = example(rows[_i].indented);
    ck_assert_uint_eq(text->length, strlen(rows[_i].expected));
    ck_assert_mem_eq(text->bytes, rows[_i].expected, text->length);
    blob_release(text);
}
END_TEST

/* The only value of JSON, with a 0 at its end, in a static buffer. */
static const char *value_of(struct json *json)
{
    static char text[1 << 17];
    struct blob *blob = json_end(json);
    const size_t key = strlen("{\"k\":"), end = strlen("}\n");
    ck_assert_uint_lt(blob->length, sizeof text);
    memcpy(text, blob->bytes + key, blob->length - key - end);
    text[blob->length - key - end] = '\0';
    blob_release(blob);
    return text;
}

static const struct {
    double value;
    const char *real, *narrow; /* as a float */
} numbers[] = {
    {0, "0", "0"},
    {-0.0, "-0", "-0"},
    {-3, "-3", "-3"},
    {0.1, "0.1", "0.1"},
    {1 / 3.0, "0.333333333333333", "0.33333334"},
    {1e15, "1e+15", "1e+15"},
    {999999999999999, "999999999999999", "1e+15"},
    {5e-324, "4.94065645841247e-324", "0"},
    {NAN, "null", "null"},
    {INFINITY, "null", "null"},
    {-INFINITY, "null", "null"},
};

START_TEST(numbers_have_every_digit)
{
    struct json real = json_new(false), narrow = json_new(false);
    const double value = numbers[_i].value;
    double again;
    json_real(&real, "k", value);
    const char *text = value_of(&real);
    if (sscanf(text, "%lf", &again) == 1)
        ck_assert_double_eq(again, value);
    if (value != 1 / 3.0)
        ck_assert_str_eq(text, numbers[_i].real);
    json_float(&narrow, "k", (float)value);
    ck_assert_str_eq(value_of(&narrow), numbers[_i].narrow);
}
END_TEST

/* Strings of any length and bytes, read by a JSON library. */
START_TEST(strings_are_escaped)
{
    static const size_t lengths[] = {1, 2, 255, 256, 257, 1023, 1024, 5000};
    char text[5001];
    for (int i = 0; i < ROWS(lengths); i++) {
        struct json json;
        if (_i == 2 && lengths[i] % 2)
            continue;
        json = json_new(false);
        for (size_t k = 0; k < lengths[i]; k++)
            text[k] = _i == 0 ? (char)(1 + k % 127) : _i == 1 ? '"' : "\xc3\xbc"[k % 2];
        text[lengths[i]] = '\0';
        json_text(&json, "text", "%s", text);
        json_string(&json, "string", text);
        struct blob *blob = json_end(&json);
        cJSON *read = cJSON_ParseWithLength((const char *)blob->bytes, blob->length);
        ck_assert_str_eq(cJSON_GetObjectItem(read, "text")->valuestring, text);
        ck_assert_str_eq(cJSON_GetObjectItem(read, "string")->valuestring, text);
        cJSON_Delete(read);
        blob_release(blob);
    }
}
END_TEST

/* As when memory has run out. */
START_TEST(without_memory_there_is_no_text)
{
    struct json json = json_new(_i % 2);
    blob_release(json.text);
    json.text = NULL;
    json_text(&json, "name", "%0300d", 7);
    json_list(&json, "list");
    json_string(&json, NULL, "\"");
    json_real(&json, NULL, 0.1);
    ck_assert_ptr_null(json_end(&json));
}
END_TEST

#ifdef CAN_REFUSE
static struct blob *long_list(void)
{
    struct json json = json_new(false);
    json_list(&json, "list");
    for (int i = 0; i < 2000; i++)
        json_string(&json, NULL, "\"");
    return json_end(&json);
}
#endif

/* Whichever allocation fails, there is no text, and no leak. */
START_TEST(memory_may_run_out_at_any_step)
{
#ifdef CAN_REFUSE
    int grants = 0;
    struct blob *text;
    do {
        grants_before = grants++;
        refusals = 1;
        text = long_list();
        ck_assert((text == NULL) == (refusals == 0));
    } while (!text);
    refusals = 0;
    ck_assert_int_gt(grants, 4);
    ck_assert_uint_eq(text->length, sizeof "{\"list\":[]}\n" - 1 + 2000 * 5 - 1);
    blob_release(text);
#endif
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json");
    TCase *tcase = suite_case(suite, "objects");
    tcase_add_loop_test(tcase, objects_become_text, 0, ROWS(rows));
    tcase_add_loop_test(tcase, numbers_have_every_digit, 0, ROWS(numbers));
    tcase_add_loop_test(tcase, strings_are_escaped, 0, 3);
    tcase_add_loop_test(tcase, without_memory_there_is_no_text, 0, 2);
    tcase_add_test(tcase, memory_may_run_out_at_any_step);
    return suite_run(suite);
}
