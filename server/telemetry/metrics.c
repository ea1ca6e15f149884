#include "metrics.h"

#include <assert.h>
#include <dirent.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "noise/farlands.h"

struct series {
    const char *family, *labels, *help;
};

static const struct series counters[METRICS] = {
#define METRIC(name, family, labels, help) {family, labels, help},
#include "server/telemetry/metrics.def"
};

static const struct series gauge_series[GAUGES] = {
#define GAUGE(name, family, labels, help) {family, labels, help},
#include "server/telemetry/metrics.def"
};

static const struct series histograms[HISTOGRAMS] = {
#define HISTOGRAM(name, family, help) {family, NULL, help},
#include "server/telemetry/metrics.def"
};

static void add(uint64_t *count, uint64_t more)
{
    __atomic_fetch_add(count, more, __ATOMIC_RELAXED);
}

void metrics_add(struct metrics *metrics, enum metric metric)
{
    add(&metrics->count[metric], 1);
}

/* The number of series is fixed: the last one, 0, counts all other statuses. */
static const unsigned statuses[] = {200, 204, 206, 304, 308, 400, 404, 405,
                                    412, 414, 416, 431, 500, 503, 0};

enum { STATUSES = sizeof statuses / sizeof statuses[0] };
_Static_assert((int)STATUSES <= (int)METRICS_STATUSES, "METRICS_STATUSES is too small");

void metrics_add_status(struct metrics *metrics, unsigned status)
{
    unsigned i = 0;
    while (i < STATUSES - 1 && statuses[i] != status)
        i++;
    add(&metrics->status[i], 1);
}

void metrics_add_rendered(struct metrics *metrics, int layer, enum format format)
{
    assert(layer >= 0 && layer < METRICS_LAYERS);
    add(&metrics->rendered[layer][format], 1);
}

/* Bounds range from cache hits, below 0.1 ms, past renders, from 1 ms, to how long clients wait. */
static const struct {
    uint64_t nanoseconds;
    const char *seconds;
} bounds[] = {
    {100000, "0.0001"},  {250000, "0.00025"}, {500000, "0.0005"},  {1000000, "0.001"},
    {2500000, "0.0025"}, {5000000, "0.005"},  {10000000, "0.01"},  {25000000, "0.025"},
    {50000000, "0.05"},  {100000000, "0.1"},  {250000000, "0.25"}, {500000000, "0.5"},
    {1000000000, "1"},   {2500000000, "2.5"}, {5000000000, "5"},   {10000000000, "10"},
};

enum { BOUNDS = sizeof bounds / sizeof bounds[0] };
_Static_assert((int)BOUNDS == METRICS_BUCKETS - 1, "one bucket per bound, and an unbounded one");

void metrics_observe(struct metrics *metrics, enum metric_histogram histogram, uint64_t nanoseconds)
{
    struct metrics_histogram *at = &metrics->histogram[histogram];
    unsigned i = 0;
    while (i < BOUNDS && nanoseconds > bounds[i].nanoseconds)
        i++;
    add(&at->count[i], 1);
    add(&at->sum, nanoseconds);
}

struct page {
    FILE *text;
    const struct metrics *const *sets;
    unsigned count;
};

/* Sum the counter at OFFSET over all sets. */
static uint64_t sum(const struct page *page, size_t offset)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < page->count; i++) {
        const char *set = (const char *)page->sets[i];
        total += __atomic_load_n((const uint64_t *)(const void *)(set + offset), __ATOMIC_RELAXED);
    }
    return total;
}

static void write_head(const struct page *page, const char *family, const char *help,
                       const char *type)
{
    fprintf(page->text, "# HELP %s %s\n# TYPE %s %s\n", family, help, family, type);
}

static void write_by_status(const struct page *page)
{
    write_head(page, "farlands_requests_total", "Responses by status.", "counter");
    for (unsigned i = 0; i < STATUSES; i++) {
        char code[16] = "other";
        if (statuses[i])
            snprintf(code, sizeof code, "%u", statuses[i]);
        fprintf(page->text, "farlands_requests_total{code=\"%s\"} %" PRIu64 "\n", code,
                sum(page, offsetof(struct metrics, status) + i * sizeof(uint64_t)));
    }
}

