#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "server/commands/commands.h"
#include "server/core/clock.h"
#include "server/prerender/estimate.h"
#include "server/prerender/file_system.h"
#include "server/prerender/human_units.h"
#include "server/prerender/prerender.h"
#include "server/prerender/progress.h"
#include "server/telemetry/log.h"

enum {
    NICENESS = 10, /* below a daemon's renders */
    TICK_MS = 50,
    SAMPLE_MS = 1000,
    SAMPLES = 400,
    DRY_RUN_MS = 1500,
    DRY_RUN_SAMPLES = 4096,
    COUNT_MAX = 100000, /* tiles to look for in the cache, at about 2 us each */
    SAMPLED_MIN = 200,  /* fewer tiles are not worth samples */
    TILE_MAX = 1 << 20, /* bytes */
};

static const double SECOND_SIGNAL_SECONDS = 0.5;

static int interrupted;                /* atomic */
static volatile double interrupted_at; /* used by the signal handler only */

struct run {
    const struct run_options *options;
    struct prerender_parts parts;
    struct prerender_tally tally;
    struct progress progress;
    double started;
};

static double seconds_now(void)
{
    return (double)clock_ns(NULL) / 1e9;
}

static bool is_interrupted(void)
{
    return __atomic_load_n(&interrupted, __ATOMIC_RELAXED);
}

/* Signals within half a second count as one: timeout(1), and a shell at Ctrl-C, signal both the
 * child and its process group. */
static void on_signal(int number)
{
    const double now = seconds_now();
    if (!is_interrupted()) {
        interrupted_at = now;
        __atomic_store_n(&interrupted, 1, __ATOMIC_RELAXED);
    } else if (now - interrupted_at > SECOND_SIGNAL_SECONDS) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigaction before;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup(1) */
        sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* the reader of the progress may leave */
    signal(SIGXFSZ, SIG_IGN); /* writes return EFBIG instead */
}

/* New threads inherit the priority. */
static void lower_priority(void)
{
    if (getpriority(PRIO_PROCESS, 0) < NICENESS)
        setpriority(PRIO_PROCESS, 0, NICENESS);
}

static int report_archive_error(const struct run *run, int err)
{
    char why[UNFINISHED_FILE_WHY];
    return failed("%s", archive_explain(run->parts.archive, run->options->archive, err, why));
}

