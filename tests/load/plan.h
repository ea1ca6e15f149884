/* What a run is to do, as the command line says it. */
#ifndef LOAD_PLAN_H
#define LOAD_PLAN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "urls.h"

enum { STREAMS_MAX = 16 };

/* Requests of one kind, over connections of their own. */
struct stream_plan {
    const char *name;
    double rate;  /* requests a second */
    bool poisson; /* at random moments; else evenly spaced */
    unsigned connections;
    struct urls *urls;
    char headers[1024];    /* further ones, each with its CRLF */
    in_addr_t first, last; /* the source addresses, in host order; 0 = the kernel's choice */
    double abandoned;      /* the share of requests whose connection is closed ... */
    uint64_t patience;     /* ... ns after they were sent */
};

struct plan {
    struct sockaddr_in target;
    char authority[32]; /* of the target, HOST:PORT */
    double seconds;     /* in which requests are due */
    double grace;       /* seconds to wait for answers afterwards */
    double hold;        /* seconds to keep the connections open after the report */
    uint64_t seed;
    const char *json; /* a file's name, "-" for standard output, or NULL */
    unsigned streams;
    struct stream_plan stream[STREAMS_MAX];
};

enum plan_made {
    PLAN_MADE,
    PLAN_HELP,  /* was asked for, and given */
    PLAN_WRONG, /* which stderr says why */
};

/* plan_free is due in each case; ARGV is referred to until then. */
enum plan_made plan_parse(struct plan *plan, int argc, char **argv);
void plan_free(struct plan *plan);

#endif
