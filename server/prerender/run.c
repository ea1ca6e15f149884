#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

#include "server/commands/command_line.h"
#include "server/prerender/estimate.h"
#include "server/prerender/human_units.h"
#include "server/prerender/prerender.h"
#include "server/prerender/progress.h"
#include "server/telemetry/log.h"

enum {
    NICENESS = 10, /* a daemon's renders, and all others, go first */
    TICK_MS = 50,
    SAMPLE_MS = 1000,
    SAMPLES = 400,
    FEW = 200,           /* tiles: samples of them would cost as much */
    TILE_MOST = 1 << 20, /* bytes: no tile is larger */
};

/* Between two signals that are two. */
static const double AGAIN_SECONDS = 0.5;

static int interrupted;                /* atomic */
static volatile double interrupted_at; /* of the one thread that has the signals */

static double seconds_now(void)
{
    return (double)uv_hrtime() / 1e9;
}

static bool is_interrupted(void)
{
    return __atomic_load_n(&interrupted, __ATOMIC_RELAXED);
}

static bool goes_on(void)
{
    return !is_interrupted();
}

/* The second one is not waited for: it kills. But what comes at once is the first one again:
 * timeout(1) tells its child and then its whole group, and so does a shell's child at Ctrl-C. */
static void on_signal(int number)
{
    const double now = seconds_now();
    if (!is_interrupted()) {
        interrupted_at = now;
        __atomic_store_n(&interrupted, 1, __ATOMIC_RELAXED);
    } else if (now - interrupted_at > AGAIN_SECONDS) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

/* A terminal that is closed is an end as well, unless nohup says otherwise; but whoever reads what
 * is told of progress may leave, and the tiles are made all the same. */
static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigaction before;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that must not be so large: EFBIG says so, too */
}

/* Threads have it from the one that makes them. */
static void give_way(void)
{
    const int now = getpriority(PRIO_PROCESS, 0);
    if (now < NICENESS)
        setpriority(PRIO_PROCESS, 0, NICENESS);
}

/* --- Before -------------------------------------------------------------------- */

/* Whether so many bytes and files would not stay in the cache. */
static bool exceeds(const struct prerender_run *fill, double bytes, double files)
{
    const struct footprint keeps = disk_cache_keeps(fill->quota);
    return bytes > (double)keeps.bytes || files > (double)keeps.files;
}

/* What cache.disk and cache.files say, and, where they are too small for BYTES and FILES, what they
 * would have to be. */
static void tell_quota(const struct prerender_run *fill, double bytes, double files)
{
    const struct footprint keeps = disk_cache_keeps(fill->quota);
    const double share = (double)keeps.files / (double)fill->quota.files;
    char disk[HUMAN_UNITS_TEXT], needed[HUMAN_UNITS_TEXT];

    if (bytes > (double)keeps.bytes)
        fprintf(stderr, "; cache.disk is %s, about %s would be needed",
                human_units_bytes((double)fill->quota.bytes, disk),
                human_units_bytes(bytes / share, needed));
    if (files > (double)keeps.files)
        fprintf(stderr, "; cache.files is %" PRIu64 ", about %.0f would be needed",
                fill->quota.files, ceil(files / share));
    fputc('\n', stderr);
}

/* Samples, where they are worth their time, for what is left of time and bytes; and a warning. */
static int look_ahead(const struct prerender_run *fill, struct part_work *work)
{
    const uint64_t count = tile_plan_count(fill->plan);
    struct estimate *estimate;

    for (size_t i = 0; i < fill->plan->part_count; i++)
        work[i].tiles = tile_plan_count_part(fill->plan, i);
    if (count < FEW && !exceeds(fill, (double)count * TILE_MOST, (double)count))
        return 0;
    const uint64_t samples = count / 50 < SAMPLES ? count / 50 + 1 : SAMPLES;
    int err = estimate_new(&estimate, fill->plan, fill->threads, SAMPLE_MS, samples, goes_on);
    if (err)
        return err;
    for (size_t i = 0; i < fill->plan->part_count; i++)
        work[i].sampled = estimate->part[i].ns;
    if (!fill->archive && exceeds(fill, estimate->bytes, estimate->files)) {
        fprintf(stderr,
                "farlands: %" PRIu64 " tiles are more than the cache keeps: it will end when that "
                "is full",
                count);
        tell_quota(fill, estimate->bytes, estimate->files);
    }
    free(estimate);
    return 0;
}

