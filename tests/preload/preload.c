/*
 * Preloaded into the daemon: makes system calls fail, transfer less, or take long, and moves the
 * clocks, as the test that started it says. Both share a file, so that the test can do this while
 * the daemon runs, and can see when the daemon is at rest. preload.mjs is the test's side.
 *
 * PRELOAD_FILE names that file. PRELOAD_DIRECTORY is the cache: calls on other files never fail.
 * Without a directory only the time of day is moved: for caches such as nginx and Varnish.
 */
#include "preload.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(struct rule) == 64 && sizeof(struct sleeper) == 64 &&
                   offsetof(struct shared, rules) == 192,
               "as preload.mjs has it");

struct shared *shared;
const char *directory;

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
