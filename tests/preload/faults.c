/* Calls that fail, transfer less, or take long. */
#include "preload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* A permutation of 32 bits: Prospecting for Hash Functions, Wellons 2018, lowbias32. */
static uint32_t mix(uint32_t n)
{
    n = (n ^ n >> 16) * 0x7feb352dU;
    n = (n ^ n >> 15) * 0x846ca68bU;
    return n ^ n >> 16;
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
        sleep_while(&rule->every, rule->amount);
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