static void write_by_layer(const struct page *page)
{
    write_head(page, "farlands_tiles_rendered_total", "Tiles rendered, by layer and format.",
               "counter");
    for (unsigned i = 0; layers[i].name; i++)
        for (unsigned format = 0; format < FORMATS; format++)
            if (layers[i].formats & 1U << format)
                fprintf(page->text,
                        "farlands_tiles_rendered_total{layer=\"%s\",format=\"%s\"} %" PRIu64 "\n",
                        layers[i].name, format_extension(format),
                        sum(page, offsetof(struct metrics, rendered) +
                                      (i * FORMATS + format) * sizeof(uint64_t)));
}

static void write_build_info(const struct page *page, const char *kernel)
{
    write_head(page, "farlands_build_info", "The version in its labels; always 1.", "gauge");
    fprintf(page->text, "farlands_build_info{version=\"%s\",kernel=\"%s\",generator=\"%d\"} 1\n",
            FARLANDS_VERSION, kernel ? kernel : "", FARLANDS_GENERATOR);
}

static void write_longest_slice(const struct page *page, uint64_t us)
{
    write_head(page, "farlands_longest_slice_seconds",
               "Longest time that a render kept its thread without asking whether others wait.",
               "gauge");
    fprintf(page->text, "farlands_longest_slice_seconds %" PRIu64 ".%06" PRIu64 "\n", us / 1000000,
            us % 1000000);
}

static void write_series(const struct page *page, const struct series *series, const char *type,
                         uint64_t value)
{
    if (series->help)
        write_head(page, series->family, series->help, type);
    fprintf(page->text, "%s%s %" PRIu64 "\n", series->family, series->labels, value);
}

static void write_histogram(const struct page *page, enum metric_histogram histogram)
{
    const char *family = histograms[histogram].family;
    const size_t at =
        offsetof(struct metrics, histogram) + histogram * sizeof(struct metrics_histogram);
    uint64_t below = 0;

    write_head(page, family, histograms[histogram].help, "histogram");
    for (unsigned i = 0; i < METRICS_BUCKETS; i++) {
        below += sum(page, at + offsetof(struct metrics_histogram, count) + i * sizeof(uint64_t));
        fprintf(page->text, "%s_bucket{le=\"%s\"} %" PRIu64 "\n", family,
                i < BOUNDS ? bounds[i].seconds : "+Inf", below);
    }
    uint64_t total = sum(page, at + offsetof(struct metrics_histogram, sum));
    fprintf(page->text, "%s_sum %" PRIu64 ".%09" PRIu64 "\n%s_count %" PRIu64 "\n", family,
            total / 1000000000, total % 1000000000, family, below);
}

struct blob *metrics_text(const struct metrics *const *sets, unsigned count,
                          const struct metrics_gauges *gauges)
{
    char *bytes = NULL;
    size_t length = 0;
    struct page page = {open_memstream(&bytes, &length), sets, count};
    if (!page.text)
        return NULL;
    write_by_status(&page);
    write_by_layer(&page);
    for (unsigned i = 0; i < METRICS; i++)
        write_series(&page, &counters[i], "counter",
                     sum(&page, offsetof(struct metrics, count) + i * sizeof(uint64_t)));
    for (unsigned i = 0; i < GAUGES; i++)
        write_series(&page, &gauge_series[i], "gauge", gauges->value[i]);
    write_longest_slice(&page, gauges->longest_slice_us);
    write_build_info(&page, gauges->kernel);
    for (unsigned i = 0; i < HISTOGRAMS; i++)
        write_histogram(&page, i);
    /* Without this check a truncated text would pass, because it is valid, too. */
    const bool complete = !ferror(page.text);
    struct blob *blob = fclose(page.text) == 0 && complete ? blob_copy(bytes, length) : NULL;
    free(bytes);
    return blob;
}

/* Not uv_resident_set_memory: the thread sanitizer does not see libuv close the file. */
uint64_t metrics_resident_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*u %lu", &pages) != 1)
        pages = 0;
    fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t metrics_open_files(void)
{
    static const char directory[] = "/proc/self/fd";
    struct stat status;
    uint64_t count = 0;

    if (stat(directory, &status) == 0 && status.st_size > 0) /* since Linux 6.2 */
        return (uint64_t)status.st_size;
    DIR *entries = opendir(directory);
    if (!entries)
        return 0;
    while (readdir(entries))
        count++;
    closedir(entries);
    return count < 3 ? 0 : count - 3; /* without ".", ".." and ENTRIES itself */
}
