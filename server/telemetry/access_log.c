#include "access_log.h"

#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "server/telemetry/access_sink.h"
#include "server/telemetry/log.h"

enum {
    /* A power of 2. At 50,000 lines a second half of it lasts for 40 ms: where every core renders,
     * the log's own thread waits for one about as long. Memory is taken as it is used. */
    LANE_BYTES = 1024 * 1024,
    CACHE_LINE = 64,
};

#define ROUND_NS UINT64_C(100000000)  /* between two looks at the lanes */
#define RETRY_NS UINT64_C(10000000)   /* the same while closing */
#define FLUSH_NS UINT64_C(1000000000) /* that closing may take */
#define LEAVE_NS UINT64_C(500000000)  /* and what a write that hangs gets on top */
#define COMPLAIN_NS UINT64_C(60000000000)

/*
 * A ring of whole lines. Positions count all bytes ever written. One thread
 * writes, and only the log's own reads; what each of them changes has a cache
 * line of its own.
 */
struct lane {
    /* The writing thread's. */
    size_t head __attribute__((aligned(CACHE_LINE))); /* atomic */
    size_t tail_seen;                                 /* no further than the tail is */
    struct access_clock clock;
    /* The reading thread's. */
    size_t tail __attribute__((aligned(CACHE_LINE))); /* atomic */
    bool called; /* atomic: half full, and the reading thread was told */
    char bytes[LANE_BYTES] __attribute__((aligned(CACHE_LINE)));
};

struct access_log {
    char *path;
    unsigned lane_count;
    struct lane *lanes;
    uv_thread_t thread;
    sem_t work, ended;
    bool reopening, closing; /* atomic */
    /* The log's own thread's, from here on. */
    struct access_sink output;
    unsigned turn;       /* the lane last written from */
    size_t sent;         /* bytes of a line of it that was not written whole */
    uint64_t complained; /* when */
};

static void complain(struct access_log *log, const char *what, int err)
{
    const uint64_t now = uv_hrtime();
    if (log->complained && now - log->complained < COMPLAIN_NS)
        return;
    log->complained = now;
    log_line(LOG_WARNING, "access log: %s: %s: %s", log->path, what, strerror(-err));
}

/* Write bytes FROM .. TO of LANE, or some of them. */
static ssize_t write_bytes(struct access_log *log, struct lane *lane, size_t from, size_t to)
{
    const size_t first = from % LANE_BYTES, count = to - from;
    const size_t until_end = LANE_BYTES - first < count ? LANE_BYTES - first : count;
    struct iovec parts[2] = {{lane->bytes + first, until_end}, {lane->bytes, count - until_end}};
    return access_sink_write(&log->output, parts);
}

/* Where the last line that ends before END ends; BEGIN where none does. */
static size_t last_line_end(const struct lane *lane, size_t begin, size_t end)
{
    while (end > begin && lane->bytes[(end - 1) % LANE_BYTES] != '\n')
        end--;
    return end;
}

/*
 * Write out LANE. Returns false where something is left that cannot be written
 * now: then a pipe may have got half a line, of which the rest comes first the
 * next time, and a file has not, so that it is whole for whoever reads it.
 */
static bool empty_lane(struct access_log *log, struct lane *lane)
{
    __atomic_store_n(&lane->called, false, __ATOMIC_RELAXED);
    const size_t head = __atomic_load_n(&lane->head, __ATOMIC_ACQUIRE);
    while (lane->tail != head) {
        const ssize_t written = write_bytes(log, lane, lane->tail + log->sent, head);
        if (written < 0) {
            if (written != -EAGAIN)
                complain(log, "lines cannot be written", (int)written);
            return false;
        }
        const size_t end = lane->tail + log->sent + (size_t)written;
        const size_t whole = last_line_end(lane, lane->tail, end);
        log->sent = end - whole;
        __atomic_store_n(&lane->tail, whole, __ATOMIC_RELEASE);
        if (log->sent && access_sink_cut(&log->output, log->sent)) {
            complain(log, "lines cannot be written", -ENOSPC);
            log->sent = 0;
            return false;
        }
    }
    return true;
}

/* Returns whether nothing is left. */
static bool empty_lanes(struct access_log *log)
{
    bool all = true;
    for (unsigned i = 0; i < log->lane_count; i++) {
        /* Where half a line was written, that lane goes on before another begins. */
        if (!log->sent)
            log->turn = (log->turn + 1) % log->lane_count;
        all = empty_lane(log, &log->lanes[log->turn]) && all;
        if (log->sent)
            return false;
    }
    return all;
}

static void reopen(struct access_log *log)
{
    struct access_sink output;
    if (strcmp(log->path, "-") == 0)
        return;
    int err = access_sink_open(&output, log->path);
    if (err) {
        complain(log, "cannot be opened anew", err);
        return;
    }
    access_sink_close(&log->output);
    log->output = output;
    log->sent = 0; /* the new file begins with a whole line */
}

