/* The plan of a run, parsed from the command line. */
#ifndef LOAD_PLAN_H
#define LOAD_PLAN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#include "urls.h"

enum { STREAMS_MAX = 16, HEADERS_MAX = 16 * 1024 };

struct address {
    union {
        struct sockaddr any; /* AF_UNSPEC: no address */
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
    };
    socklen_t length;
};

/* A stream of requests over its own connections. */
struct stream_plan {
    const char *name;
    double rate;  /* requests a second */
    bool poisson; /* Poisson arrivals; else evenly spaced */
    unsigned connections;
    struct urls *urls;
    char headers[HEADERS_MAX]; /* extra headers, each with its CRLF */
    bool in_order;             /* URLs in turn; else random ones */
    bool closed;               /* each connection sends when it has its response; no rate */
    uint64_t pause;            /* ns before it does */
    bool obeys;                /* and Retry-After after a 503 */
    uint64_t requests;         /* ends the stream after so many; 0 = no limit */
    unsigned at_once;          /* requests sent at a time; more than one: nothing is read */
    double pace;               /* bytes a second read of each response; 0 = all at once */
    struct address first;      /* the first source address; AF_UNSPEC = the kernel's choice */
    unsigned sources;          /* how many there are, up from there */
    double abandoned;          /* the share of requests whose connection is closed ... */
    uint64_t patience;         /* ... ns after they were sent */
};

struct plan {
    struct address target;
    char authority[32]; /* of the target, HOST:PORT */
    double seconds;     /* during which requests are due */
    double grace;       /* seconds to wait for responses afterwards */
    double settle;      /* seconds between opening the connections and the first request */
    uint64_t seed;
    bool progress;    /* counts on standard output, meanwhile */
    const char *json; /* a file name, "-" for standard output, or NULL */
    unsigned streams;
    struct stream_plan stream[STREAMS_MAX];
};

enum plan_made {
    PLAN_MADE,
    PLAN_HELP,  /* --help was given and printed */
    PLAN_WRONG, /* wrong usage, reported on stderr */
};

/* The source address number I of STREAM. */
struct address plan_source(const struct stream_plan *stream, unsigned i);

/* Call plan_free in each case; the plan refers to ARGV until then. */
enum plan_made plan_parse(struct plan *plan, int argc, char **argv);
void plan_free(struct plan *plan);

#endif
