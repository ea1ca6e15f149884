/* Requests and responses as plain data: what handlers read and make. */
#ifndef FARLANDS_HTTP_MESSAGE_H
#define FARLANDS_HTTP_MESSAGE_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "server/core/blob.h"

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_OPTIONS };

/* The headers that are used: members of struct http_request, and their names. */
#define HTTP_REQUEST_HEADERS(HEADER)                 \
    HEADER(host, "Host")                             \
    HEADER(accept_encoding, "Accept-Encoding")       \
    HEADER(wanted, "Access-Control-Request-Headers") \
    HEADER(if_match, "If-Match")                     \
    HEADER(if_modified_since, "If-Modified-Since")   \
    HEADER(if_none_match, "If-None-Match")           \
    HEADER(if_range, "If-Range")                     \
    HEADER(range, "Range")                           \
    HEADER(priority, "Priority")                     \
    HEADER(referer, "Referer")                       \
    HEADER(user_agent, "User-Agent")                 \
    HEADER(forwarded, "Forwarded")                   \
    HEADER(forwarded_for, "X-Forwarded-For")         \
    HEADER(forwarded_host, "X-Forwarded-Host")       \
    HEADER(forwarded_port, "X-Forwarded-Port")       \
    HEADER(forwarded_prefix, "X-Forwarded-Prefix")   \
    HEADER(forwarded_proto, "X-Forwarded-Proto")

enum { HTTP_REQUEST_LISTS = 3 }; /* Accept-Encoding, If-Match, If-None-Match */

struct http_request {
    enum http_method method;
    /* The method's text, also if the enum lacks it, and the URI's path and query; "-" if the
     * request line is malformed. Printable ASCII. */
    const char *verb, *uri;
    bool old;     /* HTTP/1.0: the connection ends with a body whose length is unknown */
    bool decoded; /* URI was percent-encoded. Escapes that are left in it are refused. */
    /* Header values, or NULL. The last one if a header is repeated; but a list has all its lines,
     * joined with commas in JOINED. */
#define HTTP_REQUEST_MEMBER(member, name) const char *member;
    HTTP_REQUEST_HEADERS(HTTP_REQUEST_MEMBER)
    char *joined[HTTP_REQUEST_LISTS];
    const struct sockaddr *peer; /* the connection's other end, or NULL if unknown */
    uint64_t begun;              /* when the request line was complete, by clock_ns */
    bool last;                   /* the connection closes after the response */
    unsigned refused;            /* 0, or the status with which to refuse the request */
    const char *why;             /* the reason, if refused */
};

struct http_header {
    const char *name, *value;
};

enum { HTTP_LENGTH_UNKNOWN = -1 };

/* Bytes of memory that http takes to send one source. */
enum { HTTP_SOURCE_BUFFER = 64 * 1024 };

/*
 * A body produced while it is sent. Both functions are called on the loop's thread and must not
 * call into http, except that READ may http_wake other exchanges.
 */
struct http_source {
    /*
     * Copy up to MAX bytes to OUT and return how many. Returns 0 if no bytes are available yet:
     * call http_wake once there are. Returns UV_EOF at the end if the length is unknown. Any other
     * negative code cuts the connection off, as does UV_EOF before LENGTH bytes. Not called again
     * after the body is complete or cut off.
     */
    ssize_t (*read)(void *context, void *out, size_t max);
    /* The body is no longer needed, sent or not. Called exactly once. */
    void (*done)(void *context);
    void *context;
};

struct http_response {
    unsigned status;
    const char *type;                  /* Content-Type, or NULL */
    struct blob *body;                 /* or NULL; http takes its own reference */
    size_t first, count;               /* the part of BODY to send; COUNT 0: all of it */
    const struct http_source *source;  /* in place of BODY, or NULL; copied */
    int64_t length;                    /* SOURCE's, or for HEAD the absent body's; or unknown */
    const struct http_header *headers; /* names and values are copied */
    int header_count;
};

/* Body bytes that RESPONSE will send; 0 if unknown. */
static inline size_t http_body_length(const struct http_response *response)
{
    if (response->source)
        return response->length < 0 ? 0 : (size_t)response->length;
    if (!response->body)
        return 0;
    return response->count ? response->count : response->body->length;
}

#endif
