#include "config.h"

#include <stdlib.h>

void config_drop_worlds(struct config *config)
{
    for (int i = 0; i < config->world_count; i++)
        world_fields_release(config->worlds[i].fields);
    free(config->worlds);
    config->worlds = NULL;
    config->world_count = 0;
}

void config_free(struct config *config)
{
    if (!config)
        return;
    config_drop_worlds(config);
    free(config);
}
