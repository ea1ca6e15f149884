#include "estimate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include "server/cache/eviction_thread.h"
#include "server/core/clock.h"
#include "server/core/thread_group.h"
#include "server/prerender/human_units.h"
#include "server/tiles/render.h"

/* Samples from each part, before the tile counts distribute the rest. */
enum { PART_SAMPLES = 16 };

struct part_samples {
    uint64_t ns, bytes, count; /* atomic */
    uint64_t wanted, tiles;
};

struct sampler {
    const struct tile_plan *plan;
    struct part_samples *part;
    struct trial_store *store; /* or NULL */
    bool (*cancelled)(void);
    uint64_t rounds;   /* the largest number that any part wants */
    uint64_t deadline; /* ns */
    uint64_t next;     /* atomic: round * parts + part */
    int err;           /* atomic */
    int store_err;     /* atomic */
};

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Steps of about COUNT's golden section visit every index once, because the stride is coprime to
 * COUNT. */
uint64_t estimate_sample(uint64_t round, uint64_t count)
{
    uint64_t stride = (uint64_t)((double)count * 0.6180339887498949);
    while (stride > 1 && greatest_divisor(count, stride) != 1)
        stride--;
    return (uint64_t)((unsigned __int128)(round + 1) * (stride ? stride : 1) % count);
}

/* Returns the time that storing PNG takes; 0 if storing fails. */
static uint64_t store_sample(struct sampler *sampler, const char *key, const struct blob *png)
{
    uint64_t ns = 0;
    if (!sampler->store || __atomic_load_n(&sampler->store_err, __ATOMIC_RELAXED))
        return 0;
    int err = trial_store_put(sampler->store, key, png, &ns);
    if (err)
        __atomic_store_n(&sampler->store_err, err, __ATOMIC_RELAXED);
    return ns;
}

static int render_sample(struct sampler *sampler, struct render_scratch *scratch, size_t part,
                         uint64_t round)
{
    struct part_samples *samples = &sampler->part[part];
    struct tile_address address;
    struct tile tile;
    struct blob *png;
    tile_plan_get_in_part(sampler->plan, part, estimate_sample(round, samples->tiles), &address);
    int err = tile_resolve(&tile, &address, NULL);
    if (err)
        return err;
    const uint64_t start = clock_ns(NULL);
    err = render_tile(&png, scratch, &tile, NULL, NULL);
    if (err)
        return err;
    const uint64_t rendered = clock_ns(NULL) - start;
    __atomic_fetch_add(&samples->ns, rendered + store_sample(sampler, tile.key, png),
                       __ATOMIC_RELAXED);
    __atomic_fetch_add(&samples->bytes, footprint_of_file(png->length).bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&samples->count, 1, __ATOMIC_RELAXED);
    blob_release(png);
    return 0;
}

static bool is_over(const struct sampler *sampler, uint64_t round)
{
    if (round >= sampler->rounds || (sampler->cancelled && sampler->cancelled()))
        return true;
    return (round > 0 || sampler->plan->part_count > ESTIMATE_PARTS) &&
           clock_ns(NULL) > sampler->deadline;
}

/* Each round takes one sample from every part, in an order spread over the plan. So the samples are
 * even, no matter when the time is up. */
static void sample(void *context, unsigned number)
{
    struct sampler *sampler = context;
    const size_t parts = sampler->plan->part_count;
    struct render_scratch *scratch = NULL;
    int err = render_scratch_new(&scratch);
    (void)number;
    while (!err && !__atomic_load_n(&sampler->err, __ATOMIC_RELAXED)) {
        const uint64_t turn = __atomic_fetch_add(&sampler->next, 1, __ATOMIC_RELAXED);
        const uint64_t round = turn / parts;
        const size_t part = estimate_sample(turn % parts, parts);
        if (is_over(sampler, round))
            break;
        if (round < sampler->part[part].wanted)
            err = render_sample(sampler, scratch, part, round);
    }
    if (err)
        __atomic_store_n(&sampler->err, err, __ATOMIC_RELAXED);
    render_scratch_free(scratch);
}

static void distribute(struct sampler *sampler, uint64_t most)
{
    const double total = (double)tile_plan_count(sampler->plan);
    for (size_t i = 0; i < sampler->plan->part_count; i++) {
        struct part_samples *part = &sampler->part[i];
        part->tiles = tile_plan_count_part(sampler->plan, i);
        const double share = total > 0 ? (double)most * (double)part->tiles / total : 0;
        part->wanted = (most > PART_SAMPLES ? PART_SAMPLES : 1) + (uint64_t)share;
        if (part->wanted > part->tiles)
            part->wanted = part->tiles;
        if (part->wanted > sampler->rounds)
            sampler->rounds = part->wanted;
    }
}

static int run(struct sampler *sampler, unsigned threads)
{
    struct thread_group *group;
    int err = thread_group_start(&group, threads, sample, sampler);
    if (err)
        return err;
    thread_group_free(group);
    return sampler->err;
}

