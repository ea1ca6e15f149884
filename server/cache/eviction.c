#include "eviction.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/cache/tile_walk.h"
#include "server/core/clock.h"

enum {
    /* Tiles sampled for their ages: quantiles are then right within one or two percent. */
    SAMPLE = 4096,
    ABANDONED_SECONDS = 60, /* age of a temporary file whose name doesn't tell its process */
    CLOCK_SLACK = 3600,     /* seconds by which a time may be in the future */
    TEMPORARY_MAX = 64,
};

/* Times of last use, in ns, are below this (the year 2096). A reason to evict a tile before all
 * others subtracts it from the tile's time. */
#define EARLIER (INT64_C(4000000000000000000))

struct aged {
    int64_t last_use;
    uint64_t bytes;
};

struct eviction {
    struct eviction_parts parts;
    uint64_t moved; /* the number of the last file moved aside */
    time_t now;     /* when the walk began */
    bool current;   /* the fingerprint that the walk is in is served */
    /* For the count. */
    struct footprint counted;
    uint64_t tiles, random_state;
    struct aged sample[SAMPLE];
    /* For the deletion. */
    int64_t latest;             /* delete tiles last used up to this time */
    struct footprint size;      /* to be freed */
    struct footprint target;    /* enough is freed if the usage is this */
    struct footprint freed;     /* so far */
    struct footprint unsettled; /* the part of FREED that is not yet in the ledger */
};

int eviction_new(struct eviction **out, const struct eviction_parts *parts)
{
    struct eviction *eviction = calloc(1, sizeof *eviction);
    if (!eviction)
        return -ENOMEM;
    eviction->parts = *parts;
    eviction->random_state = quota_nonce(parts->quota);
    *out = eviction;
    return 0;
}

void eviction_free(struct eviction *eviction)
{
    free(eviction);
}

/* xorshift64*: the sample need not be hard to guess. */
static uint64_t random_below(struct eviction *eviction, uint64_t below)
{
    uint64_t x = eviction->random_state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    eviction->random_state = x;
    return (x * UINT64_C(0x2545f4914f6cdd1d)) % below;
}

/*
 * The order of eviction: tiles with the smallest values go first. Only the order counts, so a clock
 * set forward makes no tile old. If a clock was set back, times may lie in the future; such tiles
 * have not been used since, and go first.
 */
static int64_t last_use(const struct eviction *eviction, const struct stat *status)
{
    int64_t seconds = status->st_mtim.tv_sec;
    int64_t clamped = seconds < 0                       ? 0
                      : seconds >= EARLIER / 1000000000 ? EARLIER / 1000000000 - 1
                                                        : seconds;
    int64_t order = clamped * 1000000000 + status->st_mtim.tv_nsec;
    if (seconds > eviction->now + CLOCK_SLACK)
        order -= EARLIER;
    if (!eviction->current)
        order -= EARLIER;
    return order;
}

static int compare(const void *a, const void *b)
{
    int64_t left = ((const struct aged *)a)->last_use, right = ((const struct aged *)b)->last_use;
    return (left > right) - (left < right);
}

/* Reservoir sampling: all tiles are sampled with the same probability. */
static void sample_tile(struct eviction *eviction, const struct aged *tile)
{
    uint64_t index = eviction->tiles++;
    if (index >= SAMPLE)
        index = random_below(eviction, eviction->tiles);
    if (index < SAMPLE)
        eviction->sample[index] = *tile;
}

/* Find the time of last use up to which deleting tiles frees SIZE. Sorts the sample. */
static int64_t latest_to_delete(struct eviction *eviction, struct footprint size)
{
    size_t count = eviction->tiles < SAMPLE ? (size_t)eviction->tiles : SAMPLE;
    qsort(eviction->sample, count, sizeof *eviction->sample, compare);
    double stands_for = count ? (double)eviction->tiles / (double)count : 1;
    double bytes = 0, files = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += stands_for * (double)eviction->sample[i].bytes;
        files += stands_for;
        if (bytes >= (double)size.bytes && files >= (double)size.files)
            return eviction->sample[i].last_use;
    }
    return INT64_MAX;
}

static bool on_entry(void *context)
{
    struct eviction *eviction = context;
    return eviction->parts.go_on(eviction->parts.go_on_context);
}

static void on_fingerprint(void *context, const char *fingerprint)
{
    struct eviction *eviction = context;
    const struct eviction_parts *parts = &eviction->parts;
    eviction->current = !parts->is_current || parts->is_current(parts->context, fingerprint);
}

static bool is_abandoned(const struct eviction *eviction, const char *name,
                         const struct stat *status)
{
    uint64_t nonce;
    int end = 0;
    if (sscanf(name, TEMPORARY_PREFIX "%16" SCNx64 "-%*u%n", &nonce, &end) == 1 &&
        end > (int)strlen(TEMPORARY_PREFIX) + 16 && name[end] == '\0')
        return !quota_is_alive(eviction->parts.quota, nonce);
    return llabs((long long)(eviction->now - status->st_mtime)) > ABANDONED_SECONDS;
}

static void on_temporary(void *context, int directory, const char *name, const struct stat *status)
{
    struct eviction *eviction = context;
    struct footprint size = footprint_of_file((uint64_t)status->st_size);
    if (is_abandoned(eviction, name, status) && unlinkat(directory, name, 0) == 0)
        quota_evicted(eviction->parts.quota, size);
    else
        eviction->counted = footprint_sum(eviction->counted, size);
}

static int walk(struct eviction *eviction, struct walk callbacks)
{
    callbacks.go_on = on_entry;
    callbacks.temporary = on_temporary;
    callbacks.context = eviction;
    eviction->now = clock_of_day().tv_sec;
    return tile_walk(eviction->parts.directory->fd, &callbacks);
}

