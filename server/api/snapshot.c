#include "snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int snapshot_new(struct snapshot **out, struct config *config)
{
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot) {
        config_free(config);
        return -ENOMEM;
    }
    snapshot->references = 1;
    snapshot->config = config;
    int err = worlds_new(&snapshot->worlds, config);
    if (!err)
        err = static_pages_new(&snapshot->pages, snapshot->worlds);
    if (err) {
        snapshot_release(snapshot);
        return err;
    }
    *out = snapshot;
    return 0;
}

bool snapshot_serves(const struct snapshot *snapshot, struct recent_worlds *recent_worlds,
                     const char *fingerprint)
{
    char family[FINGERPRINT_TEXT];
    const bool recent = recent_worlds_find(recent_worlds, fingerprint, family);

    for (int i = 0; i < snapshot->worlds->count; i++) {
        const struct world *world = &snapshot->worlds->world[i];
        if (strcmp(world->fingerprint, fingerprint) == 0)
            return true;
        if (recent && world->config.seeds == SEEDS_ANY && strcmp(world->family, family) == 0)
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
    static_pages_free(snapshot->pages);
    worlds_release(snapshot->worlds);
    config_free(snapshot->config);
    free(snapshot);
}
