#include "world_documents.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/api/documents.h"
#include "server/core/text_template.h"

enum { KINDS = 1 + CONFIG_LAYERS_MAX }; /* the description, then the layers' TileJSON */

struct world_documents {
    const struct worlds *worlds;
    struct text_template **templates; /* atomic: [world][seeded][kind], NULL until it is needed */
};

/* In a template: no document has these by chance. */
#define EXAMPLE_SEED UINT64_C(17293822569102704641)
#define EXAMPLE_BASE "http://base.invalid"

enum { SEED_TEXT = 21 };

struct values {
    char seed[SEED_TEXT];
    const char *list[TEXT_TEMPLATE_VALUES];
};

/* The values of WORLD. The name, seed and fingerprint of a configured world never change. */
static void set_values(struct values *values, const struct world *world, int layer,
                       const char *base)
{
    const bool seeded = world->set->base;
    snprintf(values->seed, sizeof values->seed, "%" PRIu64, world->config.terrain.seed);
    values->list[0] = seeded ? values->seed : NULL;
    values->list[1] = seeded ? world->fingerprint : NULL;
    values->list[2] = layer >= 0 ? base : NULL;
}

static struct text_template *make_template(const struct world *world, int layer)
{
    struct values values = {0};
    set_values(&values, world, layer, EXAMPLE_BASE);
    struct blob *example =
        layer < 0 ? document_world(world) : document_tilejson(world, layer, EXAMPLE_BASE);
    struct text_template *template = example ? text_template_new(example, values.list) : NULL;
    blob_release(example);
    return template;
}

static struct text_template *make_seeded_template(const struct world *configured, int layer)
{
    struct worlds *derived;
    if (worlds_derive(&derived, configured, EXAMPLE_SEED))
        return NULL;
    struct text_template *template = make_template(derived->world, layer);
    worlds_release(derived);
    return template;
}

/* The template in *PLACE, made if it is not there yet: by several threads at once at worst. */
static const struct text_template *
template_at(struct text_template **place, const struct world *configured, bool seeded, int layer)
{
    struct text_template *template = __atomic_load_n(place, __ATOMIC_ACQUIRE), *other = NULL;
    if (template)
        return template;
    template = seeded ? make_seeded_template(configured, layer) : make_template(configured, layer);
    if (template && !__atomic_compare_exchange_n(place, &other, template, false, __ATOMIC_ACQ_REL,
                                                 __ATOMIC_ACQUIRE)) {
        text_template_free(template);
        return other;
    }
    return template;
}

struct blob *world_documents_get(struct world_documents *documents, const struct world *world,
                                 int layer, const char *base)
{
    /* Derived worlds share the parameters of the configured one. */
    const ptrdiff_t number = world->parameters - documents->worlds->parameters;
    const bool seeded = world->set->base;
    struct values values = {0};

    assert(number >= 0 && number < documents->worlds->count);
    const struct text_template *template =
        template_at(&documents->templates[(number * 2 + seeded) * KINDS + 1 + layer],
                    &documents->worlds->world[number], seeded, layer);
    if (!template)
        return NULL;
    set_values(&values, world, layer, base);
    return text_template_fill(template, values.list);
}

int world_documents_new(struct world_documents **out, const struct worlds *worlds)
{
    struct world_documents *documents = malloc(sizeof *documents);
    if (!documents)
        return -ENOMEM;
    documents->worlds = worlds;
    documents->templates =
        calloc((size_t)worlds->count * 2 * KINDS, sizeof(struct text_template *));
    if (!documents->templates) {
        free(documents);
        return -ENOMEM;
    }
    *out = documents;
    return 0;
}

void world_documents_free(struct world_documents *documents)
{
    if (!documents)
        return;
    for (int i = 0; i < documents->worlds->count * 2 * KINDS; i++)
        text_template_free(documents->templates[i]);
    free(documents->templates);
    free(documents);
}
