/* Documents from templates have the bytes of those that are written for one world. */
#include "server/api/world_documents.h"

#include <inttypes.h>
#include <pthread.h>

#include "server/api/documents.h"
#include "server/api/map_documents.h"
#include "server/world/terrain_cache.h"
#include "tests/unit/support/fixtures.h"

static struct worlds *worlds;
static struct world_documents *documents;

static void set_up(void)
{
    static const char yaml[] = "worlds:\n"
                               "  - {name: first, seed: 1, seeds: any}\n"
                               "  - {name: http, seed: 18446744073709551615, seeds: any,\n"
                               "     noise: {basis: value, warp: {amplitude: 5, wavelength: 64}}}\n"
                               "  - {name: base-invalid, layers: [relief, height]}\n";
    worlds = worlds_of_text(yaml);
    ck_assert_int_eq(world_documents_new(&documents, worlds), 0);
}

static void tear_down(void)
{
    world_documents_free(documents);
    world_documents_free(NULL);
    worlds_release(worlds);
}

static const char *const bases[] = {"http://127.0.0.1:8080", "https://tiles.example.org/terrain",
                                    "http://[::1]", "http://base.invalid"};

/* Releases both. */
static void must_be_same(struct blob *got, struct blob *expected, const char *what)
{
    must(got && got->references == 1, "no document of %s", what);
    must(got->length == expected->length && memcmp(got->bytes, expected->bytes, got->length) == 0,
         "%s: %.*s", what, (int)got->length, (const char *)got->bytes);
    blob_release(expected);
    blob_release(got);
}

static void check_layers(const struct world *world, const char *base, const char *what)
{
    for (int i = 0; layers[i].name; i++) {
        must_be_same(world_documents_get(documents, world, WORLD_DOCUMENT_TILEJSON, i, 0, base),
                     document_tilejson(world, i, 0, FORMAT_PNG, base), what);
        if (layers[i].formats >> FORMAT_WEBP & 1)
            must_be_same(
                world_documents_get(documents, world, WORLD_DOCUMENT_TILEJSON_WEBP, i, 0, base),
                document_tilejson(world, i, 0, FORMAT_WEBP, base), what);
        must_be_same(world_documents_get(documents, world, WORLD_DOCUMENT_GDAL, i, 0, base),
                     document_gdal(world, i, 0, base), what);
    }
}

static void check_documents(const struct world *world)
{
    char self[128], what[256];

    snprintf(self, sizeof self, "%s/wmts", world->name);
    for (int i = 0; i < ROWS(bases); i++) {
        snprintf(what, sizeof what, "%s, %s", world->name, bases[i]);
        must_be_same(
            world_documents_get(documents, world, WORLD_DOCUMENT_DESCRIPTION, 0, 0, bases[i]),
            document_world(world), what);
        must_be_same(world_documents_get(documents, world, WORLD_DOCUMENT_WMTS, 0, 0, bases[i]),
                     document_wmts(world, 1, self, bases[i]), what);
        must_be_same(world_documents_wmts(documents, bases[i]),
                     document_wmts(worlds->world, worlds->count, "wmts", bases[i]), what);
        check_layers(world, bases[i], what);
    }
}

START_TEST(equals_the_document)
{
    static const uint64_t seeds[] = {0, 1, 2, 42, UINT64_C(17293822569102704641), UINT64_MAX};
    for (int i = 0; i < worlds->count; i++) {
        check_documents(&worlds->world[i]);
        for (int k = 0; k < ROWS(seeds); k++) {
            struct worlds *derived;
            ck_assert_int_eq(worlds_derive(&derived, &worlds->world[i], seeds[k]), 0);
            check_documents(derived->world);
            worlds_release(derived);
        }
    }
    ck_assert_uint_eq(terrain_cache_compiled(worlds->terrains), 0);
}
END_TEST

static void *ask(void *unused)
{
    check_documents(&worlds->world[0]);
    return unused;
}

/* Several threads may need the same template first. */
START_TEST(any_thread)
{
    pthread_t threads[4];
    for (int i = 0; i < ROWS(threads); i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask, NULL), 0);
    for (int i = 0; i < ROWS(threads); i++)
        pthread_join(threads[i], NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("world documents");
    TCase *tcase = suite_case(suite, "documents");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, equals_the_document);
    tcase_add_test(tcase, any_thread);
    return suite_run(suite);
}
