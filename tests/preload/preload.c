/*
 * Preloaded into the daemon: makes system calls fail, transfer less, or take long, and moves the
 * clocks, as the test that started it says. Both share a file, so that the test can do this while
 * the daemon runs, and can see when the daemon is at rest. preload.mjs is the test's side.
 *
 * PRELOAD_FILE names that file. PRELOAD_DIRECTORY is the cache: calls on other files never fail.
 * Without a directory only the time of day is moved: for caches such as nginx and Varnish.
 */
/* The headers must not define checked forms of the functions that this file replaces. */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* In the order of CALLS in preload.mjs. */
enum call {
    WRITE,
    READ,
    OPEN,
    CREATE,
    RENAME,
    UNLINK,
    MKDIR,
    ACCEPT,
    FORGET,
    ALLOCATE,
    ENCODE,
    CALLS
};

/* 64 bytes, so that threads that count different calls do not share a cache line. */
struct rule {
    int32_t error;        /* the errno to fail with; 0 = delay only */
    int32_t every;        /* one in this many calls is hit; 0 = none */
    int32_t amount;       /* delay of a hit call in ms of the steady clock */
    int32_t cap;          /* limit of bytes per read or write; 0 = none */
    int32_t least, most;  /* sizes of allocations that count; most 0 = no upper bound */
    uint32_t seed;        /* not 0: hits are random, one in EVERY */
    uint32_t calls, hits; /* counted here */
    uint32_t unused[7];
};

/* Times are ns. */
struct clocks {
    int64_t wall;   /* ahead of the time of day */
    int64_t steady; /* ahead of the clocks that never jump: CLOCK_MONOTONIC and its kin */
    int64_t frozen; /* not 0: they stand */
    int64_t least;  /* of the time at which they stand, before STEADY is added */
};

/* A thread. */
struct sleeper {
    int32_t pid, tid; /* 0: unused */
    uint32_t seen;    /* 1 + the edition that it has slept through; 0: it is awake */
    uint32_t unused[13];
};

enum { SLEEPERS = 256 };

/*
 * The test writes the other CLOCKS, and then EDITION, a single byte that tells which ones count: so
 * no thread reads a half of either. Each edition also asks all threads whether they are at rest.
 */
struct shared {
    struct clocks clocks[2];
    uint8_t edition;
    uint8_t unused[59];
    uint32_t turns; /* how often a thread has been woken, or its time has come */
    int64_t latest; /* the latest real time that a thread has read */
    uint8_t unused_as_well[56];
    struct rule rules[CALLS];
    struct sleeper sleepers[SLEEPERS];
};
_Static_assert(sizeof(struct rule) == 64 && sizeof(struct sleeper) == 64 &&
                   offsetof(struct shared, rules) == 192,
               "as preload.mjs has it");

static struct shared *shared;
static const char *directory; /* NULL: only the time of day is moved */

__attribute__((constructor)) static void start(void)
{
    const char *file = getenv("PRELOAD_FILE");
    int fd = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
    void *map =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (map == MAP_FAILED) {
        static const char why[] = "preload: PRELOAD_FILE is needed\n";
        syscall(SYS_write, STDERR_FILENO, why, sizeof why - 1);
        _exit(126);
    }
    directory = getenv("PRELOAD_DIRECTORY");
    shared = map;
}

/* The same function in the next library, usually the C library. */
#define FOUND(name, lookup)                       \
    ({                                            \
        static __typeof__(&(name)) next;          \
        if (!next)                                \
            next = (__typeof__(&(name)))(lookup); \
        next;                                     \
    })