/* --- Meanwhile ----------------------------------------------------------------- */

static void show(struct progress *progress, const struct prerender_tally *tally,
                 const struct prerender_parts *parts, bool check)
{
    const struct progress_state state = {
        .doing = check ? "looked for" : "done",
        .done = tally->found + tally->rendered + tally->missing,
        .total = tally->total,
        .rendered = check ? tally->found : tally->rendered,
        .seconds_left =
            check ? -1 : eta_seconds(parts->work, parts->plan->part_count, parts->threads),
        .pending = tally->pending > 0,
    };
    progress_show(progress, &state);
}

/* To the end of making, or of looking for, all tiles. */
static int go_through(const struct prerender_parts *parts, struct progress *progress, bool check,
                      struct prerender_tally *tally)
{
    struct prerender *run;
    bool told = false;
    int err = prerender_start(&run, parts, check);
    if (err)
        return err;
    while (!prerender_wait(run, TICK_MS)) {
        prerender_tally(run, tally);
        show(progress, tally, parts, check);
        if (is_interrupted() && !told) {
            prerender_stop(run);
            told = true;
        }
    }
    prerender_tally(run, tally);
    prerender_free(run);
    progress_end(progress);
    return 0;
}

/* --- After --------------------------------------------------------------------- */

static void tell_tile(const struct prerender_tally *tally)
{
    char path[TILE_PATH_MAX];
    fprintf(stderr, "%s/%s", tally->tile.world->config.name, tile_path(&tally->tile, path));
}

/* Why it ended before all was done. */
static void tell_end(const struct prerender_run *fill, const struct prerender_parts *parts,
                     const struct prerender_tally *tally)
{
    char why[MBTILES_WHY];
    const uint64_t there = tally->found + tally->rendered;
    const double all = there ? (double)tally->total / (double)there : 1;

    fputs("farlands: ", stderr);
    switch (tally->end) {
    case PRERENDER_QUOTA:
        fprintf(stderr, "the cache's quota is full of tiles that are wanted");
        tell_quota(fill, (double)tally->size.bytes * all, (double)tally->size.files * all);
        break;
    case PRERENDER_CROWDED:
        fprintf(stderr, "%s: no room was made for more\n", fill->directory);
        break;
    case PRERENDER_RENDER:
        tell_tile(tally);
        fprintf(stderr, " could not be rendered: %s\n", strerror(-tally->err));
        break;
    case PRERENDER_STORE:
        tell_tile(tally);
        fprintf(stderr, " could not be stored in %s: %s\n", fill->directory,
                tally->err == -ECANCELED ? "storing has failed" : strerror(-tally->err));
        break;
    case PRERENDER_ARCHIVE:
        fprintf(stderr, "%s\n", mbtiles_explain(parts->archive, fill->archive, tally->err, why));
        break;
    default:
        fputs("interrupted\n", stderr);
    }
    if (fill->archive)
        fprintf(stderr,
                "farlands: nothing is left of %s, but %" PRIu64 " of %" PRIu64
                " tiles were rendered, and those that the cache has room for are there\n",
                fill->archive, there, tally->total);
    else
        fprintf(stderr,
                "farlands: %" PRIu64 " of %" PRIu64 " tiles are there, %" PRIu64
                " of them rendered now; the same command goes on from there\n",
                there, tally->total, tally->rendered);
}

static int tell_failure(int err)
{
    fprintf(stderr, "farlands: %s\n", strerror(-err));
    return EXIT_FAILED;
}

