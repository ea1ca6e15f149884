#include "mhd_sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static _Thread_local struct mhd_sockets *used;

/* Named in assembly because the C library's headers may define recv as an inline function. */
ssize_t mhd_sockets_recv(int fd, void *buffer, size_t size, int flags) __asm__("recv");

ssize_t mhd_sockets_recv(int fd, void *buffer, size_t size, int flags)
{
    if (used && fd >= 0 && (size_t)fd < used->count && used->contexts[fd])
        return used->read(used->contexts[fd], buffer, size);
    return recvfrom(fd, buffer, size, flags, NULL, NULL);
}

void mhd_sockets_use(struct mhd_sockets *sockets)
{
    used = sockets;
}

int mhd_sockets_add(struct mhd_sockets *sockets, int fd, void *context)
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

void mhd_sockets_remove(struct mhd_sockets *sockets, int fd)
{
    if ((size_t)fd < sockets->count)
        sockets->contexts[fd] = NULL;
}

void mhd_sockets_free(struct mhd_sockets *sockets)
{
    free(sockets->contexts);
    sockets->contexts = NULL;
    sockets->count = 0;
}
