#include "tile_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "server/routing/resolve.h"

enum { LINE_BYTES = 8192 }; /* as long as a URL may be */

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
    if (HASH_COUNT(list->worlds) == TILE_LIST_WORLDS) {
        snprintf(why, ROUTE_WHY, "more than %d worlds; accepted are fewer, in several lists",
                 TILE_LIST_WORLDS);
        return NULL;
    }
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

/*
 * The next line, without what ends lines in any system. Returns its length; LINE_BYTES where it is
 * longer than any path and the rest has not been read; -1 at the end, or where reading failed.
 */
static int next_line(FILE *in, char line[LINE_BYTES])
{
    int length = 0, byte = 0;
    while (length < LINE_BYTES && (byte = getc_unlocked(in)) != EOF && byte != '\n')
        line[length++] = (char)byte;
    if (length == LINE_BYTES)
        return length;
    if (ferror(in) || (byte == EOF && length == 0))
        return -1;
    while (length > 0 && line[length - 1] == '\r')
        length--;
    line[length] = '\0';
    return length;
}

static int read_line(struct tile_list *list, const struct worlds *worlds, const char *line,
                     int length, struct tile *tile, char why[ROUTE_WHY])
{
    if (length == LINE_BYTES)
        snprintf(why, ROUTE_WHY, "longer than %d bytes, which no path is", LINE_BYTES - 1);
    else if (memchr(line, '\0', (size_t)length))
        snprintf(why, ROUTE_WHY, "a byte 0, which is in no path; accepted is text");
    else
        return find_tile(list, worlds, line, tile, why);
    return -EINVAL;
}

static int read_lines(struct tile_list *list, FILE *in, const struct worlds *worlds,
                      char why[TILE_LIST_WHY])
{
    char line[LINE_BYTES], wrong[ROUTE_WHY];
    size_t room = 0;
    unsigned long long number = 0;
    int err = 0;

    for (int length; !err && (length = next_line(in, line)) >= 0;) {
        struct tile tile;
        number++;
        if (length == 0)
            continue;
        err = read_line(list, worlds, line, length, &tile, wrong);
        if (err)
            snprintf(why, TILE_LIST_WHY, "line %llu: %s", number, wrong);
        else
            err = append(list, &room, &tile);
    }
    if (!err && ferror(in))
        err = errno ? -errno : -EIO;
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
    struct listed_world *world = list->worlds, *next;
    HASH_CLEAR(hh, list->worlds); /* the table; they are linked still */
    for (; world; world = next) {
        next = world->hh.next;
        world_release(world->world);
        free(world);
    }
    free(list->tiles);
    *list = (struct tile_list){0};
}
