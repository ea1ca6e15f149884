#include "tile_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "server/routing/resolve.h"
#include "server/world/worlds.h"

enum { LINE_BYTES = 8192 }; /* the longest URL that is served */

/* A world by its name in the list, NAME or NAME:SEED. */
struct listed_world {
    const struct world *world;
    char name[WORLD_SEEDED_NAME_MAX];
    UT_hash_handle hh;
};

/* Returns the world, held by an earlier line or now; NULL with a message in WHY. */
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
        snprintf(why, ROUTE_WHY, "more than %d worlds; expected fewer per list", TILE_LIST_WORLDS);
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
                     struct tile_address *address, char why[ROUTE_WHY])
{
    struct route route;
    struct tile tile;

    if (resolve_path(path, &route, why))
        return -EINVAL;
    const struct world *world = find_world(list, worlds, &route, why);
    if (!world || resolve_tile(world, &route, &tile, why))
        return -EINVAL;
    *address = tile.address;
    if (format_is_picture(address->format))
        return 0;
    snprintf(why, ROUTE_WHY, "extension: \"%.20s\" is never cached; expected png or webp",
             route.extension);
    return -EINVAL;
}

static int append(struct tile_list *list, size_t *capacity, const struct tile_address *tile)
{
    if (list->count == *capacity) {
        const size_t more = *capacity ? 2 * *capacity : 1024;
        struct tile_address *tiles = reallocarray(list->tiles, more, sizeof *tiles);
        if (!tiles)
            return -ENOMEM;
        list->tiles = tiles;
        *capacity = more;
    }
    list->tiles[list->count++] = *tile;
    return 0;
}

/* Read a line without its \n or \r\n. Returns the length; LINE_BYTES if the line is too long,
 * leaving the rest unread; -1 at the end or on an error. */
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
                     int length, struct tile_address *tile, char why[ROUTE_WHY])
{
    if (length == LINE_BYTES)
        snprintf(why, ROUTE_WHY, "longer than %d bytes", LINE_BYTES - 1);
    else if (memchr(line, '\0', (size_t)length))
        snprintf(why, ROUTE_WHY, "contains a NUL byte; expected text");
    else
        return find_tile(list, worlds, line, tile, why);
    return -EINVAL;
}

static int read_lines(struct tile_list *list, FILE *in, const struct worlds *worlds,
                      char why[TILE_LIST_WHY])
{
    char line[LINE_BYTES], line_why[ROUTE_WHY];
    size_t capacity = 0;
    unsigned long long number = 0;
    int err = 0;

    for (int length; !err && (length = next_line(in, line)) >= 0;) {
        struct tile_address tile;
        number++;
        if (length == 0)
            continue;
        err = read_line(list, worlds, line, length, &tile, line_why);
        if (err)
            snprintf(why, TILE_LIST_WHY, "line %llu: %s", number, line_why);
        else
            err = append(list, &capacity, &tile);
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
                 "no paths; expected one per line, such as "
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
    HASH_CLEAR(hh, list->worlds); /* frees only the table: the worlds are still linked */
    for (; world; world = next) {
        next = world->hh.next;
        world_release(world->world);
        free(world);
    }
    free(list->tiles);
    *list = (struct tile_list){0};
}