int eviction_remove_temporaries(struct eviction *eviction)
{
    return walk(eviction, (struct walk){0});
}

static bool on_counted_tile(void *context, const struct walk_directory *directory, const char *name,
                            const struct stat *status)
{
    struct eviction *eviction = context;
    struct footprint size = footprint_of_file((uint64_t)status->st_size);
    const struct aged tile = {last_use(eviction, status), size.bytes};
    (void)directory, (void)name;
    eviction->counted = footprint_sum(eviction->counted, size);
    sample_tile(eviction, &tile);
    return false;
}

static bool on_counted_directory(void *context, const struct walk_directory *directory)
{
    struct eviction *eviction = context;
    eviction->counted = footprint_sum(eviction->counted,
                                      footprint_of_directory(directory->size, directory->entries));
    return false;
}

/* A full disk must not prevent the count, which is needed to make room for the ledger. */
static bool is_full(int err)
{
    return err == -ENOSPC || err == -EDQUOT;
}

int eviction_count(struct eviction *eviction, struct footprint *used)
{
    struct quota *quota = eviction->parts.quota;
    eviction->counted = quota_of_empty_cache();
    eviction->tiles = 0;
    int ledger_err = quota_count_begin(quota);
    if (ledger_err && !is_full(ledger_err))
        return ledger_err;
    int err = walk(eviction, (struct walk){.fingerprint = on_fingerprint,
                                           .tile = on_counted_tile,
                                           .leave = on_counted_directory});
    if (err)
        return err;
    if (!ledger_err)
        ledger_err = quota_count_end(quota, eviction->counted);
    *used = eviction->counted;
    if (!ledger_err)
        quota_last(quota, used);
    return is_full(ledger_err) ? -ENOSPC : ledger_err;
}

/* Reservations that were not needed make room, too. */
static bool is_enough(const struct eviction *eviction)
{
    struct footprint used;
    return footprint_fits(eviction->size, eviction->freed) ||
           (quota_last(eviction->parts.quota, &used) && footprint_fits(used, eviction->target));
}

/*
 * Count SIZE as freed, without directory entries: a directory that was full once keeps its blocks,
 * so entries are only released when the walk leaves their directory.
 */
static void add_freed(struct eviction *eviction, struct footprint size)
{
    eviction->freed = footprint_sum(eviction->freed, size);
    eviction->unsettled = footprint_sum(eviction->unsettled, size);
}

static void settle(struct eviction *eviction)
{
    if (eviction->unsettled.bytes)
        quota_evicted(eviction->parts.quota, eviction->unsettled);
    eviction->unsettled = (struct footprint){0};
}

static const struct footprint own_entry = {FOOTPRINT_ENTRY, 0};

/*
 * Delete a file. It is renamed to a unique name first, because otherwise a put could replace it
 * between fstatat and unlinkat, and the ledger would release the wrong size.
 */
static bool delete_file(struct eviction *eviction, int directory, const char *name)
{
    const int top = eviction->parts.directory->fd;
    char aside[TEMPORARY_MAX];
    struct stat status;
    /* Numbers beyond those that puts use. */
    snprintf(aside, sizeof aside, TEMPORARY_PREFIX "%016" PRIx64 "-%" PRIu64,
             quota_nonce(eviction->parts.quota), UINT32_MAX + ++eviction->moved);
    if (renameat(directory, name, top, aside))
        return false;
    if (fstatat(top, aside, &status, AT_SYMLINK_NOFOLLOW) == 0 && unlinkat(top, aside, 0) == 0)
        add_freed(eviction,
                  footprint_difference(footprint_of_file((uint64_t)status.st_size), own_entry));
    return true;
}

static bool on_tile(void *context, const struct walk_directory *directory, const char *name,
                    const struct stat *status)
{
    struct eviction *eviction = context;
    return !is_enough(eviction) && last_use(eviction, status) <= eviction->latest &&
           delete_file(eviction, directory->fd, name);
}

static bool on_directory(void *context, const struct walk_directory *directory)
{
    struct eviction *eviction = context;
    const uint64_t deleted_entries = directory->entries - directory->left;
    struct footprint before = footprint_of_directory(directory->size, directory->entries);
    struct footprint after = footprint_of_directory(directory->size, directory->left);
    bool deleted =
        directory->left == 0 && unlinkat(directory->parent, directory->name, AT_REMOVEDIR) == 0;
    before.bytes += deleted_entries * FOOTPRINT_ENTRY;
    add_freed(eviction, footprint_difference(before, deleted ? own_entry : after));
    settle(eviction);
    return deleted;
}

/* Delete tiles last used up to LATEST, in directory order, until enough is freed. */
static int delete_up_to(struct eviction *eviction, int64_t latest)
{
    eviction->latest = latest;
    return walk(
        eviction,
        (struct walk){.fingerprint = on_fingerprint, .tile = on_tile, .leave = on_directory});
}

int eviction_run(struct eviction *eviction, struct footprint size, struct footprint *freed)
{
    struct footprint used;
    int err = 0;

    quota_last(eviction->parts.quota, &used);
    eviction->size = size;
    eviction->target = footprint_difference(used, size);
    eviction->freed = (struct footprint){0};
    const int64_t latest = latest_to_delete(eviction, size);
    /* Walk first for tiles that are not current or from the future, because they must go before any
     * other. */
    if (latest >= 0 && eviction->tiles > 0 && eviction->sample[0].last_use < 0)
        err = delete_up_to(eviction, -1);
    if (!err)
        err = delete_up_to(eviction, latest);
    settle(eviction);
    *freed = eviction->freed;
    return err;
}
