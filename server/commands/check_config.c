#include <stdio.h>

#include "server/commands/commands.h"
#include "server/layers/layer.h"
#include "server/world/worlds.h"

static void print_layers_of_fields(const struct world *world, int layer)
{
    for (int field = 0; field < world_field_count(world); field++)
        if (field != world_height_field(world) && world_has_layers(world, field))
            printf(" %s.%s", layers[layer].name, world_field_name(world, field));
}

static void print_world(const struct world *world)
{
    printf("%s: fingerprint %s, heights from %g to %g metres, layers", world->name,
           world->fingerprints.region, (double)world->colors->min, (double)world->colors->max);
    for (int i = 0; layers[i].name; i++)
        if (world_lists(world, i))
            printf(" %s", layers[i].name);
        else if (world_serves(world, i))
            print_layers_of_fields(world, i);
    putchar('\n');
}

int command_check_config(const struct command_line *line)
{
    struct worlds *worlds;
    int code = load_worlds_of_file(&worlds, line->argument);
    if (code)
        return code;
    for (int i = 0; i < worlds->count; i++)
        print_world(&worlds->world[i]);
    worlds_release(worlds);
    return command_line_flush();
}
