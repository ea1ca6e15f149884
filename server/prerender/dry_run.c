#include "dry_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/cache/disk_cache.h"
#include "server/commands/command_line.h"
#include "server/prerender/estimate.h"
#include "server/prerender/human_units.h"

enum {
    SAMPLE_MS = 1500,
    SAMPLES = 4096,
    LOOKED_FOR = 100000, /* tiles, at about 2 us each */
};

static void print_part(const struct tile_plan *plan, const struct estimate *estimate, size_t number,
                       unsigned threads)
{
    const struct tile_part *part = &plan->part[number];
    const struct part_estimate *each = &estimate->part[number];
    const uint64_t tiles = tile_plan_count_part(plan, number);
    char bytes[HUMAN_UNITS_TEXT], mean[HUMAN_UNITS_TEXT], time[HUMAN_UNITS_TEXT], name[128];

    snprintf(name, sizeof name, "%s/%s%s", part->world->config.name, layers[part->layer].name,
             part->scale == 2 ? " @2x" : "");
    printf("%4d  %-24s %20" PRIu64 " %9s %9s %14s\n", part->z, name, tiles,
           human_units_bytes(each->bytes, mean),
           human_units_bytes(each->bytes * (double)tiles, bytes),
           human_units_seconds(each->ns / 1e9 / threads * (double)tiles, time));
}

/* Of few tiles, how many are there; whether they were looked for. */
static bool count_there(const struct tile_plan *plan, const char *directory, uint64_t *there)
{
    const uint64_t count = tile_plan_count(plan);
    char key[TILE_KEY_MAX];
    struct stat status;
    struct tile tile;

    *there = 0;
    if (count > LOOKED_FOR)
        return false;
    int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (uint64_t i = 0; fd >= 0 && i < count; i++) {
        tile_plan_get(plan, i, &tile);
        *there += fstatat(fd, tile_key(&tile, key), &status, AT_SYMLINK_NOFOLLOW) == 0;
    }
    if (fd >= 0)
        close(fd);
    return true;
}

static void print_quota(const struct estimate *estimate, const struct config *config)
{
    const struct footprint quota = {config->cache.disk, config->cache.files};
    const struct footprint keeps = disk_cache_keeps(quota);
    const double share = (double)keeps.files / (double)quota.files;
    char disk[HUMAN_UNITS_TEXT], needed[HUMAN_UNITS_TEXT];

    human_units_bytes((double)quota.bytes, disk);
    if (estimate->bytes <= (double)keeps.bytes && estimate->files <= (double)keeps.files) {
        printf("That fits the cache: cache.disk is %s, cache.files %" PRIu64 ".\n", disk,
               quota.files);
        return;
    }
    printf("That does not fit the cache, which needs %.0f %% of its quota to spare:\n",
           100 - 100 * share);
    if (estimate->bytes > (double)keeps.bytes)
        printf("cache.disk is %s, and would have to be %s;\n", disk,
               human_units_bytes(estimate->bytes / share, needed));
    if (estimate->files > (double)keeps.files)
        printf("cache.files is %" PRIu64 ", and would have to be %.0f;\n", quota.files,
               ceil(estimate->files / share));
    puts("or render a smaller box, fewer zooms, or shards into the caches of several machines.");
}

int dry_run(const struct tile_plan *plan, const struct config *config, const char *directory,
            unsigned threads)
{
    char bytes[HUMAN_UNITS_TEXT], time[HUMAN_UNITS_TEXT];
    struct estimate *estimate;
    uint64_t there;
    int err = estimate_new(&estimate, plan, threads, SAMPLE_MS, SAMPLES, NULL);
    if (err) {
        fprintf(stderr, "farlands: no sample could be rendered: %s\n", strerror(-err));
        return EXIT_FAILED;
    }
    printf("zoom  %-24s %20s %9s %9s %14s\n", "layer", "tiles", "each", "bytes", "time");
    for (size_t i = 0; i < plan->part_count; i++)
        print_part(plan, estimate, i, threads);
    printf("\n%" PRIu64 " tiles: about %s and %.0f files on disk, and %s with %u thread%s.\n",
           tile_plan_count(plan), human_units_bytes(estimate->bytes, bytes), estimate->files,
           human_units_seconds(estimate->seconds, time), threads, threads == 1 ? "" : "s");
    if (count_there(plan, directory, &there))
        printf("%" PRIu64 " of them are in %s already.\n", there, directory);
    print_quota(estimate, config);
    free(estimate);
    return command_line_flush();
}
