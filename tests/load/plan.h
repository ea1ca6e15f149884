/* The plan of a run, parsed from the command line. */
#ifndef LOAD_PLAN_H
#define LOAD_PLAN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "urls.h"

enum { STREAMS_MAX = 16, HEADERS_MAX = 16 * 1024 };

/* A stream of requests over its own connections. */
struct stream_plan {
    const char *name;
    double rate;  /* requests a second */
    bool poisson; /* Poisson arrivals; else evenly spaced */
    unsigned connections;
    struct urls *urls;
    char headers[HEADERS_MAX]; /* extra headers, each with its CRLF */
    in_addr_t first, last;     /* the source addresses, in host order; 0 = the kernel's choice */
    double abandoned;          /* the share of requests whose connection is closed ... */
    uint64_t patience;         /* ... ns after they were sent */
};

struct plan {
    struct sockaddr_in target;
    char authority[32]; /* of the target, HOST:PORT */
    double seconds;     /* during which requests are due */
    double grace;       /* seconds to wait for responses afterwards */
    double settle;      /* seconds between opening the connections and the first request */
    double hold;        /* seconds to keep the connections open after the report */
    uint64_t seed;
    const char *json; /* a file name, "-" for standard output, or NULL */
    unsigned streams;
    struct stream_plan stream[STREAMS_MAX];
};

enum plan_made {
    PLAN_MADE,
    PLAN_HELP,  /* --help was given and printed */
    PLAN_WRONG, /* wrong usage, reported on stderr */
};

/* Call plan_free in each case; the plan refers to ARGV until then. */
enum plan_made plan_parse(struct plan *plan, int argc, char **argv);
void plan_free(struct plan *plan);

#endif
