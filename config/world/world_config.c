#include "world_config.h"

#include <stdlib.h>

void world_list_free(struct world_list *list)
{
    for (int i = 0; i < list->count; i++)
        world_fields_release(list->world[i].fields);
    free(list->world);
    *list = (struct world_list){NULL, 0};
}
