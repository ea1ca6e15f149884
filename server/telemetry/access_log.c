#include "access_log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <uv.h>

#include "server/core/clock.h"
#include "server/telemetry/log.h"

enum {
    /* A power of 2. Half a ring lasts 40 ms at 50,000 lines per second: about as long as the log's
     * thread waits for a core while all cores render. Pages are allocated on first use. */
    RING_BYTES = 1024 * 1024,
    CACHE_LINE = 64,
};

#define FLUSH_NS UINT64_C(100000000)
#define SLEEP_NS UINT64_C(3600000000000)   /* unless a line wakes it */
#define RETRY_NS UINT64_C(10000000)        /* between two attempts while closing */
#define CLOSE_NS UINT64_C(1000000000)      /* time limit for closing */
#define CLOSE_GRACE_NS UINT64_C(500000000) /* for a write that hangs */
#define WARNING_NS UINT64_C(60000000000)   /* between two warnings */

/* A single-producer, single-consumer ring of complete lines. Positions count all bytes ever
 * written. Each side's members have cache lines of their own. */
struct ring {
    /* Belong to the producer, a serving thread. */
    size_t head __attribute__((aligned(CACHE_LINE))); /* atomic */
    size_t tail_seen;                                 /* a recent TAIL */
    struct access_clock clock;
    /* Belong to the consumer, the log's thread. */
    size_t tail __attribute__((aligned(CACHE_LINE))); /* atomic */
    bool signalled; /* atomic: half full, and the consumer was woken */
    char bytes[RING_BYTES] __attribute__((aligned(CACHE_LINE)));
};

struct access_log {
    char *path;
    unsigned ring_count;
    struct ring *rings;
    uv_thread_t thread;
    sem_t work, ended;
    bool reopening, closing; /* atomic */
    bool asleep;             /* atomic: the next line must wake the thread */
    /* Belong to the log's thread. */
    int fd; /* a file, pipe or socket */
    mode_t mode;
    unsigned current;   /* ring */
    size_t partial;     /* bytes of that ring's next line that are already written */
    uint64_t warned_at; /* ns; 0: never */
};

static void warn(struct access_log *log, const char *problem, int err)
{
    const uint64_t now = clock_ns(NULL);
    if (log->warned_at && now - log->warned_at < WARNING_NS)
        return;
    log->warned_at = now;
    log_line(LOG_WARNING, "access log: %s: %s: %s", log->path, problem, strerror(-err));
}

/* Open stdout again, because O_NONBLOCK on fd 1 itself would affect every process that shares fd 1.
 * If that fails, writes may block the log's thread, but no other. */
static int open_stdout(void)
{
    int fd = open("/proc/self/fd/1", O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 ? fd : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
}

/* Set LOG's fd and mode. Returns 0; or a negative code, changing nothing. */
static int open_file(struct access_log *log)
{
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct stat status;
    int fd = strcmp(log->path, "-") == 0 ? open_stdout() : open(log->path, flags, 0640);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) < 0) {
        int err = -errno;
        close(fd);
        return err;
    }
    log->fd = fd;
    log->mode = status.st_mode;
    return 0;
}

/* Write RING's bytes FROM <= i < TO, or some of them. Returns how many, or a negative code: -EAGAIN
 * if a pipe or socket is full. */
static ssize_t write_bytes(struct access_log *log, struct ring *ring, size_t from, size_t to)
{
    const size_t first = from % RING_BYTES, count = to - from;
    const size_t until_end = RING_BYTES - first < count ? RING_BYTES - first : count;
    struct iovec parts[2] = {{ring->bytes + first, until_end}, {ring->bytes, count - until_end}};
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t written;
    do
        written = S_ISSOCK(log->mode) ? sendmsg(log->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL)
                                      : writev(log->fd, parts, 2);
    while (written < 0 && errno == EINTR);
    return written < 0 ? -errno : written;
}

/* Remove the last COUNT written bytes from a file, unless another process has appended since.
 * Returns true if they were removed. */
static bool cut(const struct access_log *log, size_t count)
{
    struct stat status;
    if (!S_ISREG(log->mode))
        return false;
    off_t end = lseek(log->fd, 0, SEEK_CUR); /* where our last write ended, also with O_APPEND */
    return end >= (off_t)count && fstat(log->fd, &status) == 0 && status.st_size == end &&
           ftruncate(log->fd, end - (off_t)count) == 0;
}

/* Returns where the last complete line before END ends, or BEGIN. */
static size_t last_line_end(const struct ring *ring, size_t begin, size_t end)
{
    while (end > begin && ring->bytes[(end - 1) % RING_BYTES] != '\n')
        end--;
    return end;
}

/* Write out RING. Returns false if some lines cannot be written now. A pipe may then have part of a
 * line, and the next call writes the rest first; a file has complete lines only. */
static bool flush_ring(struct access_log *log, struct ring *ring)
{
    __atomic_store_n(&ring->signalled, false, __ATOMIC_RELAXED);
    const size_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
    while (ring->tail != head) {
        const ssize_t written = write_bytes(log, ring, ring->tail + log->partial, head);
        if (written < 0) {
            if (written != -EAGAIN)
                warn(log, "lines cannot be written", (int)written);
            return false;
        }
        const size_t end = ring->tail + log->partial + (size_t)written;
        const size_t whole = last_line_end(ring, ring->tail, end);
        log->partial = end - whole;
        __atomic_store_n(&ring->tail, whole, __ATOMIC_RELEASE);
        if (log->partial && cut(log, log->partial)) {
            warn(log, "lines cannot be written", -ENOSPC);
            log->partial = 0;
            return false;
        }
    }
    return true;
}