/* All was made; others may have deleted some of it meanwhile. */
static int check(const struct prerender_run *fill, const struct prerender_parts *parts,
                 struct progress *progress, const struct prerender_tally *made, double started)
{
    char bytes[HUMAN_UNITS_TEXT], time[HUMAN_UNITS_TEXT];
    struct prerender_tally tally;
    int err = go_through(parts, progress, true, &tally);
    if (err)
        return tell_failure(err);
    if (tally.missing > 0) {
        fprintf(stderr,
                "farlands: %" PRIu64 " of %" PRIu64 " tiles have been deleted from %s meanwhile, "
                "by someone or for the sake of its quota; the same command makes them again\n",
                tally.missing, tally.total, fill->directory);
        return EXIT_FAILED;
    }
    if (tally.found < tally.total) {
        fputs("farlands: interrupted: all tiles are made, but not all were looked for again\n",
              stderr);
        return EXIT_FAILED;
    }
    printf("farlands: %" PRIu64 " tiles are there, %s: %" PRIu64 " rendered, %" PRIu64
           " there before, in %s\n",
           made->total, human_units_bytes((double)made->size.bytes, bytes), made->rendered,
           made->found, human_units_seconds(seconds_now() - started, time));
    return command_line_flush();
}

static int tell_archive(const struct prerender_run *fill, const struct mbtiles *archive, int err)
{
    char why[MBTILES_WHY];
    fprintf(stderr, "farlands: %s\n", mbtiles_explain(archive, fill->archive, err, why));
    return EXIT_FAILED;
}

/* All was put: the archive appears. */
static int finish(const struct prerender_run *fill, struct mbtiles *archive,
                  const struct prerender_tally *made, double started)
{
    char time[HUMAN_UNITS_TEXT];
    int err = mbtiles_finish(archive);
    if (err)
        return tell_archive(fill, archive, err);
    printf("farlands: %" PRIu64 " tiles are in %s: %" PRIu64 " rendered, %" PRIu64
           " from the cache, in %s\n",
           made->total, fill->archive, made->rendered, made->found,
           human_units_seconds(seconds_now() - started, time));
    return command_line_flush();
}

static int run(const struct prerender_run *fill, struct prerender_parts *parts)
{
    struct prerender_tally tally;
    struct progress progress;
    const double started = seconds_now();
    int err = look_ahead(fill, parts->work);
    if (err)
        return tell_failure(err);
    progress_begin(&progress);
    err = go_through(parts, &progress, false, &tally);
    if (err)
        return tell_failure(err);
    if (fill->archive && tally.archived == tally.total)
        return finish(fill, parts->archive, &tally, started);
    if (!fill->archive && tally.found + tally.rendered == tally.total)
        return check(fill, parts, &progress, &tally, started);
    tell_end(fill, parts, &tally);
    return EXIT_FAILED;
}

static int open_archive(const struct prerender_run *fill, struct mbtiles **archive)
{
    int err = fill->archive ? mbtiles_new(archive, fill->archive, fill->metadata) : 0;
    return err ? tell_archive(fill, NULL, err) : EXIT_DONE;
}

static int open_cache(const struct prerender_run *fill, struct disk_cache **cache)
{
    int err = disk_cache_open(cache, fill->directory, &fill->quota, NULL, NULL);
    if (!err)
        return EXIT_DONE;
    fprintf(stderr, "farlands: the cache folder %s cannot be used: %s\n", fill->directory,
            strerror(-err));
    return EXIT_FAILED;
}

int prerender_run(const struct prerender_run *fill)
{
    struct prerender_parts parts = {
        .plan = fill->plan, .quota = fill->quota, .threads = fill->threads};
    log_start(LOG_ERROR); /* what is to be said of the cache is said here */
    give_way();
    catch_signals();
    parts.work = calloc(fill->plan->part_count, sizeof *parts.work);
    int code = parts.work ? open_archive(fill, &parts.archive) : tell_failure(-ENOMEM);
    if (!code)
        code = open_cache(fill, &parts.cache);
    if (!code)
        code = run(fill, &parts);
    disk_cache_close(parts.cache);
    mbtiles_free(parts.archive);
    free(parts.work);
    return code;
}
