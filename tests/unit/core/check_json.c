/* Objects as text, and without memory. */
#include "server/core/json.h"

#include "tests/unit/support/fixtures.h"

/* {"name": "a \"quoted\" 7", "list": ["x", 2]} */
static struct blob *example(bool indented)
{
    struct json json = json_new();
    json_add_text(&json, json.root, "name", "a \"%s\" %d", "quoted", 7);
    cJSON *list = json_add(&json, json.root, "list", cJSON_CreateArray());
    json_add_text(&json, list, NULL, "x");
    json_add(&json, list, NULL, cJSON_CreateNumber(2));
    return json_end(&json, indented);
}

static const struct {
    bool indented;
    const char *expected;
} rows[] = {
    {false, "{\"name\":\"a \\\"quoted\\\" 7\",\"list\":[\"x\",2]}\n"},
    {true, "{\n\t\"name\":\t\"a \\\"quoted\\\" 7\",\n\t\"list\":\t[\"x\", 2]\n}\n"},
};

START_TEST(objects_become_text)
{
    struct blob *text = example(rows[_i].indented);
    ck_assert_uint_eq(text->length, strlen(rows[_i].expected));
    ck_assert_mem_eq(text->bytes, rows[_i].expected, text->length);
    blob_release(text);
}
END_TEST

static int allocations_left, held;

static void *scarce_malloc(size_t size)
{
    if (allocations_left-- <= 0)
        return NULL;
    held++;
    return malloc(size);
}

static void counted_free(void *memory)
{
    held -= memory != NULL;
    free(memory);
}

START_TEST(without_memory_there_is_no_text)
{
    struct blob *text = NULL;
    int allocations = 0;
    cJSON_InitHooks(&(cJSON_Hooks){scarce_malloc, counted_free});
    for (; !text; allocations++) {
        allocations_left = allocations;
        text = example(false);
        ck_assert_int_eq(held, 0);
    }
    ck_assert_int_gt(allocations, 8); /* values, keys and texts */
    blob_release(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json");
    TCase *tcase = suite_case(suite, "objects");
    tcase_add_loop_test(tcase, objects_become_text, 0, ROWS(rows));
    tcase_add_test(tcase, without_memory_there_is_no_text);
    return suite_run(suite);
}
