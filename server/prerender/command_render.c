#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "server/cache/cache_path.h"
#include "server/commands/commands.h"
#include "server/commands/load_worlds.h"
#include "server/prerender/archive_metadata.h"
#include "server/prerender/dry_run.h"
#include "server/prerender/options.h"
#include "server/prerender/run.h"
#include "server/prerender/tile_list.h"
#include "server/routing/resolve.h"

/* What is worked with, from the options on. */
struct rendering {
    struct render_options request;
    struct config *config;
    struct worlds *worlds;
    const struct world *world; /* of a box, held; or NULL */
    struct tile_list list;
    struct tile_plan *plan;
    struct archive_metadata archive; /* of MODE_EXPORT */
    char directory[CACHE_PATH_MAX];
};

static int refuse_plan(int err, const char *why)
{
    if (err == -ENOMEM) {
        fprintf(stderr, "farlands: %s\n", strerror(ENOMEM));
        return EXIT_FAILED;
    }
    return wrong_usage(why, NULL);
}

/* The world called NAME, or NAME:SEED, with a hold on it. */
static int find_world(struct rendering *rendering, const char *name)
{
    char path[ROUTE_WORD + 64], why[ROUTE_WHY], what[ROUTE_WHY + 16];
    struct route route;
    const int length = snprintf(path, sizeof path, "/%s.json", name);

    if (length >= (int)sizeof path || strpbrk(name, "/?"))
        return wrong_usage("--world: accepted is a name, or name:seed, not", name);
    if (route_parse(&route, path, why) == 0)
        rendering->world = resolve_hold(rendering->worlds, &route, why);
    if (rendering->world)
        return EXIT_DONE;
    snprintf(what, sizeof what, "--world: %s", why);
    return wrong_usage(what, NULL);
}

static int plan_box(struct rendering *rendering, const struct command_line *line)
{
    struct tile_box *box = &rendering->request.box;
    char why[RENDER_WHY];
    int code = find_world(rendering, line->option[COMMAND_OPTION_WORLD]);
    if (code)
        return code;
    box->world = rendering->world;
    int err = render_options_layers(box, line->option[COMMAND_OPTION_LAYER], why);
    if (!err)
        err = tile_plan_box(&rendering->plan, box, why);
    return err ? refuse_plan(err, why) : EXIT_DONE;
}

static int plan_list(struct rendering *rendering)
{
    const char *file = rendering->request.tiles;
    const bool piped = strcmp(file, "-") == 0;
    char why[TILE_LIST_WHY], what[TILE_LIST_WHY + 256];
    FILE *in = piped ? stdin : fopen(file, "r");
    int err = in ? tile_list_read(&rendering->list, in, rendering->worlds, why) : -errno;

    if (in && !piped)
        fclose(in);
    if (err) {
        snprintf(what, sizeof what, "--tiles %.200s: %s", file,
                 err == -EINVAL ? why : strerror(-err));
        return wrong_usage(what, NULL);
    }
    err = tile_plan_list(&rendering->plan, rendering->list.tiles, rendering->list.count);
    rendering->list.tiles = NULL;
    return err ? refuse_plan(err, "") : EXIT_DONE;
}

static int print_paths(const struct tile_plan *plan)
{
    const uint64_t count = tile_plan_count(plan);
    char path[TILE_PATH_MAX];
    struct tile tile;

    for (uint64_t i = 0; i < count && !ferror(stdout); i++) {
        tile_plan_get(plan, i, &tile);
        printf("%s/%s\n", tile.world->config.name, tile_path(&tile, path));
    }
    return command_line_flush();
}

static int fill_cache(const struct rendering *rendering, unsigned threads)
{
    const struct config *config = rendering->config;
    const struct prerender_run fill = {.plan = rendering->plan,
                                       .directory = rendering->directory,
                                       .quota = {config->cache.disk, config->cache.files},
                                       .threads = threads,
                                       .archive = rendering->request.archive,
                                       .metadata = &rendering->archive.mbtiles};
    return prerender_run(&fill);
}

static int run(struct rendering *rendering)
{
    unsigned threads = rendering->request.threads;
    if (threads == 0)
        threads = uv_available_parallelism();
    if (rendering->request.mode == MODE_LIST)
        return print_paths(rendering->plan);
    if (cache_path(rendering->config, rendering->directory)) {
        fputs("farlands: no cache folder: neither cache.path nor HOME is set; --cache DIR names "
              "one\n",
              stderr);
        return EXIT_FAILED;
    }
    if (rendering->request.mode == MODE_DRY_RUN)
        return dry_run(rendering->plan, rendering->config, rendering->directory, threads);
    return fill_cache(rendering, threads);
}

static int prepare(struct rendering *rendering, const struct command_line *line)
{
    const char *cache = line->option[COMMAND_OPTION_CACHE];
    struct render_options *request = &rendering->request;
    char why[RENDER_WHY];

    if (render_options_parse(request, line, why))
        return wrong_usage(why, NULL);
    if (cache && (!cache[0] || strlen(cache) >= sizeof rendering->config->cache.path))
        return wrong_usage("--cache: accepted is the path of a folder, not", cache);
    int code = load_config(&rendering->config, line->option[COMMAND_OPTION_CONFIG]);
    if (code)
        return code;
    if (cache)
        snprintf(rendering->config->cache.path, sizeof rendering->config->cache.path, "%s", cache);
    code = load_worlds(&rendering->worlds, rendering->config);
    if (!code)
        code = request->tiles ? plan_list(rendering) : plan_box(rendering, line);
    if (code)
        return code;
    tile_plan_shard(rendering->plan, request->shard, request->of);
    if (request->archive && archive_metadata_of(&rendering->archive, rendering->plan, why))
        return wrong_usage(why, NULL);
    return EXIT_DONE;
}

static void tear_down(struct rendering *rendering)
{
    tile_plan_free(rendering->plan);
    tile_list_free(&rendering->list);
    if (rendering->world)
        world_release(rendering->world);
    worlds_release(rendering->worlds);
    config_free(rendering->config);
}

int command_render(const struct command_line *line)
{
    struct rendering *rendering = calloc(1, sizeof *rendering);
    if (!rendering) {
        fprintf(stderr, "farlands: %s\n", strerror(ENOMEM));
        return EXIT_FAILED;
    }
    int code = prepare(rendering, line);
    if (!code)
        code = run(rendering);
    tear_down(rendering);
    free(rendering);
    return code;
}
