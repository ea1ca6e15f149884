#include "setup.h"

#include <errno.h>
#include <stdlib.h>

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
