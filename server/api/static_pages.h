/*
 * Static pages: the viewer's files, the catalogue, and the description of each configured world,
 * with their ETags. Made once per snapshot; immutable.
 */
#ifndef FARLANDS_API_STATIC_PAGES_H
#define FARLANDS_API_STATIC_PAGES_H

#include "server/core/blob.h"
#include "server/http/conditional.h"
#include "server/world/world.h"

struct static_page_form {
    struct blob *body;
    char etag[HASH_ETAG];
};

struct static_page {
    const char *type; /* media type */
    struct static_page_form plain;
    struct static_page_form gzip; /* its body may be NULL: there is no such form */
};

struct static_pages;

/* The pages about WORLDS, which outlive them. Returns 0 or -ENOMEM. */
int static_pages_new(struct static_pages **out, const struct worlds *worlds);
void static_pages_free(struct static_pages *pages);

/* A file of the viewer, or NULL. */
const struct static_page *static_pages_file(const struct static_pages *pages, const char *name);
const struct static_page *static_pages_catalogue(const struct static_pages *pages);
/* WORLD is one of the pages' worlds. */
const struct static_page *static_pages_world(const struct static_pages *pages,
                                             const struct world *world);

#endif