#define NEXT(name) FOUND(name, dlsym(RTLD_NEXT, #name))
/* On x86-64 there is an old form, too, which dlsym would find. */
#define NEXT_ON_CONDITION(name) \
    FOUND(name, dlvsym(RTLD_NEXT, #name, "GLIBC_2.3.2") ?: dlsym(RTLD_NEXT, #name))

/* --- Clocks ------------------------------------------------------------------- */

enum { NS_PER_S = 1000000000, NS_PER_MS = 1000000 };

/* By a system call: allocators read clocks before symbols can be looked up. */
static int64_t real_time(clockid_t clock)
{
    struct timespec now;
    syscall(SYS_clock_gettime, clock, &now);
    return now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

static uint8_t edition(void)
{
    return __atomic_load_n(&shared->edition, __ATOMIC_SEQ_CST);
}

static struct clocks clocks(void)
{
    for (uint8_t now = edition(), before;;) {
        const struct clocks clocks = shared->clocks[now % 2];
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        before = now;
        now = edition();
        if (now == before)
            return clocks;
    }
}

/* A clock that is frozen does not step back: it stands at the latest time that any thread has read,
 * rounded up to libuv's ms. */
static int64_t steady_now(void)
{
    const struct clocks set = clocks();
    int64_t latest = __atomic_load_n(&shared->latest, __ATOMIC_SEQ_CST);

    if (set.frozen) {
        const int64_t at = (latest > set.least ? latest : set.least) + set.steady;
        return (at + NS_PER_MS - 1) / NS_PER_MS * NS_PER_MS;
    }
    const int64_t now = real_time(CLOCK_MONOTONIC);
    while (latest < now && !__atomic_compare_exchange_n(&shared->latest, &latest, now, true,
                                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return clocks().frozen ? steady_now() : now + set.steady;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!shared)
        return (int)syscall(SYS_clock_gettime, clock, now);
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        *now = timespec_of(real_time(clock) + clocks().wall);
        return 0;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
        *now = timespec_of(directory ? steady_now() : real_time(clock));
        return 0;
    default:
        return (int)syscall(SYS_clock_gettime, clock, now);
    }
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

/* --- Sleep -------------------------------------------------------------------- */

/*
 * No timer of the system follows a clock that the test moves. So a thread sleeps in slices, and
 * looks at the clock and the edition between them. "An edition is slept through" means: after the
 * thread read it, its time had not come, and there was nothing to wake it. Hence the thread's work
 * is done, unless another thread gives it some, which counts as a turn. preload.mjs waits for two
 * editions without a turn.
 */
enum { SLICE_MS = 8, RUNNING_SLICE_MS = 20 };

static int64_t slice(int64_t left)
{
    const int64_t most = (clocks().frozen ? SLICE_MS : RUNNING_SLICE_MS) * (int64_t)NS_PER_MS;
    return left < most ? left : most;
}

static struct timespec slice_end(int64_t left)
{
    return timespec_of(real_time(CLOCK_MONOTONIC) + slice(left));
}

static void count_turn(void)
{
    __atomic_add_fetch(&shared->turns, 1, __ATOMIC_SEQ_CST);
}

static struct sleeper *new_place(int32_t tid)
{
    for (struct sleeper *place = shared->sleepers; place < shared->sleepers + SLEEPERS; place++) {
        int32_t unused = 0;
        if (__atomic_compare_exchange_n(&place->pid, &unused, getpid(), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
            __atomic_store_n(&place->seen, 0, __ATOMIC_SEQ_CST);
            __atomic_store_n(&place->tid, tid, __ATOMIC_SEQ_CST);
            return place;
        }
    }
    static const char why[] = "preload: too many threads\n";
    syscall(SYS_write, STDERR_FILENO, why, sizeof why - 1);
    _exit(126);
}

static _Thread_local struct sleeper *mine;

/* This thread's place; its process may have been forked. */
static struct sleeper *self(void)
{
    if (!mine || mine->pid != getpid())
        mine = new_place(gettid());
    return mine;
}

struct beginning {
    void *(*run)(void *context);
    void *context;
    struct sleeper *place;
};

static void *begin(void *context)
{
    const struct beginning beginning = *(struct beginning *)context;
    free(context);
    mine = beginning.place;
    __atomic_store_n(&mine->tid, gettid(), __ATOMIC_SEQ_CST);
    void *result = beginning.run(beginning.context);
    count_turn();
    __atomic_store_n(&mine->pid, 0, __ATOMIC_SEQ_CST);
    return result;
}

/* A new thread is awake before it runs. Until then its place has the number of the first thread. */
int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*run)(void *), void *restrict context)
{
    struct beginning *beginning = directory ? NEXT(malloc)(sizeof *beginning) : NULL;
    if (!beginning)
        return NEXT(pthread_create)(thread, attributes, run, context);
    *beginning = (struct beginning){run, context, new_place(getpid())};
    struct sleeper *place = beginning->place;
    const int err = NEXT(pthread_create)(thread, attributes, begin, beginning);
    if (err) {
        __atomic_store_n(&place->pid, 0, __ATOMIC_SEQ_CST);
        free(beginning);
    }
    return err;
}

static void slept_through(uint8_t seen)
{
    __atomic_store_n(&self()->seen, seen + 1U, __ATOMIC_SEQ_CST);
}

static void wake(void)
{
    count_turn();
    __atomic_store_n(&self()->seen, 0, __ATOMIC_SEQ_CST);
}

static int epoll_sleep(int set, struct epoll_event *events, int most, int ms,
                       const sigset_t *signals)
{
    const int64_t due = ms < 0 ? INT64_MAX : steady_now() + ms * (int64_t)NS_PER_MS;

    for (;;) {
        const uint8_t seen = edition();
        const int64_t left = due - steady_now();
        /* Rounded up: a loop would turn again if it woke within its last ms. */
        const int64_t real = left > 0 ? (slice(left) + NS_PER_MS - 1) / NS_PER_MS : 0;
        int count = NEXT(epoll_pwait)(set, events, most, 0, signals);
        if (count == 0 && left > 0) {
            slept_through(seen);
            count = NEXT(epoll_pwait)(set, events, most, (int)real, signals);
            if (count == 0)
                continue;
        }
        wake();
        return count;
    }
}

/* libuv calls this one from 1.46 on. */
int epoll_pwait(int set, struct epoll_event *events, int most, int ms, const sigset_t *signals)
{
    if (directory && ms != 0)
        return epoll_sleep(set, events, most, ms, signals);
    if (directory)
        count_turn();
    return NEXT(epoll_pwait)(set, events, most, ms, signals);
}

int epoll_wait(int set, struct epoll_event *events, int most, int ms)
{
    return epoll_pwait(set, events, most, ms, NULL);
}

int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until)
{
    if (!directory || clock != CLOCK_MONOTONIC)
        return NEXT(sem_clockwait)(semaphore, clock, until);
    const int64_t due = until->tv_sec * (int64_t)NS_PER_S + until->tv_nsec;
    for (;;) {
        const uint8_t seen = edition();
        const int64_t left = due - steady_now();
        struct timespec end = {0};
        int err = NEXT(sem_clockwait)(semaphore, clock, &end);
        if (err && errno == ETIMEDOUT && left > 0) {
            slept_through(seen);
            end = slice_end(left);
            err = NEXT(sem_clockwait)(semaphore, clock, &end);
            if (err && errno == ETIMEDOUT)
                continue;
        }
        wake();
        return err;
    }
}

/*
 * After a slice, whoever waits for a condition is woken for no reason, as POSIX allows, and looks
 * at what it waits for: another thread may have changed that just before this one got the lock. The
 * thread has slept through the edition of then when it waits again.
 */
static int condition_sleep(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t due)
{
    static _Thread_local uint8_t woken;
    const int64_t left = due - steady_now();

    if (left <= 0) {
        wake();
        return ETIMEDOUT;
    }
    slept_through(woken);
    const struct timespec end = slice_end(left);
    const int err = NEXT(pthread_cond_clockwait)(condition, mutex, CLOCK_MONOTONIC, &end);
    __atomic_store_n(&self()->seen, 0, __ATOMIC_SEQ_CST);
    woken = edition();
    return err == ETIMEDOUT ? 0 : err;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return directory ? condition_sleep(condition, mutex, INT64_MAX)
                     : NEXT_ON_CONDITION(pthread_cond_wait)(condition, mutex);
}

int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           clockid_t clock, const struct timespec *restrict until)
{
    if (directory && clock == CLOCK_MONOTONIC)
        return condition_sleep(condition, mutex,
                               until->tv_sec * (int64_t)NS_PER_S + until->tv_nsec);
    return NEXT(pthread_cond_clockwait)(condition, mutex, clock, until);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    /* glibc's flag of a condition whose clock is the steady one, as that of libuv is. */
    const bool steady = condition->__data.__wrefs & 2;
    return pthread_cond_clockwait(condition, mutex, steady ? CLOCK_MONOTONIC : CLOCK_REALTIME,
                                  until);
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    if (directory)
        count_turn();
    return NEXT_ON_CONDITION(pthread_cond_signal)(condition);
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (directory)
        count_turn();
    return NEXT_ON_CONDITION(pthread_cond_broadcast)(condition);
}

/* --- Rules -------------------------------------------------------------------- */

/* A permutation of 32 bits: Prospecting for Hash Functions, Wellons 2018, lowbias32. */
static uint32_t mix(uint32_t n)
{
    n = (n ^ n >> 16) * 0x7feb352dU;
    n = (n ^ n >> 15) * 0x846ca68bU;
    return n ^ n >> 16;
}

/* Until the steady clock has moved on, or the rule ends. */
static void delay(const struct rule *rule)
{
    const int64_t due = steady_now() + rule->amount * (int64_t)NS_PER_MS;

    for (;;) {
        const uint8_t seen = edition();
        const int64_t left = due - steady_now();
        if (!__atomic_load_n(&rule->every, __ATOMIC_SEQ_CST) || left <= 0)
            break;
        slept_through(seen);
        const struct timespec step = timespec_of(slice(left));
        nanosleep(&step, NULL);
    }
    wake();
}

/* Count one call of this kind. Returns 0 to go on, or the errno to fail with. */
static int count_call(enum call call)
{
    if (!directory)
        return 0;
    struct rule *rule = &shared->rules[call];
    uint32_t n = __atomic_add_fetch(&rule->calls, 1, __ATOMIC_RELAXED);
    int32_t every = __atomic_load_n(&rule->every, __ATOMIC_ACQUIRE);
    if (!every || (rule->seed ? mix(n + rule->seed) : n) % (uint32_t)every)
        return 0;
    __atomic_add_fetch(&rule->hits, 1, __ATOMIC_RELAXED);
    if (rule->amount)
        delay(rule);
    return rule->error;
}

/* True if PATH begins with the cache directory. */
static bool is_below(const char *path)
{
    return directory && strncmp(path, directory, strlen(directory)) == 0;
}

static bool is_ours(int fd)
{
    char link[32], path[4096];
    int saved = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = directory ? readlink(link, path, sizeof path - 1) : -1;
    errno = saved;
    if (length < 0)
        return false;
    path[length] = '\0';
    return is_below(path);
}

static bool is_ours_at(int fd, const char *path)
{
    return path[0] == '/' ? is_below(path) : fd != AT_FDCWD && is_ours(fd);
}

#define FAIL_OR(err, otherwise) \
    do {                        \
        int fault = (err);      \
        if (!fault)             \
            return otherwise;   \
        errno = fault;          \
        return -1;              \
    } while (0)

/* --- Files ------------------------------------------------------------------- */

static int count_transfer(enum call call, int fd, size_t *length)
{
    if (!is_ours(fd))
        return 0;
    size_t cap = (size_t)shared->rules[call].cap;
    if (cap && *length > cap)
        *length = cap;
    return count_call(call);
}

ssize_t write(int fd, const void *bytes, size_t length)
{
    FAIL_OR(count_transfer(WRITE, fd, &length), NEXT(write)(fd, bytes, length));
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
    FAIL_OR(count_transfer(WRITE, fd, &length), NEXT(pwrite)(fd, bytes, length, at));
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    FAIL_OR(is_ours(fd) ? count_call(WRITE) : 0, NEXT(writev)(fd, parts, count));
}

ssize_t read(int fd, void *bytes, size_t length)
{
    FAIL_OR(count_transfer(READ, fd, &length), NEXT(read)(fd, bytes, length));
}

ssize_t pread(int fd, void *bytes, size_t length, off_t at)
{
    FAIL_OR(count_transfer(READ, fd, &length), NEXT(pread)(fd, bytes, length, at));
}

/* With a cap, reads the first part only. */
ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t at, int flags)
{
    struct iovec first = parts[0];
    int err = count_transfer(READ, fd, &first.iov_len);
    bool capped = first.iov_len < parts[0].iov_len;
    FAIL_OR(err, NEXT(preadv2)(fd, capped ? &first : parts, capped ? 1 : count, at, flags));
}

