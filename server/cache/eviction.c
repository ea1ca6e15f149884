#include "eviction.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/cache/tile_walk.h"

enum {
    /* Drawn from all tiles: a quantile of their ages is then right within a percent or two. */
    SAMPLE = 4096,
    ABANDONED_SECONDS = 60, /* a temporary whose maker cannot be told from its name */
    CLOCK_SLACK = 3600,     /* seconds that a tile may come from the future */
};

/* Times of last use are below this (the year 2096); so much earlier is who goes first. */
#define CLASS (INT64_C(4000000000000000000))

struct aged {
    int64_t last_use; /* ns; less by CLASS for each class that is to go before */
    uint64_t bytes;
};

struct eviction {
    struct eviction_parts parts;
    uint64_t moved; /* names of what is being deleted */
    int top;        /* the folder, during a walk */
    time_t now;
    bool current; /* whether the fingerprint is that the walk is in */
    /* The survey's. */
    struct footprint counted;
    uint64_t tiles, chance;
    struct aged sample[SAMPLE];
    /* Eviction's. */
    int64_t latest; /* last use of those that may go */
    struct footprint room, target, freed;
    struct footprint unwritten; /* of freed, what the books do not know */
};

int eviction_new(struct eviction **out, const struct eviction_parts *parts)
{
    struct eviction *sweep = calloc(1, sizeof *sweep);
    if (!sweep)
        return -ENOMEM;
    sweep->parts = *parts;
    sweep->chance = parts->nonce;
    *out = sweep;
    return 0;
}

void eviction_free(struct eviction *sweep)
{
    free(sweep);
}

/* xorshift64*: which tiles are drawn need not be hard to guess. */
static uint64_t draw(struct eviction *sweep, uint64_t below)
{
    uint64_t x = sweep->chance;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    sweep->chance = x;
    return (x * UINT64_C(0x2545f4914f6cdd1d)) % below;
}

/* --- Order ------------------------------------------------------------------- */

/*
 * The smaller, the sooner a tile goes. Only the order counts, so that a clock
 * set forward makes nobody old; when it is set back, tiles from the future
 * have not been asked for since, and go first.
 */
static int64_t last_use(const struct eviction *sweep, const struct stat *status)
{
    int64_t seconds = status->st_mtim.tv_sec;
    int64_t clamped = seconds < 0                     ? 0
                      : seconds >= CLASS / 1000000000 ? CLASS / 1000000000 - 1
                                                      : seconds;
    int64_t order = clamped * 1000000000 + status->st_mtim.tv_nsec;
    if (seconds > sweep->now + CLOCK_SLACK)
        order -= CLASS;
    if (!sweep->current)
        order -= CLASS;
    return order;
}

static int compare(const void *a, const void *b)
{
    int64_t left = ((const struct aged *)a)->last_use, right = ((const struct aged *)b)->last_use;
    return (left > right) - (left < right);
}

/* Reservoir sampling: each tile is in the sample with the same chance. */
static void sample_tile(struct eviction *sweep, const struct aged *tile)
{
    uint64_t place = sweep->tiles++;
    if (place >= SAMPLE)
        place = draw(sweep, sweep->tiles);
    if (place < SAMPLE)
        sweep->sample[place] = *tile;
}

/* The last use up to which tiles must go so that ROOM is made. */
static int64_t latest_to_go(struct eviction *sweep, struct footprint room)
{
    size_t count = sweep->tiles < SAMPLE ? (size_t)sweep->tiles : SAMPLE;
    qsort(sweep->sample, count, sizeof *sweep->sample, compare);
    double stands_for = count ? (double)sweep->tiles / (double)count : 1;
    double bytes = 0, files = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += stands_for * (double)sweep->sample[i].bytes;
        files += stands_for;
        if (bytes >= (double)room.bytes && files >= (double)room.files)
            return sweep->sample[i].last_use;
    }
    return INT64_MAX;
}