static void sum_up(struct estimate *estimate, const struct sampler *sampler, unsigned threads)
{
    const struct tile_plan *plan = sampler->plan;
    const uint64_t count = tile_plan_count(plan);
    const double directories = fmin((double)plan->directories, 4 * (double)count);
    struct part_samples all = {0};

    for (size_t i = 0; i < plan->part_count; i++) {
        all.ns += sampler->part[i].ns;
        all.bytes += sampler->part[i].bytes;
        all.count += sampler->part[i].count;
    }
    estimate->store_err = sampler->store_err;
    estimate->bytes = directories * (double)footprint_of_directory(0, 0).bytes;
    estimate->files = directories + (double)count;
    for (size_t i = 0; i < plan->part_count; i++) {
        const struct part_samples *own = &sampler->part[i];
        const struct part_samples *of = own->count ? own : &all;
        const double tiles = (double)own->tiles, samples = (double)of->count;
        if (!of->count || !own->tiles)
            continue;
        estimate->part[i] = (struct part_estimate){own->count, (double)of->ns / samples,
                                                   (double)of->bytes / samples};
        estimate->bytes += estimate->part[i].bytes * tiles;
        estimate->seconds += estimate->part[i].ns / 1e9 / threads * tiles;
    }
}

int estimate_new(struct estimate **out, const struct tile_plan *plan, unsigned threads, unsigned ms,
                 uint64_t most, struct trial_store *store, bool (*cancelled)(void))
{
    struct sampler sampler = {.plan = plan,
                              .store = store,
                              .cancelled = cancelled,
                              .deadline = clock_ns(NULL) + (uint64_t)ms * NS_PER_MS};
    struct estimate *estimate =
        calloc(1, sizeof *estimate + plan->part_count * sizeof estimate->part[0]);
    sampler.part = calloc(plan->part_count, sizeof *sampler.part);
    int err = estimate && sampler.part ? 0 : -ENOMEM;
    if (!err) {
        distribute(&sampler, most);
        err = run(&sampler, threads);
    }
    if (!err) {
        sum_up(estimate, &sampler, threads);
        *out = estimate;
    } else {
        free(estimate);
    }
    free(sampler.part);
    return err;
}

bool estimate_fits(struct footprint quota, double bytes, double files, char why[ESTIMATE_WHY])
{
    const struct footprint keeps = eviction_thread_low_watermark(quota);
    const double share = (double)keeps.files / (double)quota.files;
    char disk[HUMAN_UNITS_TEXT], needed[HUMAN_UNITS_TEXT];
    int length = 0;

    if (bytes > (double)keeps.bytes)
        length = snprintf(why, ESTIMATE_WHY, "cache.disk is %s, about %s would be needed",
                          human_units_bytes((double)quota.bytes, disk),
                          human_units_bytes(bytes / share, needed));
    if (files > (double)keeps.files)
        snprintf(why + length, ESTIMATE_WHY - (size_t)length,
                 "%scache.files is %" PRIu64 ", about %.0f would be needed", length ? "; " : "",
                 quota.files, ceil(files / share));
    return bytes <= (double)keeps.bytes && files <= (double)keeps.files;
}

bool estimate_fits_disk(struct footprint space, double bytes, double files, char why[ESTIMATE_WHY])
{
    char has[HUMAN_UNITS_TEXT], needed[HUMAN_UNITS_TEXT];
    int length = 0;

    if (bytes > (double)space.bytes)
        length =
            snprintf(why, ESTIMATE_WHY, "%s are free, about %s would be needed",
                     human_units_bytes((double)space.bytes, has), human_units_bytes(bytes, needed));
    if (files > (double)space.files)
        snprintf(why + length, ESTIMATE_WHY - (size_t)length,
                 "%s%" PRIu64 " files are free, about %.0f would be needed", length ? "; " : "",
                 space.files, ceil(files));
    return bytes <= (double)space.bytes && files <= (double)space.files;
}

/* After this many renders in a part, their mean replaces the sampled time. */
enum { RENDERS_ENOUGH = 16 };

static double load(const uint64_t *count)
{
    return (double)__atomic_load_n(count, __ATOMIC_RELAXED);
}

/* PACE: actual over sampled time, because other programs may have taken the cores since the
 * sampling. MEAN: the render time for parts without samples or renders. */
static void measure(const struct part_work *work, size_t parts, double *pace, double *mean)
{
    double taken = 0, expected = 0, ns = 0, renders = 0, samples = 0, sampled_ns = 0;
    for (size_t i = 0; i < parts; i++) {
        ns += load(&work[i].ns);
        renders += load(&work[i].rendered);
        if (work[i].sampled_ns > 0) {
            taken += load(&work[i].ns);
            expected += load(&work[i].rendered) * work[i].sampled_ns;
            sampled_ns += work[i].sampled_ns;
            samples++;
        }
    }
    *pace = expected > 0 ? taken / expected : 1;
    *mean = renders > 0 ? ns / renders : samples > 0 ? sampled_ns / samples : -1;
}

double eta_seconds(const struct part_work *work, size_t parts, unsigned threads)
{
    double pace, mean, left = 0;
    measure(work, parts, &pace, &mean);
    if (mean < 0)
        return -1;
    for (size_t i = 0; i < parts; i++) {
        const double rendered = load(&work[i].rendered);
        const double cost = rendered >= RENDERS_ENOUGH ? load(&work[i].ns) / rendered
                            : work[i].sampled_ns > 0   ? work[i].sampled_ns * pace
                                                       : mean;
        left += cost * ((double)work[i].tiles - load(&work[i].done));
    }
    return left / threads / 1e9;
}