static uint64_t count_cached(const struct tile_plan *plan, const char *directory)
{
    const uint64_t count = tile_plan_count(plan);
    uint64_t cached = 0;
    char key[TILE_KEY_MAX];
    struct stat status;
    struct tile_address tile;
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

/* True if ESTIMATE's tiles, without the CACHED ones, fit the disk as far as known: other tiles may
 * be evicted, which would free space. */
static bool fits_disk(const struct run_options *options, const struct estimate *estimate,
                      uint64_t cached, struct footprint *space, char why[ESTIMATE_WHY])
{
    const double count = (double)tile_plan_count(options->plan);
    const double missing = count > 0 ? 1 - (double)cached / count : 0;
    *space = (struct footprint){UINT64_MAX, UINT64_MAX};
    file_system_space(options->directory, space);
    return estimate_fits_disk(*space, estimate->bytes * missing, estimate->files * missing, why);
}

/* Warn before rendering tiles that will not all fit. */
static void warn_if_too_many(const struct run_options *options, const struct estimate *estimate)
{
    const uint64_t count = tile_plan_count(options->plan);
    const uint64_t cached =
        count <= COUNT_MAX ? count_cached(options->plan, options->directory) : 0;
    struct footprint space;
    char why[ESTIMATE_WHY];

    if (!estimate_fits(options->quota, estimate->bytes, estimate->files, why))
        failed("%" PRIu64 " tiles exceed the cache quota, rendering will stop when it is full; %s",
               count, why);
    else if (!fits_disk(options, estimate, cached, &space, why))
        failed("%" PRIu64 " tiles exceed the free space of the disk, rendering will stop when it "
               "is full; %s",
               count - cached, why);
}

/* Sample the plan to estimate the remaining time, and to warn if the tiles exceed the quota or the
 * disk. */
static int sample(struct run *run)
{
    const struct run_options *options = run->options;
    const struct tile_plan *plan = options->plan;
    const uint64_t count = tile_plan_count(plan);
    struct estimate *estimate;
    char why[ESTIMATE_WHY];

    for (size_t i = 0; i < plan->part_count; i++)
        run->parts.work[i].tiles = tile_plan_count_part(plan, i);
    if (count < SAMPLED_MIN &&
        estimate_fits(options->quota, (double)count * TILE_MAX, (double)count, why))
        return 0;
    const uint64_t samples = count / 50 < SAMPLES ? count / 50 + 1 : SAMPLES;
    int err =
        estimate_new(&estimate, plan, options->threads, SAMPLE_MS, samples, NULL, is_interrupted);
    if (err)
        return err;
    for (size_t i = 0; i < plan->part_count; i++)
        run->parts.work[i].sampled_ns = estimate->part[i].ns;
    if (!options->archive)
        warn_if_too_many(options, estimate);
    free(estimate);
    return 0;
}

static void show_progress(struct run *run, bool verify)
{
    const struct prerender_parts *parts = &run->parts;
    const struct prerender_tally *tally = &run->tally;
    const struct progress_state state = {
        .action = verify ? "verified" : "done",
        .done = tally->found + tally->rendered + tally->missing,
        .total = tally->total,
        .rendered = verify ? tally->found : tally->rendered,
        .seconds_left =
            verify ? -1 : eta_seconds(parts->work, parts->plan->part_count, parts->threads),
        .pending = tally->pending > 0,
    };
    progress_show(&run->progress, &state);
}

/* Render, or verify, all tiles. */
static int go_through(struct run *run, bool verify)
{
    struct prerender *prerender;
    bool stopped = false;
    int err = prerender_start(&prerender, &run->parts, verify);
    if (err)
        return err;
    while (!prerender_wait(prerender, TICK_MS)) {
        prerender_tally(prerender, &run->tally);
        show_progress(run, verify);
        if (is_interrupted() && !stopped) {
            prerender_stop(prerender);
            stopped = true;
        }
    }
    prerender_tally(prerender, &run->tally);
    prerender_free(prerender);
    progress_end(&run->progress);
    return 0;
}

static int report_end(const struct run *run)
{
    const struct prerender_tally *tally = &run->tally;
    const char *directory = run->options->directory;
    const uint64_t done = tally->found + tally->rendered;
    const double all = done ? (double)tally->total / (double)done : 1;
    char why[ESTIMATE_WHY] = "", path[TILE_PATH_MAX] = "";
    const char *world = "", *error = strerror(-tally->err);

    if (tally->end == PRERENDER_RENDER || tally->end == PRERENDER_STORE) {
        world = tally->tile.world->name;
        tile_url(&tally->tile, path);
    }
    switch (tally->end) {
    case PRERENDER_QUOTA:
        estimate_fits(run->options->quota, (double)tally->size.bytes * all,
                      (double)tally->size.files * all, why);
        failed("the requested tiles exceed the cache quota; %s", why);
        break;
    case PRERENDER_CROWDED:
        failed("%s: timed out waiting for free space", directory);
        break;
    case PRERENDER_RENDER:
        failed("%s/%s could not be rendered: %s", world, path, error);
        break;
    case PRERENDER_STORE:
        failed("%s/%s could not be stored in %s: %s", world, path, directory,
               tally->err == -ECANCELED ? "storing has failed" : error);
        break;
    case PRERENDER_ARCHIVE:
        report_archive_error(run, tally->err);
        break;
    default:
        failed("interrupted");
    }
    if (run->options->archive)
        return failed("%s was not written; %" PRIu64 " of %" PRIu64
                      " tiles were ready, and the cache keeps those that fit",
                      run->options->archive, done, tally->total);
    return failed("%" PRIu64 " of %" PRIu64 " tiles are in the cache, %" PRIu64
                  " of them rendered now; run the same command again to continue",
                  done, tally->total, tally->rendered);
}

/* Another process may have deleted tiles in the meantime. */
static int verify(struct run *run)
{
    const struct prerender_tally made = run->tally;
    char bytes[HUMAN_UNITS_TEXT], time[HUMAN_UNITS_TEXT];
    int err = go_through(run, true);
    if (err)
        return failed("%s", strerror(-err));
    if (run->tally.missing > 0)
        return failed("%" PRIu64 " of %" PRIu64 " tiles were deleted from %s during the run; run "
                      "the same command again to render them",
                      run->tally.missing, made.total, run->options->directory);
    if (run->tally.found < made.total)
        return failed("interrupted: all tiles were rendered, but not all were verified");
    printf("farlands: %" PRIu64 " tiles are in the cache, %s: %" PRIu64 " rendered, %" PRIu64
           " already there, in %s\n",
           made.total, human_units_bytes((double)made.size.bytes, bytes), made.rendered, made.found,
           human_units_seconds(seconds_now() - run->started, time));
    return command_line_flush();
}

static int finish_archive(struct run *run)
{
    const struct prerender_tally *tally = &run->tally;
    char time[HUMAN_UNITS_TEXT];
    int err = archive_finish(run->parts.archive);
    if (err)
        return report_archive_error(run, err);
    printf("farlands: %" PRIu64 " tiles are in %s: %" PRIu64 " rendered, %" PRIu64
           " from the cache, in %s\n",
           tally->total, run->options->archive, tally->rendered, tally->found,
           human_units_seconds(seconds_now() - run->started, time));
    return command_line_flush();
}

static int make_all(struct run *run)
{
    const struct prerender_tally *tally = &run->tally;
    int err = sample(run);
    if (err)
        return failed("%s", strerror(-err));
    progress_begin(&run->progress);
    err = go_through(run, false);
    if (err)
        return failed("%s", strerror(-err));
    if (run->options->archive && tally->archived == tally->total)
        return finish_archive(run);
    if (!run->options->archive && tally->found + tally->rendered == tally->total)
        return verify(run);
    return report_end(run);
}

/* The archive comes first: if creating it fails, no cache directory is made. */
static int open_outputs(struct run *run)
{
    const struct run_options *options = run->options;
    int err = 0;
    if (options->archive)
        err = archive_new(&run->parts.archive, options->archive, options->tileset);
    if (err)
        return report_archive_error(run, err);
    err = disk_cache_open(&run->parts.cache, options->directory, &options->quota, NULL, NULL);
    if (err)
        return failed("cannot use the cache directory %s: %s", options->directory, strerror(-err));
    return EXIT_DONE;
}

int run_prerender(const struct run_options *options)
{
    struct run run = {
        .options = options,
        .parts = {.plan = options->plan, .quota = options->quota, .threads = options->threads},
        .started = seconds_now()};
    log_start(LOG_ERROR); /* the messages below say everything else */
    lower_priority();
    catch_signals();
    run.parts.work = calloc(options->plan->part_count, sizeof *run.parts.work);
    if (!run.parts.work)
        return failed("%s", strerror(ENOMEM));
    int code = open_outputs(&run);
    if (!code)
        code = make_all(&run);
    disk_cache_close(run.parts.cache);
    archive_free(run.parts.archive);
    free(run.parts.work);
    return code;
}

static void print_part(const struct tile_plan *plan, const struct estimate *estimate, size_t number,
                       unsigned threads)
{
    const struct tile_part *part = &plan->part[number];
    const struct part_estimate *each = &estimate->part[number];
    const uint64_t tiles = tile_plan_count_part(plan, number);
    char bytes[HUMAN_UNITS_TEXT], mean[HUMAN_UNITS_TEXT], time[HUMAN_UNITS_TEXT];
    char layer[LAYER_NAME_MAX], name[sizeof part->world->name + LAYER_NAME_MAX + 16];

    snprintf(name, sizeof name, "%s/%s%s%s", part->world->name,
             layer_name(part->world, part->layer, part->field, layer),
             part->scale == 2 ? " @2x" : "", part->border ? " border" : "");
    printf("%4d  %-24s %20" PRIu64 " %9s %9s %14s\n", part->z, name, tiles,
           human_units_bytes(each->bytes, mean),
           human_units_bytes(each->bytes * (double)tiles, bytes),
           human_units_seconds(each->ns / 1e9 / threads * (double)tiles, time));
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

static void print_disk(const struct run_options *options, const struct estimate *estimate,
                       uint64_t cached)
{
    char bytes[HUMAN_UNITS_TEXT], why[ESTIMATE_WHY];
    struct footprint space;

    if (!fits_disk(options, estimate, cached, &space, why))
        printf("They exceed the free space of the disk: %s.\n", why);
    else if (space.bytes < UINT64_MAX)
        printf("They fit the disk: %s are free.\n", human_units_bytes((double)space.bytes, bytes));
}

static void print_estimate(const struct run_options *options, const struct estimate *estimate)
{
    char bytes[HUMAN_UNITS_TEXT], time[HUMAN_UNITS_TEXT];
    const struct tile_plan *plan = options->plan;
    const unsigned threads = options->threads;
    const uint64_t count = tile_plan_count(plan);
    const bool counted = count <= COUNT_MAX;
    const uint64_t cached = counted ? count_cached(plan, options->directory) : 0;

    printf("zoom  %-24s %20s %9s %9s %14s\n", "layer", "tiles", "each", "bytes", "time");
    for (size_t i = 0; i < plan->part_count; i++)
        print_part(plan, estimate, i, threads);
    printf("\n%" PRIu64 " tiles: about %s and %.0f files on disk, and %s with %u thread%s.\n",
           count, human_units_bytes(estimate->bytes, bytes), estimate->files,
           human_units_seconds(estimate->seconds, time), threads, threads == 1 ? "" : "s");
    if (estimate->store_err)
        printf("The time is without storing, which could not be measured in %s: %s.\n",
               options->directory, strerror(-estimate->store_err));
    if (counted)
        printf("%" PRIu64 " of them are already in %s.\n", cached, options->directory);
    print_quota(estimate, options->quota);
    print_disk(options, estimate, cached);
}

int dry_run(const struct run_options *options)
{
    struct trial_store *store = NULL;
    struct estimate *estimate;

    log_start(LOG_ERROR);
    lower_priority();
    catch_signals();
    const int store_err = trial_store_new(&store, options->directory);
    int err = estimate_new(&estimate, options->plan, options->threads, DRY_RUN_MS, DRY_RUN_SAMPLES,
                           store, is_interrupted);
    trial_store_free(store);
    if (err)
        return failed("cannot render a sample: %s", strerror(-err));
    if (store_err)
        estimate->store_err = store_err;
    if (!is_interrupted())
        print_estimate(options, estimate);
    free(estimate);
    return is_interrupted() ? failed("interrupted") : command_line_flush();
}
