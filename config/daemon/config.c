#include "config.h"

#include <stdlib.h>

void config_free(struct config *config)
{
    if (!config)
        return;
    struct world_list worlds = {config->worlds, config->world_count};
    world_list_free(&worlds);
    free(config);
}
