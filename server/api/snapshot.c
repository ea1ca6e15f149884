#include "snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/documents.h"
#include "server/core/coding.h"
#include "server/core/machine_memory.h"
#include "server/layers/layer.h"
#include "server/world/worlds.h"

/* Takes over BODY, which is NULL if out of memory. */
static int make_form(struct static_page_form *form, struct blob *body)
{
    if (!body)
        return -ENOMEM;
    form->body = body;
    conditional_etag_hash(body->bytes, body->length, form->etag);
    return 0;
}

static void free_page(struct static_page *page)
{
    for (enum coding coding = 0; coding < CODINGS; coding++)
        blob_release(page->form[coding].body);
}

static int make_document(struct static_page *page, struct blob *body)
{
    page->type = "application/json";
    int err = make_form(&page->form[CODING_IDENTITY], body);
    for (enum coding coding = CODING_GZIP; coding < CODINGS && !err; coding++) {
        struct blob *packed = body->length < CODING_MIN ? NULL : coding_pack(body, coding, true);
        if (packed)
            err = make_form(&page->form[coding], packed);
    }
    return err;
}

static int make_file(struct static_page *page, const struct embedded_file *file)
{
    page->type = file->type;
    int err =
        make_form(&page->form[CODING_IDENTITY], blob_copy(file->bytes, (size_t)*file->length));
    if (*file->gzip_length >= *file->length) /* for example a picture */
        return err;
    return err ? err
               : make_form(&page->form[CODING_GZIP],
                           blob_copy(file->gzip, (size_t)*file->gzip_length));
}

static int make_pages(struct snapshot *snapshot)
{
    const struct worlds *worlds = snapshot->worlds;
    int err = make_document(&snapshot->catalogue, document_worlds(worlds, snapshot->config->watch));

    for (int i = 0; embedded_files[i].name && !err; i++)
        err = make_file(&snapshot->files[i], &embedded_files[i]);
    for (int i = 0; i < worlds->count && i < SNAPSHOT_DESCRIPTIONS && !err; i++)
        err = make_document(&snapshot->descriptions[i], document_world(&worlds->world[i]));
    return err;
}

static uint64_t response_memory(const struct config *config)
{
    const uint64_t least = UINT64_C(64) << 20, most = UINT64_C(1) << 30;

    if (config->limits.memory)
        return config->limits.memory;
    const uint64_t share = machine_memory() / 8;
    return share < least ? least : share > most ? most : share;
}

int snapshot_new(struct snapshot **out, struct config *config)
{
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot) {
        config_free(config);
        return -ENOMEM;
    }
    snapshot->references = 1;
    snapshot->config = config;
    snapshot->response_memory = response_memory(config);
    int err = worlds_new(&snapshot->worlds, config);
    if (!err)
        err = world_documents_new(&snapshot->documents, snapshot->worlds);
    if (!err && !(snapshot->viewer_page = viewer_page_new()))
        err = -ENOMEM;
    if (!err)
        err = make_pages(snapshot);
    if (err) {
        snapshot_release(snapshot);
        return err;
    }
    *out = snapshot;
    return 0;
}

const struct static_page *snapshot_description(const struct snapshot *snapshot,
                                               const struct world *world)
{
    const struct worlds *worlds = snapshot->worlds;
    if (world->set != worlds || world - worlds->world >= SNAPSHOT_DESCRIPTIONS)
        return NULL;
    return &snapshot->descriptions[world - worlds->world];
}

const struct static_page *snapshot_file(const struct snapshot *snapshot, const char *name)
{
    for (int i = 0; embedded_files[i].name; i++)
        if (strcmp(embedded_files[i].name, name) == 0)
            return &snapshot->files[i];
    return NULL;
}

bool snapshot_serves(const struct snapshot *snapshot, struct recent_worlds *recent_worlds,
                     const char *fingerprint)
{
    char family[FINGERPRINT_TEXT] = "";
    const bool recent = recent_worlds_find(recent_worlds, fingerprint, family);

    for (int i = 0; i < snapshot->worlds->count; i++) {
        const struct world *world = &snapshot->worlds->world[i];
        const bool seeded = recent && world->config->seeds == SEEDS_ANY;
        for (int kind = 0; kind < TILE_KINDS; kind++)
            if (world->fingerprints.tile[kind][0] &&
                world_serves(world, kind % CONFIG_LAYERS_MAX) &&
                (strcmp(world->fingerprints.tile[kind], fingerprint) == 0 ||
                 (seeded && strcmp(world->parameters->family[kind], family) == 0)))
                return true;
    }
    return false;
}

struct snapshot *snapshot_hold(struct snapshot *snapshot)
{
    __atomic_fetch_add(&snapshot->references, 1, __ATOMIC_RELAXED);
    return snapshot;
}

void snapshot_release(struct snapshot *snapshot)
{
    if (!snapshot || __atomic_sub_fetch(&snapshot->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    free_page(&snapshot->catalogue);
    for (int i = 0; i < EMBEDDED_FILES_MAX; i++)
        free_page(&snapshot->files[i]);
    for (int i = 0; i < SNAPSHOT_DESCRIPTIONS; i++)
        free_page(&snapshot->descriptions[i]);
    world_documents_free(snapshot->documents);
    text_template_free(snapshot->viewer_page);
    worlds_release(snapshot->worlds);
    config_free(snapshot->config);
    free(snapshot);
}
