/*
 * A load generator: sends requests to an HTTP server on loopback at a given rate, whether or not
 * the server keeps up. Latency counts from the moment a request was due, so a server that stalls
 * cannot hide it by stalling its clients. Without a rate it is a closed loop, whose clients wait
 * for responses, and it can be a hostile client, which does not read. See --help.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "report.h"

enum { EVENTS_MAX = 256, OTHER_FILES = 16 };
static const double OPENING_SECONDS =
    5; /* to open all connections, before the first request is due */

struct load {
    struct plan plan;
    struct stream *streams[STREAMS_MAX];
    int epoll;
    uint64_t next_progress;
};

static const uint64_t PROGRESS_NS = 20000000;

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t after(uint64_t moment, double seconds)
{
    return moment + (uint64_t)(seconds * 1e9);
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static uint64_t tell_progress(struct load *load, uint64_t moment)
{
    if (!load->plan.progress)
        return UINT64_MAX;
    if (moment >= load->next_progress) {
        const struct report report = {.plan = &load->plan, .streams = load->streams};
        report_progress(&report, stdout);
        fflush(stdout);
        load->next_progress = moment + PROGRESS_NS;
    }
    return load->next_progress;
}

/* One iteration: send due requests, sleep until the next one, handle events. */
static int turn(struct load *load, uint64_t until)
{
    struct epoll_event events[EVENTS_MAX];
    uint64_t moment = now(), wake = tell_progress(load, moment);
    sigset_t none;

    if (until < wake)
        wake = until;
    for (unsigned i = 0; i < load->plan.streams; i++) {
        uint64_t next = stream_turn(load->streams[i], moment);
        if (next < wake)
            wake = next;
    }
    moment = now();
    uint64_t pause = wake > moment ? wake - moment : 0;
    const struct timespec timeout = {.tv_sec = (time_t)(pause / 1000000000),
                                     .tv_nsec = (long)(pause % 1000000000)};
    sigemptyset(&none);
    int count = epoll_pwait2(load->epoll, events, EVENTS_MAX, &timeout, &none);
    if (count < 0 && errno != EINTR)
        return -errno;
    for (int i = 0; i < count; i++)
        stream_event(events[i].data.ptr, events[i].events, now());
    /* Failing connects always have events ready: no signal would interrupt the wait. */
    sigset_t pending;
    if (!sigpending(&pending) && sigismember(&pending, SIGTERM) == 1)
        stopped = 1;
    return 0;
}

static bool each(const struct load *load, bool (*holds)(const struct stream *stream))
{
    for (unsigned i = 0; i < load->plan.streams; i++)
        if (!holds(load->streams[i]))
            return false;
    return true;
}

static bool never(const struct stream *stream)
{
    (void)stream;
    return false;
}

/* Iterate until the condition holds for every stream, or until the deadline. */
static int turn_until(struct load *load, bool (*holds)(const struct stream *stream), uint64_t end)
{
    int err = 0;
    while (!err && !each(load, holds) && now() < end)
        err = turn(load, end);
    return err;
}

/* The same, or until SIGTERM. */
static int turn_unless_stopped(struct load *load, bool (*holds)(const struct stream *stream),
                               uint64_t end)
{
    int err = 0;
    while (!err && !stopped && !each(load, holds) && now() < end)
        err = turn(load, end);
    return err;
}

static int write_report(const struct report *report)
{
    const char *name = report->plan->json;
    if (!name || strcmp(name, "-") != 0)
        report_table(report, stdout);
    if (name) {
        FILE *out = strcmp(name, "-") == 0 ? stdout : fopen(name, "w");
        if (!out)
            return -errno;
        report_json(report, out);
        if (out != stdout && fclose(out))
            return -errno;
    }
    return fflush(stdout) ? -errno : 0;
}

static int run(struct load *load)
{
    const struct plan *plan = &load->plan;

    int err = turn_unless_stopped(load, stream_open, after(now(), OPENING_SECONDS));
    if (err)
        return err;
    if (!stopped && !each(load, stream_open))
        fprintf(stderr, "open_loop: not all connections could be opened\n");
    err = turn_unless_stopped(load, never, after(now(), plan->settle));
    if (err)
        return err;
    double cpu = cpu_seconds();
    uint64_t start = now(), end = after(start, plan->seconds);
    for (unsigned i = 0; i < plan->streams; i++)
        stream_begin(load->streams[i], start, end);
    err = turn_unless_stopped(load, stream_done, end);
    if (err)
        return err;
    if (now() < end && (stopped || plan->stream[0].closed))
        end = now();
    for (unsigned i = 0; i < plan->streams; i++)
        stream_stop(load->streams[i], end);
    err = turn_until(load, stream_done, after(end, plan->grace));
    if (err)
        return err;
    uint64_t finish = now();
    struct report report = {.plan = plan, .streams = load->streams};
    report.cpu = cpu_seconds() - cpu;
    report.seconds = (double)(finish > end ? finish - start : end - start) / 1e9;
    for (unsigned i = 0; i < plan->streams; i++)
        stream_end(load->streams[i], finish);
    return write_report(&report);
}

static int allow_files(const struct plan *plan)
{
    struct rlimit limit;
    rlim_t wanted = OTHER_FILES;

    for (unsigned i = 0; i < plan->streams; i++)
        wanted += plan->stream[i].connections;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return -errno;
    if (limit.rlim_max < wanted)
        return -EMFILE;
    if (limit.rlim_cur < wanted)
        limit.rlim_cur = wanted;
    return setrlimit(RLIMIT_NOFILE, &limit) ? -errno : 0;
}

static int begin(struct load *load)
{
    uint64_t seed = load->plan.seed;

    int err = allow_files(&load->plan);
    if (err)
        return err;
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (load->epoll < 0)
        return -errno;
    for (unsigned i = 0; i < load->plan.streams && !err; i++)
        err = stream_new(&load->streams[i], &load->plan.stream[i], &load->plan, load->epoll,
                         seed * STREAMS_MAX + i);
    return err;
}

static int run_plan(struct load *load)
{
    const struct plan *plan = &load->plan;

    /* By default the kernel rounds each sleep up by 50 microseconds. */
    prctl(PR_SET_TIMERSLACK, 1);
    /* Blocked but for the time in epoll_pwait2, which it ends. */
    sigset_t termination;
    sigemptyset(&termination);
    sigaddset(&termination, SIGTERM);
    sigprocmask(SIG_BLOCK, &termination, NULL);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = stop}, NULL);
    /* The load must end even if something hangs. */
    alarm((unsigned)(OPENING_SECONDS + plan->settle + plan->seconds + plan->grace) + 60);
    int err = begin(load);
    if (!err)
        err = run(load);
    if (err)
        fprintf(stderr, "open_loop: %s\n", strerror(-err));
    return err;
}

int main(int argc, char **argv)
{
    struct load load = {.epoll = -1};
    int code = 0;

    switch (plan_parse(&load.plan, argc, argv)) {
    case PLAN_MADE:
        code = run_plan(&load) ? 1 : 0;
        break;
    case PLAN_HELP:
        break;
    case PLAN_WRONG:
        code = 2;
    }
    for (unsigned i = 0; i < load.plan.streams; i++)
        stream_free(load.streams[i]);
    if (load.epoll >= 0)
        close(load.epoll);
    plan_free(&load.plan);
    return code;
}
