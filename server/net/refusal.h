/* Responses sent without libmicrohttpd, on connections from which it has no request. */
#ifndef FARLANDS_NET_REFUSAL_H
#define FARLANDS_NET_REFUSAL_H

#include <stdbool.h>

enum refusal {
    REFUSAL_CONNECTIONS, /* 503: the client has too many */
    REFUSAL_SLOW_HEAD,   /* 408 */
};

/* Send REFUSAL to the socket FD, without waiting. Returns true if the system has taken all bytes.
 */
bool refusal_send(int fd, enum refusal refusal);

#endif
