#include "mhd_sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static _Thread_local struct mhd_sockets *used;

/* Named in assembly because the C library's headers may define them as inline functions. */
ssize_t mhd_sockets_recv(int fd, void *buffer, size_t size, int flags) __asm__("recv");
ssize_t mhd_sockets_send(int fd, const void *bytes, size_t size, int flags) __asm__("send");

static void *context_of(int fd)
{
    return used && fd >= 0 && (size_t)fd < used->count ? used->contexts[fd] : NULL;
}

ssize_t mhd_sockets_recv(int fd, void *buffer, size_t size, int flags)
{
    void *context = context_of(fd);
    if (context)
        return used->read(context, buffer, size);
    return recvfrom(fd, buffer, size, flags, NULL, NULL);
}

/* The last header of a 304, and the empty line. */
#define LINE "Content-Length: 0\r\n"
#define END "\r\n"

enum { LINE_SIZE = sizeof LINE - 1, END_SIZE = sizeof END - 1, HEAD_MAX = 4096 };

/* As send(2), but if the SIZE bytes end with LINE and END, LINE counts as sent with the first byte
 * of END. So a part of them is never sent. */
static ssize_t send_without_length(int fd, const char *bytes, size_t size, int flags)
{
    char head[HEAD_MAX];

    if (size < LINE_SIZE + END_SIZE || size > HEAD_MAX ||
        memcmp(bytes + size - END_SIZE - LINE_SIZE, LINE END, LINE_SIZE + END_SIZE) != 0)
        return sendto(fd, bytes, size, flags, NULL, 0);
    const size_t before = size - END_SIZE - LINE_SIZE;
    memcpy(head, bytes, before);
    memcpy(head + before, END, END_SIZE);
    const ssize_t sent = sendto(fd, head, before + END_SIZE, flags, NULL, 0);
    return sent > (ssize_t)before ? sent + LINE_SIZE : sent;
}

ssize_t mhd_sockets_send(int fd, const void *bytes, size_t size, int flags)
{
    const void *context = context_of(fd);
    if (context && used->is_not_modified(context))
        return send_without_length(fd, bytes, size, flags);
    return sendto(fd, bytes, size, flags, NULL, 0);
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
