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

struct static_pages;

/* The pages about WORLDS, which outlive them. Returns 0 or -ENOMEM. */
int static_pages_new(struct static_pages **out, const struct worlds *worlds);
void static_pages_free(struct static_pages *pages);

/* A file of the viewer, or NULL. */
const struct page *static_pages_file(const struct static_pages *pages, const char *name);
const struct page *static_pages_catalogue(const struct static_pages *pages);
const struct page *static_pages_world(const struct static_pages *pages, const struct world *world);

#endif
