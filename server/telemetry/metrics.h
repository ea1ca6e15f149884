/*
 * Counters, gauges and histograms, as Prometheus text. Any thread. Counters and
 * histograms are summed from several sets, so that threads that count often
 * have one each and share no cache line.
 */
#ifndef FARLANDS_TELEMETRY_METRICS_H
#define FARLANDS_TELEMETRY_METRICS_H

#include <stdint.h>

#include "server/core/blob.h"

enum metric {
#define METRIC(name, family, labels, help) METRIC_##name,
#include "metrics.def"
    METRICS
};

enum metric_gauge {
#define GAUGE(name, family, labels, help) GAUGE_##name,
#include "metrics.def"
    GAUGES
};

enum metric_histogram {
#define HISTOGRAM(name, family, help) HISTOGRAM_##name,
#include "metrics.def"
    HISTOGRAMS
};

enum { METRICS_STATUSES = 16, METRICS_LAYERS = 16, METRICS_BUCKETS = 17 };

struct metrics_histogram {
    uint64_t sum;                    /* ns */
    uint64_t count[METRICS_BUCKETS]; /* each bucket's own; the last has no upper bound */
};

/*
 * One set. Zeroed to begin with; everything in it is atomic. Its alignment, a
 * cache line, is to be kept where it is allocated.
 */
struct metrics {
    uint64_t count[METRICS];
    uint64_t status[METRICS_STATUSES];
    uint64_t rendered[METRICS_LAYERS];
    struct metrics_histogram histogram[HISTOGRAMS];
} __attribute__((aligned(64)));

void metrics_add(struct metrics *metrics, enum metric metric);

/* Count an answer by its HTTP status. */
void metrics_add_status(struct metrics *metrics, unsigned status);

/* Count a rendered tile of LAYER, an index in layers. */
void metrics_add_rendered(struct metrics *metrics, int layer);

/* Something took NANOSECONDS. */
void metrics_observe(struct metrics *metrics, enum metric_histogram histogram,
                     uint64_t nanoseconds);

/* What is true when the text is made; what is unknown, 0 and NULL. */
struct metrics_gauges {
    uint64_t value[GAUGES];
    const char *kernel; /* as farlands_kernel names it */
};

/* The exposition format, version 0.0.4, of COUNT sets; NULL where memory is out. */
struct blob *metrics_text(const struct metrics *const *sets, unsigned count,
                          const struct metrics_gauges *gauges);

#endif
