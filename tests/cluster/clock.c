/*
 * Preloaded into a proxy: sets its time of day ahead by the number of seconds in a file that it
 * and the test map. Clocks that measure durations are not changed.
 *
 * CLOCK_FILE names the file: eight bytes in the machine's order. The clock is read by a direct
 * system call, because allocators read it before libc can look up symbols.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t *ahead; /* NULL: use the real time */

__attribute__((constructor)) static void map_file(void)
{
    const char *name = getenv("CLOCK_FILE");
    int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0)
        return;
    void *mapped = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, fd, 0);
    ahead = mapped == MAP_FAILED ? NULL : mapped;
    close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int err = (int)syscall(SYS_clock_gettime, clock, out);

    if (!err && ahead && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        out->tv_sec += __atomic_load_n(ahead, __ATOMIC_RELAXED);
    return err;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
