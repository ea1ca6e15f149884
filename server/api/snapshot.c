#include "snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int setup_new(struct setup **out, struct config *config)
{
    struct setup *setup = calloc(1, sizeof *setup);
    if (!setup) {
        config_free(config);
        return -ENOMEM;
    }
    setup->references = 1;
    setup->config = config;
    int err = worlds_new(&setup->worlds, config);
    if (!err)
        err = pages_new(&setup->pages, setup->worlds);
    if (err) {
        setup_release(setup);
        return err;
    }
    *out = setup;
    return 0;
}

bool setup_serves(const struct setup *setup, struct fingerprints *fingerprints,
                  const char *fingerprint)
{
    char family[FINGERPRINT_TEXT];
    const bool lately = fingerprints_find(fingerprints, fingerprint, family);

    for (int i = 0; i < setup->worlds->count; i++) {
        const struct world *world = &setup->worlds->world[i];
        if (strcmp(world->fingerprint, fingerprint) == 0)
            return true;
        if (lately && world->config.seeds == SEEDS_ANY && strcmp(world->family, family) == 0)
            return true;
    }
    return false;
}

struct setup *setup_hold(struct setup *setup)
{
    __atomic_fetch_add(&setup->references, 1, __ATOMIC_RELAXED);
    return setup;
}

void setup_release(struct setup *setup)
{
    if (!setup || __atomic_sub_fetch(&setup->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    pages_free(setup->pages);
    worlds_release(setup->worlds);
    config_free(setup->config);
    free(setup);
}
