/*
 * What stays the same as long as the server runs: the viewer's files, the
 * catalogue, each world's description. Made once, at start; immutable.
 */
#ifndef FARLANDS_API_STATIC_PAGES_H
#define FARLANDS_API_STATIC_PAGES_H

#include "server/core/blob.h"
#include "server/http/conditional.h"
#include "server/world/world.h"

/* One form that a page is sent in. */
struct page_form {
    struct blob *body;
    char etag[HASH_ETAG];
};

struct page {
    const char *type; /* media type */
    struct page_form plain;
    struct page_form gzip; /* without a body where there is none */
};

struct pages;

/* The pages about WORLDS, which outlive them. Returns 0 or -ENOMEM. */
int pages_new(struct pages **out, const struct worlds *worlds);
void pages_free(struct pages *pages);

/* A file of the viewer, or NULL. */
const struct page *pages_file(const struct pages *pages, const char *name);
const struct page *pages_catalogue(const struct pages *pages);
const struct page *pages_world(const struct pages *pages, const struct world *world);

#endif
