/* Whole files read and written despite short transfers and signals. */
#ifndef FARLANDS_CACHE_FILE_IO_H
#define FARLANDS_CACHE_FILE_IO_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

/* Transfer LENGTH bytes between BYTES and the beginning of the file FD. Returns their number, less
 * than LENGTH only at the end of the file; or a negative code. */
static inline ssize_t file_transfer(int fd, void *bytes, size_t length, bool out)
{
    size_t done = 0;
    while (done < length) {
        char *at = (char *)bytes + done;
        const size_t left = length - done;
        ssize_t n = out ? pwrite(fd, at, left, (off_t)done) : pread(fd, at, left, (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

#endif
