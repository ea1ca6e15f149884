/*
 * Counters, gauges and histograms in Prometheus' text format. Any thread. There are several sets,
 * whose sum is reported: a thread that counts often has a set of its own, which avoids shared cache
 * lines.
 */
#ifndef FARLANDS_TELEMETRY_METRICS_H
#define FARLANDS_TELEMETRY_METRICS_H

#include <stdint.h>

#include "server/core/blob.h"
#include "server/layers/layer.h"

enum metric {
#define METRIC(name, family, labels, help) METRIC_##name,
#include "server/telemetry/metrics.def"
    METRICS
};

enum metric_gauge {
#define GAUGE(name, family, labels, help) GAUGE_##name,
#include "server/telemetry/metrics.def"
    GAUGES
};

enum metric_histogram {
#define HISTOGRAM(name, family, help) HISTOGRAM_##name,
#include "server/telemetry/metrics.def"
    HISTOGRAMS
};

enum { METRICS_STATUSES = 16, METRICS_LAYERS = 16, METRICS_BUCKETS = 17 };

struct metrics_histogram {
    uint64_t sum;                    /* ns */
    uint64_t count[METRICS_BUCKETS]; /* not cumulative; the last bucket is unbounded */
};

/* One set, initially zero. All members are atomic. Allocate a set with its alignment, a cache
 * line. */
struct metrics {
    uint64_t count[METRICS];
    uint64_t status[METRICS_STATUSES];
    uint64_t rendered[METRICS_LAYERS][FORMATS];
    struct metrics_histogram histogram[HISTOGRAMS];
} __attribute__((aligned(64)));

void metrics_add(struct metrics *metrics, enum metric metric);

void metrics_add_status(struct metrics *metrics, unsigned status);

/* LAYER is an index into layers. */
void metrics_add_rendered(struct metrics *metrics, int layer, enum format format);

void metrics_observe(struct metrics *metrics, enum metric_histogram histogram,
                     uint64_t nanoseconds);

/* Current values; 0 or NULL: unknown. */
struct metrics_gauges {
    uint64_t value[GAUGES];
    uint64_t longest_slice_us; /* for the render threads */
    const char *kernel;        /* see terrain_kernel */
};

/* Returns the sum over COUNT sets in the exposition format 0.0.4; NULL if out of memory. */
struct blob *metrics_text(const struct metrics *const *sets, unsigned count,
                          const struct metrics_gauges *gauges);

/* This process's resident memory, or 0 if unknown. */
uint64_t metrics_resident_bytes(void);

/* This process's number of open files, or 0 if unknown. Before Linux 6.2 this takes about 1 us per
 * file. */
uint64_t metrics_open_files(void);

#endif
