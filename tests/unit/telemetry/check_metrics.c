/* Metrics: each series once, exact sums over sets and threads, inclusive bounds. */
#include "server/telemetry/metrics.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>

#include "tests/unit/support/fixtures.h"

enum { SETS = 3, TEXT_MAX = 64 * 1024 };

static struct metrics sets[SETS];
static const struct metrics *const all[SETS] = {&sets[0], &sets[1], &sets[2]};
static char text[TEXT_MAX];

static void make_text(unsigned count, const struct metrics_gauges *gauges)
{
    static const struct metrics_gauges none;
    struct blob *blob = metrics_text(all, count, gauges ? gauges : &none);
    ck_assert_ptr_nonnull(blob);
    ck_assert_uint_lt(blob->length, TEXT_MAX);
    memcpy(text, blob->bytes, blob->length);
    text[blob->length] = '\0';
    blob_release(blob);
}

/* The value of SERIES, NAME{LABELS}, which must occur once. */
static const char *value_of(const char *series)
{
    static char value[64];
    size_t length = strlen(series);
    int found = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        if (strncmp(line, series, length) != 0 || line[length] != ' ')
            continue;
        snprintf(value, sizeof value, "%.*s", (int)strcspn(line + length + 1, "\n"),
                 line + length + 1);
        found++;
    }
    must(found == 1, "%s: %d times in\n%s", series, found, text);
    return value;
}

static void must_be(const char *series, const char *wanted)
{
    const char *value = value_of(series);
    must(strcmp(value, wanted) == 0, "%s is %s, not %s", series, value, wanted);
}

static void must_count(const char *series, uint64_t wanted)
{
    char number[32];
    snprintf(number, sizeof number, "%" PRIu64, wanted);
    must_be(series, number);
}

/* Each metric and its series. */
static const struct {
    enum metric metric;
    const char *series;
} counters[] = {
    {METRIC_HITS_MEMORY, "farlands_cache_hits_total{tier=\"memory\"}"},
    {METRIC_HITS_DISK, "farlands_cache_hits_total{tier=\"disk\"}"},
    {METRIC_MISSES, "farlands_cache_misses_total"},
    {METRIC_COALESCED, "farlands_coalesced_total"},
    {METRIC_SHED, "farlands_shed_total"},
    {METRIC_LIMITED, "farlands_limited_total"},
    {METRIC_RESPONSES_REFUSED, "farlands_responses_refused_total"},
    {METRIC_ABANDONED, "farlands_abandoned_total"},
    {METRIC_LATE, "farlands_late_total"},
    {METRIC_REGIONS, "farlands_calculations_total{kind=\"region\"}"},
    {METRIC_VOLUMES, "farlands_calculations_total{kind=\"volume\"}"},
    {METRIC_HEIGHTS, "farlands_calculations_total{kind=\"heights\"}"},
    {METRIC_SPAWNS, "farlands_calculations_total{kind=\"spawn\"}"},
    {METRIC_COURSES, "farlands_calculations_total{kind=\"downstream\"}"},
    {METRIC_PLACES, "farlands_calculations_total{kind=\"height\"}"},
    {METRIC_CACHE_FAULTS, "farlands_cache_faults_total"},
    {METRIC_CACHE_REFUSED, "farlands_cache_refused_total"},
    {METRIC_CONNECTIONS, "farlands_connections_total"},
    {METRIC_CLOSED_DEADLINE, "farlands_connections_closed_total{reason=\"deadline\"}"},
    {METRIC_CLOSED_LIMIT, "farlands_connections_closed_total{reason=\"limit\"}"},
    {METRIC_CLOSED_FULL, "farlands_connections_closed_total{reason=\"full\"}"},
    {METRIC_ACCEPT_FAILURES, "farlands_accept_failures_total"},
    {METRIC_RELOADS_OK, "farlands_reloads_total{result=\"ok\"}"},
    {METRIC_RELOADS_REFUSED, "farlands_reloads_total{result=\"refused\"}"},
    {METRIC_LOOP_BLOCKED, "farlands_loop_blocked_total"},
    {METRIC_ACCESS_LOG_DROPPED, "farlands_access_log_dropped_total"},
};

START_TEST(test_counters)
{
    ck_assert_int_eq(ROWS(counters), METRICS);
    for (int i = 0; i < ROWS(counters); i++)
        for (int n = 0; n <= i; n++) /* a different count each */
            metrics_add(&sets[n % SETS], counters[i].metric);
    make_text(SETS, NULL);
    for (int i = 0; i < ROWS(counters); i++)
        must_count(counters[i].series, (uint64_t)i + 1);
    /* One set has a third of the last row's METRICS additions. */
    make_text(1, NULL);
    must_count(counters[METRICS - 1].series, (METRICS + SETS - 1) / SETS);
}
END_TEST

static const struct {
    unsigned status;
    const char *code;
} statuses[] = {
    {200, "200"}, {204, "204"}, {206, "206"}, {304, "304"}, {308, "308"},
    {400, "400"}, {404, "404"}, {405, "405"}, {412, "412"}, {414, "414"},
    {416, "416"}, {431, "431"}, {500, "500"}, {503, "503"}, {418, "other"},
};

