/*
 * A configuration and everything that it serves: immutable but for UNLISTED, shared by all threads,
 * and replaced as a whole by a reload.
 */
#ifndef FARLANDS_API_SNAPSHOT_H
#define FARLANDS_API_SNAPSHOT_H

#include "config/daemon/config.h"
#include "server/api/unlisted_peers.h"
#include "server/api/viewer_page.h"
#include "server/api/world_documents.h"
#include "server/core/blob.h"
#include "server/core/coding.h"
#include "server/http/conditional.h"
#include "server/viewer/embedded_files.h"
#include "server/world/recent_worlds.h"
#include "server/world/world.h"

/* The first worlds have static pages: a page takes 3 ms and 25 KB. */
enum { SNAPSHOT_DESCRIPTIONS = 16 };

struct static_page {
    const char *type; /* media type */
    struct static_page_form {
        struct blob *body;
        char etag[HASH_ETAG];
    } form[CODINGS]; /* the plain form always exists, others only if they have a body */
};

struct snapshot {
    unsigned references; /* atomic */
    struct config *config;
    struct worlds *worlds;
    uint64_t response_memory; /* limits.memory, not 0 */
    struct static_page catalogue;
    struct world_documents *documents; /* other documents about WORLDS */
    /* The first of WORLDS have these, in their order. */
    struct static_page descriptions[SNAPSHOT_DESCRIPTIONS];
    struct static_page files[EMBEDDED_FILES_MAX]; /* the viewer's, in the order of embedded_files */
    struct text_template *viewer_page;
    struct modification modified;   /* when it was first used; set by the caller */
    struct unlisted_peers unlisted; /* since the configuration was loaded */
};

/* Returns one reference in *OUT. Takes ownership of CONFIG even on error. Returns 0 or a negative
 * code. */
int snapshot_new(struct snapshot **out, struct config *config);

/* WORLD's description, or NULL: then make one from DOCUMENTS. Any thread. */
const struct static_page *snapshot_description(const struct snapshot *snapshot,
                                               const struct world *world);

/* The viewer's file NAME, or NULL. Any thread. */
const struct static_page *snapshot_file(const struct snapshot *snapshot, const char *name);

/* True if a configured world has FINGERPRINT, or a derived one in RECENT_WORLDS that is still
 * allowed. Any thread. */
bool snapshot_serves(const struct snapshot *snapshot, struct recent_worlds *recent_worlds,
                     const char *fingerprint);

/* Add or drop a reference; dropping the last one frees. SNAPSHOT may be NULL for release. Any
 * thread. */
struct snapshot *snapshot_hold(struct snapshot *snapshot);
void snapshot_release(struct snapshot *snapshot);

#endif
