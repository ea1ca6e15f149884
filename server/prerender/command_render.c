#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "server/cache/disk_cache.h"
#include "server/commands/commands.h"
#include "server/prerender/archive_metadata.h"
#include "server/prerender/options.h"
#include "server/prerender/run.h"
#include "server/prerender/tile_list.h"
#include "server/world/worlds.h"

struct render_command {
    struct render_options options;
    struct config *config;
    struct worlds *worlds;
    const struct world *world; /* held, for a box; NULL for a list */
    struct tile_list list;
    struct tile_plan *plan;
    struct archive_metadata metadata;    /* for MODE_EXPORT */
    char directory[DISK_CACHE_PATH_MAX]; /* the cache's */
};

static int report_plan_error(int err, const char *why)
{
    return err == -ENOMEM ? failed("%s", strerror(ENOMEM)) : wrong_usage("%s", why);
}

static int plan_box(struct render_command *command, const struct command_line *line)
{
    struct tile_box *box = &command->options.box;
    char why[OPTION_WHY];
    int code = hold_world(&command->world, command->worlds, option_shown(ARG_WORLD),
                          line->option[ARG_WORLD]);
    if (code)
        return code;
    box->world = command->world;
    int err = render_options_layers(box, line->option[ARG_LAYER], why);
    if (!err)
        err = tile_plan_box(&command->plan, box, why);
    return err ? report_plan_error(err, why) : EXIT_DONE;
}

static int plan_list(struct render_command *command)
{
    const char *file = command->options.tiles;
    const bool piped = strcmp(file, "-") == 0;
    char why[TILE_LIST_WHY];
    FILE *in = piped ? stdin : fopen(file, "r");
    int err = in ? tile_list_read(&command->list, in, command->worlds, why) : -errno;

    if (in && !piped)
        fclose(in);
    if (err)
        return wrong_usage("--tiles %.200s: %s", file, err == -EINVAL ? why : strerror(-err));
    err = tile_plan_list(&command->plan, command->list.tiles, command->list.count);
    command->list.tiles = NULL;
    return err ? report_plan_error(err, "") : EXIT_DONE;
}

static int print_paths(const struct tile_plan *plan)
{
    const uint64_t count = tile_plan_count(plan);
    char path[TILE_PATH_MAX];
    struct tile_address tile;

    for (uint64_t i = 0; i < count && !ferror(stdout); i++) {
        tile_plan_get(plan, i, &tile);
        printf("%s/%s\n", tile.world->name, tile_url(&tile, path));
    }
    return command_line_flush();
}

static int prepare(struct render_command *command, const struct command_line *line)
{
    const char *cache = line->option[ARG_CACHE];
    struct render_options *options = &command->options;
    char why[OPTION_WHY];

    if (render_options_parse(options, line, why))
        return wrong_usage("%s", why);
    if (cache && (!cache[0] || strlen(cache) >= sizeof command->config->cache.path))
        return wrong_usage("--cache: expected the path of a directory, not: %s", cache);
    int code = load_config(&command->config, line->option[ARG_CONFIG]);
    if (code)
        return code;
    if (cache)
        snprintf(command->config->cache.path, sizeof command->config->cache.path, "%s", cache);
    code = load_worlds(&command->worlds, command->config);
    if (!code)
        code = options->tiles ? plan_list(command) : plan_box(command, line);
    if (code)
        return code;
    tile_plan_shard(command->plan, options->shard, options->of);
    if (options->archive && archive_metadata_of(&command->metadata, command->plan, why))
        return wrong_usage("%s", why);
    return EXIT_DONE;
}

static int execute(struct render_command *command)
{
    const struct config *config = command->config;
    const unsigned threads =
        command->options.threads ? command->options.threads : uv_available_parallelism();

    if (command->options.mode == MODE_LIST)
        return print_paths(command->plan);
    if (disk_cache_path(config, command->directory))
        return failed("no cache directory: set cache.path or HOME, or use --cache DIR");
    const struct run_options run = {.plan = command->plan,
                                    .directory = command->directory,
                                    .quota = {config->cache.disk, config->cache.files},
                                    .threads = threads,
                                    .archive = command->options.archive,
                                    .tileset = &command->metadata.tileset};
    return command->options.mode == MODE_DRY_RUN ? dry_run(&run) : run_prerender(&run);
}

int command_render(const struct command_line *line)
{
    struct render_command *command = calloc(1, sizeof *command);
    if (!command)
        return report_plan_error(-ENOMEM, NULL);
    int code = prepare(command, line);
    if (!code)
        code = execute(command);
    tile_plan_free(command->plan);
    tile_list_free(&command->list);
    if (command->world)
        world_release(command->world);
    worlds_release(command->worlds);
    config_free(command->config);
    free(command);
    return code;
}
