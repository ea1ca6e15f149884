#include "eta.h"

/* After this many renders of a part, their mean replaces the sampled time. */
enum { RENDERS_ENOUGH = 16 };

static double load(const uint64_t *count)
{
    return (double)__atomic_load_n(count, __ATOMIC_RELAXED);
}

/*
 * PACE: the ratio of actual to sampled time, since other programs may have taken the cores since
 * then. MEAN: the time of a render in parts without samples or renders.
 */
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