/* --- What both passes do ----------------------------------------------------- */

static bool on_entry(void *context)
{
    struct eviction *sweep = context;
    return sweep->parts.go_on(sweep->parts.evictor);
}

static bool on_fingerprint(void *context, const char *fingerprint)
{
    struct eviction *sweep = context;
    sweep->current =
        !sweep->parts.is_current || sweep->parts.is_current(sweep->parts.context, fingerprint);
    return true;
}

/* Whether its maker is dead; or, where it does not tell its maker, whether it is old. */
static bool is_abandoned(const struct eviction *sweep, const char *name, const struct stat *status)
{
    uint64_t nonce;
    int end = 0;
    if (sscanf(name, TEMPORARY_PREFIX "%16" SCNx64 "-%*u%n", &nonce, &end) == 1 &&
        end > (int)strlen(TEMPORARY_PREFIX) + 16 && name[end] == '\0')
        return !quota_alive(sweep->parts.usage, nonce);
    return llabs((long long)(sweep->now - status->st_mtime)) > ABANDONED_SECONDS;
}

static void on_temporary(void *context, int directory, const char *name, const struct stat *status)
{
    struct eviction *sweep = context;
    struct footprint size = footprint_of_file((uint64_t)status->st_size);
    if (is_abandoned(sweep, name, status) && unlinkat(directory, name, 0) == 0)
        quota_evicted(sweep->parts.usage, size);
    else
        sweep->counted = footprint_sum(sweep->counted, size);
}

static void start_walk(struct eviction *sweep)
{
    sweep->top = sweep->parts.directory->fd;
    sweep->now = time(NULL);
}

int eviction_temporaries(struct eviction *sweep)
{
    const struct walk walk = {.go_on = on_entry, .temporary = on_temporary, .context = sweep};
    start_walk(sweep);
    return tile_walk_top(sweep->top, &walk);
}

/* --- Counting ---------------------------------------------------------------- */

static bool on_counted_tile(void *context, const struct walk_folder *directory, const char *name,
                            const struct stat *status)
{
    struct eviction *sweep = context;
    struct footprint size = footprint_of_file((uint64_t)status->st_size);
    const struct aged tile = {last_use(sweep, status), size.bytes};
    (void)directory, (void)name;
    sweep->counted = footprint_sum(sweep->counted, size);
    sample_tile(sweep, &tile);
    return false;
}

static bool on_counted_folder(void *context, const struct walk_folder *directory)
{
    struct eviction *sweep = context;
    sweep->counted =
        footprint_sum(sweep->counted, footprint_of_directory(directory->size, directory->entries));
    return false;
}

/* Books that a full disk does not take are no reason not to count: room must be made for them. */
static bool is_full(int err)
{
    return err == -ENOSPC || err == -EDQUOT;
}

int eviction_begin(struct eviction *sweep)
{
    int err = quota_eviction_begin(sweep->parts.usage);
    /* Where there are no books, nobody's can be spoilt. */
    return is_full(err) ? 0 : err;
}

void eviction_end(struct eviction *sweep)
{
    quota_eviction_end(sweep->parts.usage);
}

int eviction_count(struct eviction *sweep, struct footprint *counted)
{
    const struct walk walk = {on_entry,        on_temporary,      on_fingerprint,
                              on_counted_tile, on_counted_folder, sweep};
    struct quota_mark mark;
    start_walk(sweep);
    sweep->counted = footprint_of_nothing();
    sweep->tiles = 0;
    int books = quota_count_begin(sweep->parts.usage, &mark);
    if (books && !is_full(books))
        return books;
    int err = tile_walk(sweep->top, &walk);
    if (!err && !books)
        books = quota_count_end(sweep->parts.usage, &mark, sweep->counted);
    *counted = sweep->counted;
    err = err ? err : books;
    return is_full(err) ? -ENOSPC : err;
}

/* --- Deleting ---------------------------------------------------------------- */