START_TEST(test_statuses)
{
    char series[64];
    for (int i = 0; i < ROWS(statuses); i++)
        for (int n = 0; n <= i; n++)
            metrics_add_status(&sets[n % SETS], statuses[i].status);
    metrics_add_status(&sets[0], 0);
    metrics_add_status(&sets[0], 100000);
    make_text(SETS, NULL);
    for (int i = 0; i < ROWS(statuses); i++) {
        snprintf(series, sizeof series, "farlands_requests_total{code=\"%s\"}", statuses[i].code);
        must_count(series, (uint64_t)i + (i < ROWS(statuses) - 1 ? 1 : 3));
    }
}
END_TEST

START_TEST(test_layers)
{
    char series[96];
    for (int i = 0; layers[i].name; i++)
        for (int n = 0; n <= i; n++)
            for (enum format format = 0; format < FORMATS; format++)
                for (enum format k = 0; k <= format && layers[i].formats >> format & 1; k++)
                    metrics_add_rendered(&sets[n % SETS], i, format);
    make_text(SETS, NULL);
    for (int i = 0; layers[i].name; i++)
        for (enum format format = 0; format < FORMATS; format++) {
            snprintf(series, sizeof series,
                     "farlands_tiles_rendered_total{layer=\"%s\",format=\"%s\"}", layers[i].name,
                     format_extension(format));
            if (layers[i].formats >> format & 1)
                must_count(series, ((uint64_t)i + 1) * (format + 1));
            else
                ck_assert_ptr_null(strstr(text, series));
        }
}
END_TEST

static const char *const gauges[GAUGES] = {
    [GAUGE_READY] = "farlands_ready",
    [GAUGE_START_TIME] = "farlands_start_time_seconds",
    [GAUGE_CONNECTIONS] = "farlands_connections",
    [GAUGE_QUEUE_LENGTH] = "farlands_queue_length",
    [GAUGE_QUEUE_LIMIT] = "farlands_queue_limit",
    [GAUGE_RENDERS_RUNNING] = "farlands_renders_running",
    [GAUGE_TERRAINS] = "farlands_terrains",
    [GAUGE_RESPONSE_BYTES] = "farlands_response_bytes",
    [GAUGE_RESPONSE_LIMIT] = "farlands_response_limit_bytes",
    [GAUGE_MEMORY_BYTES] = "farlands_cache_bytes{tier=\"memory\"}",
    [GAUGE_DISK_BYTES] = "farlands_cache_bytes{tier=\"disk\"}",
    [GAUGE_MEMORY_LIMIT] = "farlands_cache_limit_bytes{tier=\"memory\"}",
    [GAUGE_DISK_LIMIT] = "farlands_cache_limit_bytes{tier=\"disk\"}",
    [GAUGE_DISK_FILES] = "farlands_cache_files",
    [GAUGE_DISK_FILES_LIMIT] = "farlands_cache_limit_files",
    [GAUGE_CACHE_OPEN] = "farlands_cache_open",
    [GAUGE_CACHE_SUSPENDED] = "farlands_cache_suspended",
    [GAUGE_RESIDENT_BYTES] = "process_resident_memory_bytes",
    [GAUGE_OPEN_FDS] = "process_open_fds",
};

START_TEST(test_gauges)
{
    struct metrics_gauges now = {.longest_slice_us = 12000345, .kernel = "neon"};
    char series[96];
    for (unsigned i = 0; i < GAUGES; i++)
        now.value[i] = i + 1;
    make_text(SETS, &now);
    for (unsigned i = 0; i < GAUGES; i++)
        must_count(gauges[i], i + 1);
    snprintf(series, sizeof series,
             "farlands_build_info{version=\"%s\",kernel=\"neon\",generator=\"%d\"}",
             FARLANDS_VERSION, FARLANDS_GENERATOR);
    must_be(series, "1");
    must_be("farlands_longest_slice_seconds", "12.000345");
}
END_TEST

/* An observation and its buckets. */
static const struct {
    uint64_t nanoseconds;
    const char *le, *below, *sum; /* the first bucket with it; the one before; the sum */
} observed[] = {
    {0, "0.0001", NULL, "0.000000000"},
    {1, "0.0001", NULL, "0.000000001"},
    {99999, "0.0001", NULL, "0.000099999"},
    {100000, "0.0001", NULL, "0.000100000"},
    {100001, "0.00025", "0.0001", "0.000100001"},
    {250000, "0.00025", "0.0001", "0.000250000"},
    {250001, "0.0005", "0.00025", "0.000250001"},
    {1000000, "0.001", "0.0005", "0.001000000"},
    {999999999, "1", "0.5", "0.999999999"},
    {1000000000, "1", "0.5", "1.000000000"},
    {1000000001, "2.5", "1", "1.000000001"},
    {10000000000, "10", "5", "10.000000000"},
    {10000000001, "+Inf", "10", "10.000000001"},
    {UINT64_MAX, "+Inf", "10", "18446744073.709551615"},
};