static int count_open(int fd, const char *path, int flags)
{
    return is_ours_at(fd, path) ? count_call(flags & O_CREAT ? CREATE : OPEN) : 0;
}

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    FAIL_OR(count_open(AT_FDCWD, path, flags), NEXT(open)(path, flags, mode));
}

int openat(int fd, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    FAIL_OR(count_open(fd, path, flags), NEXT(openat)(fd, path, flags, mode));
}

int rename(const char *from, const char *to)
{
    FAIL_OR(is_below(to) ? count_call(RENAME) : 0, NEXT(rename)(from, to));
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    FAIL_OR(is_ours_at(to_fd, to) ? count_call(RENAME) : 0,
            NEXT(renameat)(from_fd, from, to_fd, to));
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    FAIL_OR(is_ours_at(to_fd, to) ? count_call(RENAME) : 0,
            NEXT(renameat2)(from_fd, from, to_fd, to, flags));
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    FAIL_OR(is_ours_at(to_fd, to) ? count_call(RENAME) : 0,
            NEXT(linkat)(from_fd, from, to_fd, to, flags));
}

int unlinkat(int fd, const char *path, int flags)
{
    FAIL_OR(is_ours_at(fd, path) ? count_call(UNLINK) : 0, NEXT(unlinkat)(fd, path, flags));
}

