/* Whole reads and writes despite short transfers and signals. */
#ifndef FARLANDS_CACHE_FILE_IO_H
#define FARLANDS_CACHE_FILE_IO_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

/* Transfer LENGTH bytes between BYTES and the file FD, from OFFSET on. Returns the number of bytes,
 * less than LENGTH only at the end of the file; or a negative code. */
static inline ssize_t file_transfer(int fd, void *bytes, size_t length, uint64_t offset, bool out)
{
    size_t done = 0;
    while (done < length) {
        char *at = (char *)bytes + done;
        const size_t left = length - done;
        const off_t to = (off_t)(offset + done);
        ssize_t n = out ? pwrite(fd, at, left, to) : pread(fd, at, left, to);
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
