/* Counters, as Prometheus text. Any thread. */
#ifndef FARLANDS_METRICS_H
#define FARLANDS_METRICS_H

#include <stdint.h>

#include "blob.h"

enum metric {
#define METRIC(name, family, labels, help) METRIC_##name,
#include "metrics.def"
#undef METRIC
    METRICS
};

enum { METRICS_STATUSES = 16, METRICS_LAYERS = 16 };

/* Zeroed to begin with; everything in it is atomic. */
struct metrics {
    uint64_t count[METRICS];
    uint64_t status[METRICS_STATUSES];
    uint64_t rendered[METRICS_LAYERS];
};

void metrics_add(struct metrics *metrics, enum metric metric);

/* Count an answer by its HTTP status. */
void metrics_add_status(struct metrics *metrics, unsigned status);

/* Count a rendered tile of LAYER, an index in layers. */
void metrics_add_rendered(struct metrics *metrics, int layer);

/* The exposition format, version 0.0.4; NULL where memory is out. */
struct blob *metrics_text(const struct metrics *metrics);

#endif