int mkdirat(int fd, const char *path, mode_t mode)
{
    FAIL_OR(is_ours_at(fd, path) ? count_call(MKDIR) : 0, NEXT(mkdirat)(fd, path, mode));
}

/* --- Connections, memory, images ---------------------------------------------- */

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    FAIL_OR(count_call(ACCEPT), NEXT(accept4)(fd, address, length, flags));
}

int accept(int fd, struct sockaddr *address, socklen_t *length)
{
    FAIL_OR(count_call(ACCEPT), NEXT(accept)(fd, address, length));
}

/* A descriptor is taken out of an epoll set. */
int epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
    FAIL_OR(operation == EPOLL_CTL_DEL ? count_call(FORGET) : 0,
            NEXT(epoll_ctl)(set, operation, fd, event));
}

static bool is_refused(size_t size)
{
    if (!directory)
        return false;
    const struct rule *rule = &shared->rules[ALLOCATE];
    if (!rule->every || size < (size_t)rule->least || (rule->most && size > (size_t)rule->most))
        return false;
    int err = count_call(ALLOCATE);
    if (err)
        errno = err;
    return err != 0;
}

void *malloc(size_t size)
{
    return is_refused(size) ? NULL : NEXT(malloc)(size);
}

void *calloc(size_t count, size_t size)
{
    return is_refused(count * size) ? NULL : NEXT(calloc)(count, size);
}

void *realloc(void *block, size_t size)
{
    return is_refused(size) ? NULL : NEXT(realloc)(block, size);
}

/* A function of libpng that the encoder calls once per image, declared here without png.h. */
void png_write_info(void *png, void *info);
void png_error(void *png, const char *why);
void png_write_info(void *png, void *info)
{
    if (count_call(ENCODE))
        NEXT(png_error)(png, "injected");
    NEXT(png_write_info)(png, info);
}

/* The same of libwebp, behind WebPConfigInit. */
int WebPConfigInitInternal(void *config, int preset, float quality, int version);
int WebPConfigInitInternal(void *config, int preset, float quality, int version)
{
    return count_call(ENCODE) ? 0 : NEXT(WebPConfigInitInternal)(config, preset, quality, version);
}
