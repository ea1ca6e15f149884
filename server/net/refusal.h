/* Responses that are sent without libmicrohttpd, to connections that it has no request of. */
#ifndef FARLANDS_NET_REFUSAL_H
#define FARLANDS_NET_REFUSAL_H

enum refusal {
    REFUSAL_CONNECTIONS, /* 503: the client has too many */
    REFUSAL_SLOW_HEAD,   /* 408 */
};

/* Send REFUSAL to the socket FD, without waiting. The caller then shuts down its sending side. */
void refusal_send(int fd, enum refusal refusal);

#endif
