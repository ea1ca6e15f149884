#include "tile_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "server/resolve.h"

/* A world by the name that lines give it: name or name:seed. */
struct listed_world {
    const struct world *world;
    char name[WORLD_SEEDED_NAME_MAX];
    UT_hash_handle hh;
};

/* The world that lines before have named, or a new one; NULL with what is wrong in WHY. */
static const struct world *find_world(struct tile_list *list, const struct worlds *worlds,
                                      const struct route *route, char why[ROUTE_WHY])
{
    struct listed_world *listed;
    char name[WORLD_SEEDED_NAME_MAX];
    const int length = route->seeded ? snprintf(name, sizeof name, "%.*s:%llu", WORLD_NAME_MAX - 1,
                                                route->world, (unsigned long long)route->seed)
                                     : snprintf(name, sizeof name, "%s", route->world);

    HASH_FIND(hh, list->worlds, name, (unsigned)length, listed);
    if (listed)
        return listed->world;
    const struct world *world = resolve_hold(worlds, route, why);
    if (!world)
        return NULL;
    listed = calloc(1, sizeof *listed);
    if (!listed) {
        world_release(world);
        snprintf(why, ROUTE_WHY, "out of memory");
        return NULL;
    }
    listed->world = world;
    memcpy(listed->name, name, (size_t)length + 1);
    HASH_ADD_KEYPTR(hh, list->worlds, listed->name, (unsigned)length, listed);
    return world;
}

static int find_tile(struct tile_list *list, const struct worlds *worlds, const char *path,
                     struct tile *tile, char why[ROUTE_WHY])
{
    struct route route;
    struct farlands_grid grid;

    if (resolve_path(path, &route, why))
        return -EINVAL;
    const struct world *world = find_world(list, worlds, &route, why);
    if (!world || resolve_tile(world, &route, tile, &grid, why))
        return -EINVAL;
    if (tile->format == FORMAT_PNG)
        return 0;
    snprintf(why, ROUTE_WHY,
             "extension: \"%.20s\" is made anew for each request; only png is kept in the cache",
             route.extension);
    return -EINVAL;
}

static int append(struct tile_list *list, size_t *room, const struct tile *tile)
{
    if (list->count == *room) {
        const size_t more = *room ? 2 * *room : 1024;
        struct tile *tiles = reallocarray(list->tiles, more, sizeof *tiles);
        if (!tiles)
            return -ENOMEM;
        list->tiles = tiles;
        *room = more;
    }
    list->tiles[list->count++] = *tile;
    return 0;
}

/* Cut off what ends lines, in any system. */
static void chomp(char *line, ssize_t length)
{
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
        line[--length] = '\0';
}

static int read_lines(struct tile_list *list, FILE *in, const struct worlds *worlds,
                      char why[TILE_LIST_WHY])
{
    char *line = NULL, wrong[ROUTE_WHY];
    size_t capacity = 0, room = 0;
    unsigned long long number = 0;
    int err = 0;

    for (ssize_t length; !err && (length = getline(&line, &capacity, in)) >= 0;) {
        struct tile tile;
        number++;
        chomp(line, length);
        if (!line[0])
            continue;
        err = find_tile(list, worlds, line, &tile, wrong);
        if (err)
            snprintf(why, TILE_LIST_WHY, "line %llu: %s", number, wrong);
        else
            err = append(list, &room, &tile);
    }
    if (!err && ferror(in))
        err = errno ? -errno : -EIO;
    free(line);
    return err;
}

int tile_list_read(struct tile_list *list, FILE *in, const struct worlds *worlds,
                   char why[TILE_LIST_WHY])
{
    *list = (struct tile_list){0};
    errno = 0;
    int err = read_lines(list, in, worlds, why);
    if (!err && list->count == 0) {
        snprintf(why, TILE_LIST_WHY,
                 "no tile is listed; accepted is a path a line, such as "
                 "default/relief/10/512/512.png");
        err = -EINVAL;
    }
    if (err)
        tile_list_free(list);
    return err;
}

void tile_list_free(struct tile_list *list)
{
    struct listed_world *world, *next;
    HASH_ITER(hh, list->worlds, world, next)
    {
        HASH_DEL(list->worlds, world);
        world_release(world->world);
        free(world);
    }
    free(list->tiles);
    *list = (struct tile_list){0};
}
