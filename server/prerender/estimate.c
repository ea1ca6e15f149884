#include "estimate.h"

#include <errno.h>
#include <stdlib.h>
#include <uv.h>

#include "server/core/thread_group.h"
#include "server/tiles/render.h"

/* Samples of a part for its own sake; the others go where most tiles are. */
enum { EACH = 16 };

struct sampled {
    uint64_t ns, bytes, count; /* atomic */
    uint64_t wanted, tiles;
};

struct sampling {
    const struct tile_plan *plan;
    struct sampled *part;
    bool (*go_on)(void);
    uint64_t rounds; /* the most that any part wants */
    uint64_t until;  /* ns */
    uint64_t next;   /* atomic: round and part */
    int err;         /* atomic */
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

/* Steps of about the golden section of COUNT, which has no divisor in common with them. */
uint64_t estimate_sample(uint64_t round, uint64_t count)
{
    uint64_t stride = (uint64_t)((double)count * 0.6180339887498949);
    while (stride > 1 && greatest_divisor(count, stride) != 1)
        stride--;
    return (uint64_t)((unsigned __int128)(round + 1) * (stride ? stride : 1) % count);
}

static int render_sample(struct sampling *sampling, struct render_scratch *scratch, size_t part,
                         uint64_t round)
{
    struct sampled *sampled = &sampling->part[part];
    const uint64_t index = estimate_sample(round, sampled->tiles);
    struct tile tile;
    struct blob *png;
    tile_plan_get_in_part(sampling->plan, part, index, &tile);
    const uint64_t start = uv_hrtime();
    int err = render_tile(&png, scratch, &tile, NULL);
    if (err)
        return err;
    __atomic_fetch_add(&sampled->ns, uv_hrtime() - start, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sampled->bytes, footprint_of_file(png->length).bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sampled->count, 1, __ATOMIC_RELAXED);
    blob_release(png);
    return 0;
}

/* Whether there is to be no more, in ROUND. */
static bool is_over(const struct sampling *sampling, uint64_t round)
{
    if (round >= sampling->rounds || (sampling->go_on && !sampling->go_on()))
        return true;
    return (round > 0 || sampling->plan->part_count > ESTIMATE_PARTS) &&
           uv_hrtime() > sampling->until;
}

/* Rounds in which each part has its turn, so that whenever time is up all have had their share; in
 * the first one, those that have are spread over all. */
static void sample(void *context, unsigned number)
{
    struct sampling *sampling = context;
    const size_t parts = sampling->plan->part_count;
    struct render_scratch *scratch = NULL;
    int err = render_scratch_new(&scratch);
    (void)number;
    while (!err && !__atomic_load_n(&sampling->err, __ATOMIC_RELAXED)) {
        const uint64_t turn = __atomic_fetch_add(&sampling->next, 1, __ATOMIC_RELAXED);
        const uint64_t round = turn / parts;
        const size_t part = estimate_sample(turn % parts, parts);
        if (is_over(sampling, round))
            break;
        if (round < sampling->part[part].wanted)
            err = render_sample(sampling, scratch, part, round);
    }
    if (err)
        __atomic_store_n(&sampling->err, err, __ATOMIC_RELAXED);
    render_scratch_free(scratch);
}

/* Each part gets some, and the rest is shared by how many tiles there are. */
static void share_out(struct sampling *sampling, uint64_t most)
{
    const double total = (double)tile_plan_count(sampling->plan);
    for (size_t i = 0; i < sampling->plan->part_count; i++) {
        struct sampled *part = &sampling->part[i];
        part->tiles = tile_plan_count_part(sampling->plan, i);
        const double share = total > 0 ? (double)most * (double)part->tiles / total : 0;
        part->wanted = most > EACH ? EACH + (uint64_t)share : 1 + (uint64_t)share;
        if (part->wanted > part->tiles)
            part->wanted = part->tiles;
        if (part->wanted > sampling->rounds)
            sampling->rounds = part->wanted;
    }
}

static int run(struct sampling *sampling, unsigned threads)
{
    struct thread_group *group;
    int err = thread_group_start(&group, threads, sample, sampling);
    if (err)
        return err;
    thread_group_free(group);
    return sampling->err;
}

/* Of all samples, as if they were of one part. */
static struct sampled sum_samples(const struct sampling *sampling)
{
    struct sampled all = {0};
    for (size_t i = 0; i < sampling->plan->part_count; i++) {
        all.ns += sampling->part[i].ns;
        all.bytes += sampling->part[i].bytes;
        all.count += sampling->part[i].count;
    }
    return all;
}

static void sum_up(struct estimate *estimate, const struct sampling *sampling, unsigned threads)
{
    const struct footprint directory = footprint_of_directory(0, 0);
    const uint64_t count = tile_plan_count(sampling->plan);
    const double folders =
        (double)(sampling->plan->folders < 4 * count ? sampling->plan->folders : 4 * count);
    const struct sampled all = sum_samples(sampling);
    estimate->bytes = folders * (double)directory.bytes;
    estimate->files = folders + (double)count;
    for (size_t i = 0; i < sampling->plan->part_count; i++) {
        const struct sampled *sampled = &sampling->part[i];
        struct part_estimate *part = &estimate->part[i];
        const struct sampled *of = sampled->count ? sampled : &all;
        if (!of->count || !sampled->tiles)
            continue;
        *part = (struct part_estimate){sampled->count, (double)of->ns / (double)of->count,
                                       (double)of->bytes / (double)of->count};
        estimate->bytes += part->bytes * (double)sampled->tiles;
        estimate->seconds += part->ns / 1e9 / threads * (double)sampled->tiles;
    }
}

int estimate_new(struct estimate **out, const struct tile_plan *plan, unsigned threads, unsigned ms,
                 uint64_t most, bool (*go_on)(void))
{
    struct sampling sampling = {
        .plan = plan, .go_on = go_on, .until = uv_hrtime() + (uint64_t)ms * 1000000};
    struct estimate *estimate =
        calloc(1, sizeof *estimate + plan->part_count * sizeof estimate->part[0]);
    sampling.part = calloc(plan->part_count, sizeof *sampling.part);
    int err = estimate && sampling.part ? 0 : -ENOMEM;
    if (!err) {
        share_out(&sampling, most);
        err = run(&sampling, threads);
    }
    if (!err) {
        sum_up(estimate, &sampling, threads);
        *out = estimate;
    } else {
        free(estimate);
    }
    free(sampling.part);
    return err;
}
