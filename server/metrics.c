#include "metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *family, *labels, *help;
} names[METRICS] = {
#define METRIC(name, family, labels, help) {family, labels, help},
#include "metrics.def"
#undef METRIC
};

void metrics_add(struct metrics *metrics, enum metric metric)
{
    __atomic_fetch_add(&metrics->count[metric], 1, __ATOMIC_RELAXED);
}

uint64_t metrics_read(const struct metrics *metrics, enum metric metric)
{
    return __atomic_load_n(&metrics->count[metric], __ATOMIC_RELAXED);
}

void metrics_add_status(struct metrics *metrics, unsigned status)
{
    char labels[16];
    snprintf(labels, sizeof labels, "{code=\"%u\"}", status);
    unsigned metric = METRIC_REQUESTS_200;
    while (metric < METRIC_REQUESTS_OTHER && strcmp(names[metric].labels, labels) != 0)
        metric++;
    metrics_add(metrics, metric);
}

void metrics_add_rendered(struct metrics *metrics, const char *layer)
{
    char labels[64];
    snprintf(labels, sizeof labels, "{layer=\"%s\"}", layer);
    for (unsigned i = 0; i < METRICS; i++)
        if (strcmp(names[i].labels, labels) == 0)
            metrics_add(metrics, i);
}

struct blob *metrics_text(const struct metrics *metrics)
{
    char text[16384];
    size_t n = 0;

    for (unsigned i = 0; i < METRICS; i++) {
        if (names[i].help)
            n += (size_t)snprintf(text + n, sizeof text - n, "# HELP %s %s\n# TYPE %s counter\n",
                                  names[i].family, names[i].help, names[i].family);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %" PRIu64 "\n", names[i].family,
                              names[i].labels, metrics_read(metrics, i));
    }
    return blob_copy(text, n);
}