/* Returns true if all rings are empty. */
static bool flush(struct access_log *log)
{
    bool all = true;
    for (unsigned i = 0; i < log->ring_count; i++) {
        /* A partial line must be completed before another ring's turn. */
        if (!log->partial)
            log->current = (log->current + 1) % log->ring_count;
        all = flush_ring(log, &log->rings[log->current]) && all;
        if (log->partial)
            return false;
    }
    return all;
}

static void reopen(struct access_log *log)
{
    const int old = log->fd;
    if (strcmp(log->path, "-") == 0)
        return;
    int err = open_file(log);
    if (err) {
        warn(log, "cannot be reopened", err);
        return;
    }
    close(old);
    log->partial = 0; /* the new file begins with a complete line */
}

/* Returns true if SEMAPHORE is posted before DEADLINE, a time of clock_ns. */
static bool wait_until(sem_t *semaphore, uint64_t deadline)
{
    const struct timespec time = {(time_t)(deadline / 1000000000), (long)(deadline % 1000000000)};
    int err;
    do
        err = sem_clockwait(semaphore, CLOCK_MONOTONIC, &time);
    while (err < 0 && errno == EINTR);
    return err == 0;
}

/*
 * No line is missed: a serving thread writes its HEAD and then reads ASLEEP, the log's thread
 * writes ASLEEP and then reads each HEAD. All four are sequentially consistent, so at least one of
 * the two threads sees the other's write.
 */
static bool has_lines(const struct access_log *log)
{
    for (unsigned i = 0; i < log->ring_count; i++)
        if (__atomic_load_n(&log->rings[i].head, __ATOMIC_SEQ_CST) != log->rings[i].tail)
            return true;
    return false;
}

/* Wait until woken, for at most NANOSECONDS, and then reopen if requested. */
static void wait_for_work(struct access_log *log, uint64_t nanoseconds)
{
    wait_until(&log->work, clock_ns(NULL) + nanoseconds);
    while (sem_trywait(&log->work) == 0)
        ; /* one flush serves all requests */
    if (__atomic_exchange_n(&log->reopening, false, __ATOMIC_ACQUIRE))
        reopen(log);
}

static void run(void *context)
{
    struct access_log *log = context;

    bool idle = false; /* no line came within the last FLUSH_NS */

    while (!__atomic_load_n(&log->closing, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&log->asleep, idle, __ATOMIC_SEQ_CST);
        wait_for_work(log, idle && !has_lines(log) ? SLEEP_NS : FLUSH_NS);
        idle = !has_lines(log);
        flush(log);
    }
    const uint64_t deadline = clock_ns(NULL) + CLOSE_NS;
    bool all = flush(log);
    while (!all && clock_ns(NULL) < deadline) {
        wait_for_work(log, RETRY_NS);
        all = flush(log);
    }
    if (!all)
        log_line(LOG_WARNING, "access log: %s: the last lines could not be written", log->path);
    sem_post(&log->ended);
}

bool access_log_write(struct access_log *log, unsigned ring_number,
                      const struct access_entry *entry)
{
    struct ring *ring = &log->rings[ring_number];
    char line[ACCESS_FORMAT_MAX];

    assert(ring_number < log->ring_count);
    const size_t length = access_format(line, entry, &ring->clock);
    const size_t head = ring->head; /* no other thread writes it */
    if (head + length - ring->tail_seen > RING_BYTES)
        ring->tail_seen = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
    if (head + length - ring->tail_seen > RING_BYTES)
        return false;
    const size_t first = head % RING_BYTES;
    const size_t until_end = RING_BYTES - first < length ? RING_BYTES - first : length;
    memcpy(ring->bytes + first, line, until_end);
    memcpy(ring->bytes, line + until_end, length - until_end);
    __atomic_store_n(&ring->head, head + length, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&log->asleep, __ATOMIC_SEQ_CST) &&
        __atomic_exchange_n(&log->asleep, false, __ATOMIC_RELAXED))
        sem_post(&log->work);
    if (head + length - ring->tail_seen > RING_BYTES / 2) {
        ring->tail_seen = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
        if (head + length - ring->tail_seen > RING_BYTES / 2 &&
            !__atomic_exchange_n(&ring->signalled, true, __ATOMIC_RELAXED))
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
    free(log->rings);
    free(log->path);
    free(log);
}

int access_log_open(struct access_log **out, const char *path, unsigned rings)
{
    struct access_log *log = calloc(1, sizeof *log);
    if (!log)
        return -ENOMEM;
    log->ring_count = rings;
    log->path = strdup(path);
    log->rings = aligned_alloc(CACHE_LINE, rings * sizeof *log->rings);
    int err = log->path && log->rings ? 0 : -ENOMEM;
    if (err)
        goto fail_sink;
    for (unsigned i = 0; i < rings; i++) /* the bytes stay unallocated */
        memset(&log->rings[i], 0, offsetof(struct ring, bytes));
    err = open_file(log);
    if (err)
        goto fail_sink;
    sem_init(&log->work, 0, 0);
    sem_init(&log->ended, 0, 0);
    err = uv_thread_create(&log->thread, run, log);
    if (err)
        goto fail_thread;
    *out = log;
    return 0;

fail_thread:
    close(log->fd);
fail_sink:
    free_log(log);
    return err;
}

void access_log_close(struct access_log *log)
{
    if (!log)
        return;
    __atomic_store_n(&log->closing, true, __ATOMIC_RELEASE);
    sem_post(&log->work);
    if (!wait_until(&log->ended, clock_ns(NULL) + CLOSE_NS + CLOSE_GRACE_NS)) {
        log_line(LOG_WARNING, "access log: %s: a write hangs; lines may be lost", log->path);
        return;
    }
    uv_thread_join(&log->thread);
    sem_destroy(&log->ended);
    sem_destroy(&log->work);
    close(log->fd);
    free_log(log);
}
