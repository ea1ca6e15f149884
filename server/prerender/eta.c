#include "eta.h"

/* Renders after which what they took is believed rather than samples. */
enum { ENOUGH = 16 };

/* How much longer renders take than samples of the same parts did: others may have come to share
 * the cores. And the mean of all, for parts of which nothing is known. */
static void measure(const struct part_work *work, size_t parts, double *pace, double *mean)
{
    double taken = 0, expected = 0, all = 0, renders = 0, samples = 0, sampled = 0;
    for (size_t i = 0; i < parts; i++) {
        const double rendered = (double)__atomic_load_n(&work[i].rendered, __ATOMIC_RELAXED);
        const double ns = (double)__atomic_load_n(&work[i].ns, __ATOMIC_RELAXED);
        all += ns;
        renders += rendered;
        if (work[i].sampled > 0) {
            taken += ns;
            expected += rendered * work[i].sampled;
            sampled += work[i].sampled;
            samples++;
        }
    }
    *pace = expected > 0 ? taken / expected : 1;
    *mean = renders > 0 ? all / renders : samples > 0 ? sampled / samples : -1;
}

double eta_seconds(const struct part_work *work, size_t parts, unsigned threads)
{
    double pace, mean, left = 0;
    measure(work, parts, &pace, &mean);
    if (mean < 0)
        return -1;
    for (size_t i = 0; i < parts; i++) {
        const uint64_t rendered = __atomic_load_n(&work[i].rendered, __ATOMIC_RELAXED);
        const uint64_t ns = __atomic_load_n(&work[i].ns, __ATOMIC_RELAXED);
        const uint64_t done = __atomic_load_n(&work[i].done, __ATOMIC_RELAXED);
        const double cost = rendered >= ENOUGH    ? (double)ns / (double)rendered
                            : work[i].sampled > 0 ? work[i].sampled * pace
                                                  : mean;
        left += cost * (double)(work[i].tiles - done);
    }
    return left / threads / 1e9;
}
