#include "world_documents.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/api/documents.h"
#include "server/api/map_documents.h"
#include "server/core/text_template.h"
#include "server/layers/layer.h"
#include "server/world/worlds.h"

struct world_documents {
    const struct worlds *worlds;
    struct text_template *wmts;       /* for all worlds */
    struct text_template **templates; /* atomic: [world][seeded][document], NULL until needed */
};

/* In a template: no document has these by chance. */
#define EXAMPLE_SEED UINT64_C(17293822569102704641)
#define EXAMPLE_BASE "http://base.invalid"

enum { SEED_TEXT = 21, LONG_DOCUMENTS = WORLD_DOCUMENT_TILEJSON };

_Static_assert(TILE_KINDS + 4 <= TEXT_TEMPLATE_VALUES, "room for all fingerprints");

struct values {
    char seed[SEED_TEXT];
    const char *list[TEXT_TEMPLATE_VALUES];
};

/* WORLD's values. A configured world's name, seed and fingerprints never change. */
static void set_values(struct values *values, const struct world *world,
                       enum world_document document, const char *base)
{
    const bool seeded = world->set->base;
    snprintf(values->seed, sizeof values->seed, "%" PRIu64, world->seed);
    const char **at = values->list;
    *at++ = document == WORLD_DOCUMENT_DESCRIPTION ? NULL : base;
    if (!seeded)
        return;
    *at++ = values->seed;
    *at++ = world->fingerprints.region;
    *at++ = world->fingerprints.volume;
    for (int i = 0; i < TILE_KINDS; i++)
        if (world->fingerprints.tile[i][0])
            *at++ = world->fingerprints.tile[i];
}

const char *world_documents_type(enum world_document document)
{
    return document == WORLD_DOCUMENT_WMTS || document == WORLD_DOCUMENT_GDAL ? "application/xml"
                                                                              : "application/json";
}

static struct blob *write_document(const struct world *world, enum world_document document,
                                   int layer, int field, const char *base)
{
    char self[WORLD_SEEDED_NAME_MAX + 16];

    switch (document) {
    case WORLD_DOCUMENT_WMTS:
        snprintf(self, sizeof self, "%s/wmts", world->name);
        return document_wmts(world, 1, self, base);
    case WORLD_DOCUMENT_TILEJSON:
        return document_tilejson(world, layer, field, FORMAT_PNG, base);
    case WORLD_DOCUMENT_TILEJSON_WEBP:
        return document_tilejson(world, layer, field, FORMAT_WEBP, base);
    case WORLD_DOCUMENT_GDAL:
        return document_gdal(world, layer, field, base);
    default:
        return document_world(world);
    }
}

/* Make a template from EXAMPLE, which is taken over, with VALUES. */
static struct text_template *cut(struct blob *example, const struct values *values)
{
    struct text_template *template = example ? text_template_new(example, values->list) : NULL;
    blob_release(example);
    return template;
}

static struct text_template *make_template(const struct world *world, enum world_document document)
{
    struct values values = {0};
    set_values(&values, world, document, EXAMPLE_BASE);
    return cut(write_document(world, document, 0, 0, EXAMPLE_BASE), &values);
}

static struct text_template *make_seeded_template(const struct world *configured,
                                                  enum world_document document)
{
    struct worlds *derived;
    if (worlds_derive(&derived, configured, EXAMPLE_SEED))
        return NULL;
    struct text_template *template = make_template(derived->world, document);
    worlds_release(derived);
    return template;
}

/* The template in *PLACE, made if missing: at worst by several threads at once. */
static const struct text_template *template_at(struct text_template **place,
                                               const struct world *configured, bool seeded,
                                               enum world_document document)
{
    struct text_template *template = __atomic_load_n(place, __ATOMIC_ACQUIRE), *other = NULL;
    if (template)
        return template;
    template =
        seeded ? make_seeded_template(configured, document) : make_template(configured, document);
    if (template && !__atomic_compare_exchange_n(place, &other, template, false, __ATOMIC_ACQ_REL,
                                                 __ATOMIC_ACQUIRE)) {
        text_template_free(template);
        return other;
    }
    return template;
}

struct blob *world_documents_get(struct world_documents *documents, const struct world *world,
                                 enum world_document document, int layer, int field,
                                 const char *base)
{
    /* Derived worlds share the configured one's parameters. */
    const ptrdiff_t number = world->parameters - documents->worlds->parameters;
    const bool seeded = world->set->base;
    struct values values = {0};

    if (document >= WORLD_DOCUMENT_TILEJSON)
        return write_document(world, document, layer, field, base);
    assert(number >= 0 && number < documents->worlds->count);
    const struct text_template *template =
        template_at(&documents->templates[(number * 2 + seeded) * LONG_DOCUMENTS + document],
                    &documents->worlds->world[number], seeded, document);
    if (!template)
        return NULL;
    set_values(&values, world, document, base);
    return text_template_fill(template, values.list);
}

struct blob *world_documents_wmts(struct world_documents *documents, const char *base)
{
    const struct values values = {.list = {base}};
    return text_template_fill(documents->wmts, values.list);
}

/* With many worlds it is too long for an event loop to make. */
static struct text_template *make_wmts(const struct worlds *worlds)
{
    const struct values values = {.list = {EXAMPLE_BASE}};
    return cut(document_wmts(worlds->world, worlds->count, "wmts", EXAMPLE_BASE), &values);
}

int world_documents_new(struct world_documents **out, const struct worlds *worlds)
{
    struct world_documents *documents = calloc(1, sizeof *documents);
    if (!documents)
        return -ENOMEM;
    documents->worlds = worlds;
    documents->templates =
        calloc((size_t)worlds->count * 2 * LONG_DOCUMENTS, sizeof(struct text_template *));
    if (!documents->templates)
        goto fail_templates;
    documents->wmts = make_wmts(worlds);
    if (!documents->wmts)
        goto fail_wmts;
    *out = documents;
    return 0;

fail_wmts:
    free(documents->templates);
fail_templates:
    free(documents);
    return -ENOMEM;
}

void world_documents_free(struct world_documents *documents)
{
    if (!documents)
        return;
    text_template_free(documents->wmts);
    for (int i = 0; i < documents->worlds->count * 2 * LONG_DOCUMENTS; i++)
        text_template_free(documents->templates[i]);
    free(documents->templates);
    free(documents);
}
