#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/commands/commands.h"
#include "server/prerender/estimate.h"
#include "server/prerender/human_units.h"

enum {
    SAMPLE_MS = 1500,
    SAMPLES = 4096,
    COUNT_MAX = 100000, /* tiles to look for in the cache, at about 2 us each */
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

static uint64_t count_cached(const struct tile_plan *plan, const char *directory)
{
    const uint64_t count = tile_plan_count(plan);
    uint64_t cached = 0;
    char key[TILE_KEY_MAX];
    struct stat status;
    struct tile tile;
    int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        tile_plan_get(plan, i, &tile);
        cached += fstatat(fd, tile_key(&tile, key), &status, AT_SYMLINK_NOFOLLOW) == 0;
    }
    close(fd);
    return cached;
}

static void print_quota(const struct estimate *estimate, struct footprint quota)
{
    char disk[HUMAN_UNITS_TEXT], why[ESTIMATE_WHY];

    if (estimate_fits(quota, estimate->bytes, estimate->files, why))
        printf("They fit the cache: cache.disk is %s, cache.files is %" PRIu64 ".\n",
               human_units_bytes((double)quota.bytes, disk), quota.files);
    else
        printf("They exceed the cache quota, part of which is kept free: %s.\n"
               "Raise it, render a smaller box or fewer zooms, or --shard to several machines.\n",
               why);
}

int dry_run(const struct run_options *options)
{
    char bytes[HUMAN_UNITS_TEXT], time[HUMAN_UNITS_TEXT];
    const struct tile_plan *plan = options->plan;
    const unsigned threads = options->threads;
    const uint64_t count = tile_plan_count(plan);
    struct estimate *estimate;
    int err = estimate_new(&estimate, plan, threads, SAMPLE_MS, SAMPLES, NULL);
    if (err)
        return failed("cannot render a sample: %s", strerror(-err));
    printf("zoom  %-24s %20s %9s %9s %14s\n", "layer", "tiles", "each", "bytes", "time");
    for (size_t i = 0; i < plan->part_count; i++)
        print_part(plan, estimate, i, threads);
    printf("\n%" PRIu64 " tiles: about %s and %.0f files on disk, and %s with %u thread%s.\n",
           count, human_units_bytes(estimate->bytes, bytes), estimate->files,
           human_units_seconds(estimate->seconds, time), threads, threads == 1 ? "" : "s");
    if (count <= COUNT_MAX)
        printf("%" PRIu64 " of them are already in %s.\n", count_cached(plan, options->directory),
               options->directory);
    print_quota(estimate, options->quota);
    free(estimate);
    return command_line_flush();
}