/* What puts do not need after all makes room, too. */
static bool is_enough(const struct eviction *sweep)
{
    struct footprint used;
    return footprint_fits(sweep->room, sweep->freed) ||
           (quota_last(sweep->parts.usage, &used) && footprint_fits(used, sweep->target));
}

static void gone(struct eviction *sweep, struct footprint size)
{
    sweep->freed = footprint_sum(sweep->freed, size);
    sweep->unwritten = footprint_sum(sweep->unwritten, size);
}

static struct footprint without_entry(struct footprint size)
{
    return (struct footprint){size.bytes - FOOTPRINT_ENTRY, size.files};
}

static void write_down(struct eviction *sweep)
{
    if (sweep->unwritten.bytes)
        quota_evicted(sweep->parts.usage, sweep->unwritten);
    sweep->unwritten = (struct footprint){0};
}

/*
 * Delete a file and count what it was. It is moved aside first, to a name that
 * nobody else has: by the time it is deleted, another may have been put in its place, and
 * what is subtracted must be what went.
 */
static bool delete_file(struct eviction *sweep, int directory, const char *name)
{
    char aside[64];
    struct stat status;
    /* A number that no put comes to. */
    snprintf(aside, sizeof aside, TEMPORARY_PREFIX "%016" PRIx64 "-%" PRIu64, sweep->parts.nonce,
             UINT32_MAX + ++sweep->moved);
    if (renameat(directory, name, sweep->top, aside))
        return false;
    if (fstatat(sweep->top, aside, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        unlinkat(sweep->top, aside, 0) == 0)
        gone(sweep, without_entry(footprint_of_file((uint64_t)status.st_size)));
    return true;
}

static bool on_tile(void *context, const struct walk_folder *directory, const char *name,
                    const struct stat *status)
{
    struct eviction *sweep = context;
    return !is_enough(sweep) && last_use(sweep, status) <= sweep->latest &&
           delete_file(sweep, directory->fd, name);
}

/*
 * What entries took up is only given back here: the blocks of a folder that was
 * full once stay with it, unless it is deleted. So an entry is not part of what is gone
 * when a tile or a folder goes, but when the folder around it is left.
 */
static bool on_folder(void *context, const struct walk_folder *directory)
{
    struct eviction *sweep = context;
    struct footprint before = footprint_of_directory(directory->size, directory->entries);
    struct footprint after = footprint_of_directory(directory->size, directory->left);
    struct footprint entries = {(directory->entries - directory->left) * FOOTPRINT_ENTRY, 0};
    bool deleted =
        directory->left == 0 && unlinkat(directory->parent, directory->name, AT_REMOVEDIR) == 0;
    if (deleted)
        gone(sweep, footprint_sum(entries, without_entry(before)));
    else
        gone(sweep, footprint_less(footprint_sum(entries, before), after));
    write_down(sweep);
    return deleted;
}

/* Delete tiles that were last used by LATEST, in the order of their folders, until it is enough. */
static int evict(struct eviction *sweep, int64_t latest)
{
    const struct walk walk = {on_entry, on_temporary, on_fingerprint, on_tile, on_folder, sweep};
    sweep->latest = latest;
    return tile_walk(sweep->top, &walk);
}

int eviction_run(struct eviction *sweep, struct footprint room, struct footprint *freed)
{
    struct footprint used;
    int err = 0;

    start_walk(sweep);
    quota_last(sweep->parts.usage, &used);
    sweep->room = room;
    sweep->target = footprint_less(used, room);
    sweep->freed = (struct footprint){0};
    const int64_t latest = latest_to_go(sweep, room);
    /* Before any other, whatever folder comes first: those that are not current, or of the future.
     */
    if (latest >= 0 && sweep->tiles > 0 && sweep->sample[0].last_use < 0)
        err = evict(sweep, -1);
    if (!err)
        err = evict(sweep, latest);
    write_down(sweep);
    *freed = sweep->freed;
    return err;
}
