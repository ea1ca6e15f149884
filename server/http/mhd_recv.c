#include "mhd_recv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static _Thread_local struct mhd_recv *used;

/* Named in assembly because the C library's headers may define recv as an inline function. */
ssize_t mhd_recv_intercept(int fd, void *buffer, size_t size, int flags) __asm__("recv");

ssize_t mhd_recv_intercept(int fd, void *buffer, size_t size, int flags)
{
    if (used && fd >= 0 && (size_t)fd < used->count && used->contexts[fd])
        return used->read(used->contexts[fd], buffer, size);
    return recvfrom(fd, buffer, size, flags, NULL, NULL);
}

void mhd_recv_use(struct mhd_recv *sockets)
{
    used = sockets;
}

int mhd_recv_add(struct mhd_recv *sockets, int fd, void *context)
{
    const size_t needed = (size_t)fd + 1;

    if (needed > sockets->count) {
        const size_t count = needed > 2 * sockets->count ? needed : 2 * sockets->count;
        void **contexts = realloc(sockets->contexts, count * sizeof *contexts);
        if (!contexts)
            return -ENOMEM;
        memset(contexts + sockets->count, 0, (count - sockets->count) * sizeof *contexts);
        sockets->contexts = contexts;
        sockets->count = count;
    }
    sockets->contexts[fd] = context;
    return 0;
}

void mhd_recv_remove(struct mhd_recv *sockets, int fd)
{
    if ((size_t)fd < sockets->count)
        sockets->contexts[fd] = NULL;
}

void mhd_recv_free(struct mhd_recv *sockets)
{
    free(sockets->contexts);
    sockets->contexts = NULL;
    sockets->count = 0;
}