/* Returns whether SEMAPHORE was posted before LATEST, as uv_hrtime counts. */
static bool wait_until(sem_t *semaphore, uint64_t latest)
{
    const struct timespec time = {(time_t)(latest / 1000000000), (long)(latest % 1000000000)};
    int err;
    do
        err = sem_clockwait(semaphore, CLOCK_MONOTONIC, &time);
    while (err < 0 && errno == EINTR);
    return err == 0;
}

/* Wait for NANOSECONDS, or until there is something to do. */
static void wait_for_work(struct access_log *log, uint64_t nanoseconds)
{
    wait_until(&log->work, uv_hrtime() + nanoseconds);
    while (sem_trywait(&log->work) == 0)
        ; /* one round is for all who called */
    if (__atomic_exchange_n(&log->reopening, false, __ATOMIC_ACQUIRE))
        reopen(log);
}

static void run(void *context)
{
    struct access_log *log = context;

    while (!__atomic_load_n(&log->closing, __ATOMIC_ACQUIRE)) {
        wait_for_work(log, ROUND_NS);
        empty_lanes(log);
    }
    const uint64_t latest = uv_hrtime() + FLUSH_NS;
    bool all = empty_lanes(log);
    while (!all && uv_hrtime() < latest) {
        wait_for_work(log, RETRY_NS);
        all = empty_lanes(log);
    }
    if (!all)
        log_line(LOG_WARNING, "access log: %s: the last lines could not be written", log->path);
    sem_post(&log->ended);
}

bool access_log_write(struct access_log *log, unsigned number, const struct access_entry *entry)
{
    struct lane *lane = &log->lanes[number];
    char line[ACCESS_FORMAT_MAX];

    assert(number < log->lane_count);
    const size_t length = access_format(line, entry, &lane->clock);
    const size_t head = lane->head; /* nobody else writes it */
    if (head + length - lane->tail_seen > LANE_BYTES)
        lane->tail_seen = __atomic_load_n(&lane->tail, __ATOMIC_ACQUIRE);
    if (head + length - lane->tail_seen > LANE_BYTES)
        return false;
    const size_t first = head % LANE_BYTES;
    const size_t until_end = LANE_BYTES - first < length ? LANE_BYTES - first : length;
    memcpy(lane->bytes + first, line, until_end);
    memcpy(lane->bytes, line + until_end, length - until_end);
    __atomic_store_n(&lane->head, head + length, __ATOMIC_RELEASE);
    if (head + length - lane->tail_seen > LANE_BYTES / 2) {
        lane->tail_seen = __atomic_load_n(&lane->tail, __ATOMIC_ACQUIRE);
        if (head + length - lane->tail_seen > LANE_BYTES / 2 &&
            !__atomic_exchange_n(&lane->called, true, __ATOMIC_RELAXED))
            sem_post(&log->work);
    }
    return true;
}

void access_log_reopen(struct access_log *log)
{
    __atomic_store_n(&log->reopening, true, __ATOMIC_RELEASE);
    sem_post(&log->work);
}

static void free_log(struct access_log *log)
{
    free(log->lanes);
    free(log->path);
    free(log);
}

int access_log_open(struct access_log **out, const char *path, unsigned lanes)
{
    struct access_log *log = calloc(1, sizeof *log);
    if (!log)
        return -ENOMEM;
    log->lane_count = lanes;
    log->path = strdup(path);
    log->lanes = aligned_alloc(CACHE_LINE, lanes * sizeof *log->lanes);
    int err = log->path && log->lanes ? 0 : -ENOMEM;
    if (err)
        goto fail_output;
    for (unsigned i = 0; i < lanes; i++) /* the bytes take memory once they are used */
        memset(&log->lanes[i], 0, offsetof(struct lane, bytes));
    err = access_sink_open(&log->output, path);
    if (err)
        goto fail_output;
    sem_init(&log->work, 0, 0);
    sem_init(&log->ended, 0, 0);
    err = uv_thread_create(&log->thread, run, log);
    if (err)
        goto fail_thread;
    *out = log;
    return 0;

fail_thread:
    access_sink_close(&log->output);
fail_output:
    free_log(log);
    return err;
}

void access_log_close(struct access_log *log)
{
    if (!log)
        return;
    __atomic_store_n(&log->closing, true, __ATOMIC_RELEASE);
    sem_post(&log->work);
    if (!wait_until(&log->ended, uv_hrtime() + FLUSH_NS + LEAVE_NS)) {
        log_line(LOG_WARNING, "access log: %s: a write hangs; lines may be lost", log->path);
        return;
    }
    uv_thread_join(&log->thread);
    sem_destroy(&log->ended);
    sem_destroy(&log->work);
    access_sink_close(&log->output);
    free_log(log);
}