START_TEST(test_bounds)
{
    char series[80];
    metrics_observe(&sets[1], HISTOGRAM_RENDER, observed[_i].nanoseconds);
    make_text(SETS, NULL);
    snprintf(series, sizeof series, "farlands_render_seconds_bucket{le=\"%s\"}", observed[_i].le);
    must_count(series, 1);
    if (observed[_i].below) {
        snprintf(series, sizeof series, "farlands_render_seconds_bucket{le=\"%s\"}",
                 observed[_i].below);
        must_count(series, 0);
    }
    must_be("farlands_render_seconds_sum", observed[_i].sum);
    must_count("farlands_render_seconds_bucket{le=\"+Inf\"}", 1);
    must_count("farlands_render_seconds_count", 1);
    must_count("farlands_request_seconds_count", 0);
    must_be("farlands_request_seconds_sum", "0.000000000");
}
END_TEST

/* Buckets are cumulative; sum and count are those of all sets. */
START_TEST(test_histogram)
{
    enum { MANY = 20000 };
    uint64_t state = 7, sum = 0, below = 0;
    char wanted[64];
    for (int i = 0; i < MANY; i++) {
        uint64_t nanoseconds = chance(&state) >> (28 + chance_below(&state, 20));
        sum += nanoseconds;
        below += nanoseconds <= 5000000;
        metrics_observe(&sets[i % SETS], HISTOGRAM_REQUEST, nanoseconds);
    }
    make_text(SETS, NULL);
    must_count("farlands_request_seconds_bucket{le=\"0.005\"}", below);
    must_count("farlands_request_seconds_bucket{le=\"+Inf\"}", MANY);
    must_count("farlands_request_seconds_count", MANY);
    snprintf(wanted, sizeof wanted, "%" PRIu64 ".%09" PRIu64, sum / 1000000000, sum % 1000000000);
    must_be("farlands_request_seconds_sum", wanted);
}
END_TEST

/* The longest possible text is complete. */
START_TEST(test_largest)
{
    struct metrics_gauges now = {.kernel = "avx512"};
    memset(&sets[0], 0xff, sizeof sets[0]);
    memset(now.value, 0xff, sizeof now.value);
    make_text(1, &now);
    must_count("farlands_requests_total{code=\"200\"}", UINT64_MAX);
    must_be("farlands_render_seconds_sum", "18446744073.709551615");
    value_of("farlands_render_seconds_count");
    ck_assert_int_eq(text[strlen(text) - 1], '\n');
}
END_TEST

/* Sets share no cache lines. */
START_TEST(test_alignment)
{
    ck_assert_uint_eq(_Alignof(struct metrics), 64);
    ck_assert_uint_eq(sizeof(struct metrics) % 64, 0);
}
END_TEST

enum { THREADS = 4, ADDITIONS = 100000 };

static void *count_much(void *set)
{
    for (int i = 0; i < ADDITIONS; i++) {
        metrics_add(set, METRIC_MISSES);
        metrics_add_status(set, 404);
        metrics_observe(set, HISTOGRAM_REQUEST, 1000);
    }
    return NULL;
}

/* Two threads per set, read meanwhile. */
START_TEST(test_threads)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, count_much, &sets[i % 2]), 0);
    for (int i = 0; i < 20; i++)
        make_text(SETS, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    make_text(SETS, NULL);
    must_count("farlands_cache_misses_total", THREADS * ADDITIONS);
    must_count("farlands_requests_total{code=\"404\"}", THREADS * ADDITIONS);
    must_count("farlands_request_seconds_bucket{le=\"0.0001\"}", THREADS * ADDITIONS);
    must_be("farlands_request_seconds_sum", "0.400000000");
}
END_TEST

START_TEST(test_open_files)
{
    enum { FILES = 10 };
    const uint64_t files = metrics_open_files();
    int fds[FILES];
    ck_assert_uint_ge(files, 3);
    for (int i = 0; i < FILES; i++)
        ck_assert_int_ge(fds[i] = open("/dev/null", O_RDONLY), 0);
    ck_assert_uint_eq(metrics_open_files(), files + FILES);
    for (int i = 0; i < FILES; i++)
        close(fds[i]);
    ck_assert_uint_eq(metrics_open_files(), files);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("metrics");
    TCase *tcase = suite_case(suite, "metrics");
    tcase_add_test(tcase, test_counters);
    tcase_add_test(tcase, test_statuses);
    tcase_add_test(tcase, test_layers);
    tcase_add_test(tcase, test_gauges);
    tcase_add_loop_test(tcase, test_bounds, 0, ROWS(observed));
    tcase_add_test(tcase, test_histogram);
    tcase_add_test(tcase, test_largest);
    tcase_add_test(tcase, test_alignment);
    tcase_add_test(tcase, test_threads);
    tcase_add_test(tcase, test_open_files);
    return suite_run(suite);
}
