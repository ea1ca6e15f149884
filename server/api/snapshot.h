/*
 * A configuration and what is served by it: immutable but for UNLISTED, shared by all threads, and
 * replaced as a whole when the configuration is reloaded.
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
    } form[CODINGS]; /* those without body do not exist, except the plain one */
};

struct snapshot {
    unsigned references; /* atomic */
    struct config *config;
    struct worlds *worlds;
    uint64_t response_memory; /* limits.memory, not 0 */
    struct static_page catalogue;
    struct world_documents *documents; /* other documents about WORLDS */
    /* Of the first of WORLDS, in their order. */
    struct static_page descriptions[SNAPSHOT_DESCRIPTIONS];
    struct static_page files[EMBEDDED_FILES_MAX]; /* of the viewer, as embedded_files */
    struct text_template *viewer_page;
    struct modification modified;   /* when it was first used; the caller sets it */
    struct unlisted_peers unlisted; /* since the configuration was loaded */
};

/* With one reference. Takes ownership of CONFIG even on error. Returns 0 or a negative code. */
int snapshot_new(struct snapshot **out, struct config *config);

/* The description of WORLD, or NULL: one of DOCUMENTS is made then. Any thread. */
const struct static_page *snapshot_description(const struct snapshot *snapshot,
                                               const struct world *world);

/* The viewer's file NAME, or NULL. Any thread. */
const struct static_page *snapshot_file(const struct snapshot *snapshot, const char *name);

/* True if FINGERPRINT is that of a configured world, or of a derived one that is in RECENT_WORLDS
 * and still allowed. Any thread. */
bool snapshot_serves(const struct snapshot *snapshot, struct recent_worlds *recent_worlds,
                     const char *fingerprint);

/* Add or drop a reference; dropping the last one frees. SNAPSHOT may be NULL for release. Any
 * thread. */
struct snapshot *snapshot_hold(struct snapshot *snapshot);
void snapshot_release(struct snapshot *snapshot);

#endif
