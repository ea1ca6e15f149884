#include "metrics.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "server/layers/layer.h"

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

/* Few, so that the number of series is fixed; the last stands for all others. */
static const unsigned statuses[] = {200, 204, 206, 304, 308, 400, 404, 405,
                                    412, 414, 416, 431, 500, 503, 0};

enum { STATUSES = sizeof statuses / sizeof statuses[0] };
_Static_assert((int)STATUSES <= (int)METRICS_STATUSES, "room for every status");

void metrics_add_status(struct metrics *metrics, unsigned status)
{
    unsigned i = 0;
    while (i < STATUSES - 1 && statuses[i] != status)
        i++;
    __atomic_fetch_add(&metrics->status[i], 1, __ATOMIC_RELAXED);
}

void metrics_add_rendered(struct metrics *metrics, int layer)
{
    assert(layer < METRICS_LAYERS);
    __atomic_fetch_add(&metrics->rendered[layer], 1, __ATOMIC_RELAXED);
}

struct text {
    char bytes[16384];
    size_t length;
};

static void head(struct text *text, const char *family, const char *help)
{
    text->length += (size_t)snprintf(text->bytes + text->length, sizeof text->bytes - text->length,
                                     "# HELP %s %s\n# TYPE %s counter\n", family, help, family);
}

static void series(struct text *text, const char *family, const char *labels, const uint64_t *count)
{
    text->length += (size_t)snprintf(text->bytes + text->length, sizeof text->bytes - text->length,
                                     "%s%s %" PRIu64 "\n", family, labels,
                                     __atomic_load_n(count, __ATOMIC_RELAXED));
}

struct blob *metrics_text(const struct metrics *metrics)
{
    struct text text = {.length = 0};
    char labels[80];

    head(&text, "farlands_requests_total", "Requests answered, by status.");
    for (unsigned i = 0; i < STATUSES; i++) {
        snprintf(labels, sizeof labels, statuses[i] ? "{code=\"%u\"}" : "{code=\"other\"}",
                 statuses[i]);
        series(&text, "farlands_requests_total", labels, &metrics->status[i]);
    }
    head(&text, "farlands_tiles_rendered_total", "Tiles rendered, by layer.");
    for (int i = 0; layers[i].name; i++) {
        snprintf(labels, sizeof labels, "{layer=\"%s\"}", layers[i].name);
        series(&text, "farlands_tiles_rendered_total", labels, &metrics->rendered[i]);
    }
    for (unsigned i = 0; i < METRICS; i++) {
        if (names[i].help)
            head(&text, names[i].family, names[i].help);
        series(&text, names[i].family, names[i].labels, &metrics->count[i]);
    }
    return blob_copy(text.bytes, text.length);
}
