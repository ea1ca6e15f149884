#include "static_pages.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/documents.h"
#include "server/viewer/embedded_files.h"

struct static_pages {
    const struct worlds *worlds;
    struct static_page catalogue;
    struct static_page files[EMBEDDED_FILES_MAX]; /* in the order of embedded_files */
    struct static_page world[];                   /* in the order of worlds */
};

/* Takes over the reference to BODY, which is NULL if out of memory. */
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
    blob_release(page->plain.body);
    blob_release(page->gzip.body);
}

static int make_document(struct static_page *page, struct blob *body)
{
    page->type = "application/json";
    return make_form(&page->plain, body);
}

static int make_file(struct static_page *page, const struct embedded_file *file)
{
    page->type = file->type;
    int err = make_form(&page->plain, blob_copy(file->bytes, (size_t)*file->length));
    return err ? err : make_form(&page->gzip, blob_copy(file->gzip, (size_t)*file->gzip_length));
}

int static_pages_new(struct static_pages **out, const struct worlds *worlds)
{
    struct static_pages *pages =
        calloc(1, sizeof *pages + (size_t)worlds->count * sizeof pages->world[0]);
    int err = 0;

    if (!pages)
        return -ENOMEM;
    pages->worlds = worlds;
    for (size_t i = 0; embedded_files[i].name && !err; i++)
        err = make_file(&pages->files[i], &embedded_files[i]);
    if (!err)
        err = make_document(&pages->catalogue, document_worlds(worlds));
    for (int i = 0; i < worlds->count && !err; i++)
        err = make_document(&pages->world[i], document_world(&worlds->world[i]));
    if (err) {
        static_pages_free(pages);
        return err;
    }
    *out = pages;
    return 0;
}

void static_pages_free(struct static_pages *pages)
{
    if (!pages)
        return;
    for (size_t i = 0; embedded_files[i].name; i++)
        free_page(&pages->files[i]);
    free_page(&pages->catalogue);
    for (int i = 0; i < pages->worlds->count; i++)
        free_page(&pages->world[i]);
    free(pages);
}

const struct static_page *static_pages_file(const struct static_pages *pages, const char *name)
{
    for (size_t i = 0; embedded_files[i].name; i++)
        if (strcmp(embedded_files[i].name, name) == 0)
            return &pages->files[i];
    return NULL;
}

const struct static_page *static_pages_catalogue(const struct static_pages *pages)
{
    return &pages->catalogue;
}

const struct static_page *static_pages_world(const struct static_pages *pages,
                                             const struct world *world)
{
    assert(world >= pages->worlds->world && world < pages->worlds->world + pages->worlds->count);
    return &pages->world[world - pages->worlds->world];
}
