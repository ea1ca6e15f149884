#include "plan.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECTIONS_MAX = 60000, SECONDS_MAX = 3600 };

static const char help[] =
    "open_loop [OPTION...] TARGET [--stream NAME OPTION...]...\n"
    "Sends HTTP/1.1 requests when they are due, whether or not responses arrive, and\n"
    "measures latency from that moment. TARGET is 127.x.y.z:PORT, [::1]:PORT or unix:PATH.\n"
    "SIGTERM ends it early, with its report.\n"
    "\n"
    "  --seconds S        how long requests are due (5)\n"
    "  --grace S          how long to wait for responses afterwards (2)\n"
    "  --settle S         wait this long between opening the connections and the first request (0)\n"
    "  --seed N           seed of all random choices (1)\n"
    "  --progress         a line of JSON with counts at most every 20 ms, on standard output\n"
    "  --json FILE        the report as JSON; - for standard output, instead of the table\n"
    "\n"
    "  --stream NAME      begin a stream; the options below apply to it\n"
    "  --rate N           requests a second (100); 0: connections that send nothing\n"
    "  --closed           no rate: a connection sends a request when it has its last response\n"
    "  --pause MS         and so many ms after it (0)\n"
    "  --obey             and after Retry-After if that was a 503\n"
    "  --requests N       end after so many\n"
    "  --stall N          send N requests at once, and read nothing\n"
    "  --pace N           read N bytes a second of each response\n"
    "  --poisson          Poisson arrivals instead of even spacing\n"
    "  --connections N    if all are busy, due requests wait, and the wait counts (16)\n"
    "  --url PATH         repeatable; {A..B} is a random whole number (/)\n"
    "  --urls FILE        the same, one per line\n"
    "  --in-order         URLs one after another instead of random ones\n"
    "  --header LINE      'Name: value', sent with each request; repeatable\n"
    "  --source A[-B]     loopback addresses, or of IPv6 any, to connect from, in turn\n"
    "  --abandon SHARE@MS close this share of the requests' connections MS after sending\n";

static int wrong(const char *option, const char *text, const char *accepted)
{
    fprintf(stderr, "open_loop: %s %s: expected %s\n", option, text, accepted);
    return -EINVAL;
}

static int parse_address(struct address *address, const char *text)
{
    *address = (struct address){.v4.sin_family = AF_INET, .length = sizeof address->v4};
    if (inet_pton(AF_INET, text, &address->v4.sin_addr) == 1)
        return ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET ? 0 : -EINVAL;
    *address = (struct address){.v6.sin6_family = AF_INET6, .length = sizeof address->v6};
    return inet_pton(AF_INET6, text, &address->v6.sin6_addr) == 1 ? 0 : -EINVAL;
}

/* The last 32 bits, in which source addresses differ. */
static uint32_t *end_of(struct address *address)
{
    return address->any.sa_family == AF_INET6 ? &address->v6.sin6_addr.s6_addr32[3]
                                              : &address->v4.sin_addr.s_addr;
}

struct address plan_source(const struct stream_plan *stream, unsigned i)
{
    struct address address = stream->first;
    if (stream->sources > 1)
        *end_of(&address) = htonl(ntohl(*end_of(&address)) + i % stream->sources);
    return address;
}

static int parse_target(struct plan *plan, const char *text)
{
    const char accepted[] = "127.x.y.z:PORT, [::1]:PORT or unix:PATH: only loopback may be loaded";
    char host[INET6_ADDRSTRLEN] = "";
    const char *colon = strrchr(text, ':');

    if (strncmp(text, "unix:", 5) == 0) {
        struct sockaddr_un *local = &plan->target.local;
        plan->target = (struct address){.local.sun_family = AF_UNIX, .length = sizeof *local};
        snprintf(plan->authority, sizeof plan->authority, "localhost");
        return (size_t)snprintf(local->sun_path, sizeof local->sun_path, "%s", text + 5) <
                       sizeof local->sun_path
                   ? 0
                   : wrong("target", text, accepted);
    }
    bool v6 = *text == '[' && colon && colon[-1] == ']';
    size_t length = colon ? (size_t)(colon - text) - 2 * v6 : 0;
    if (!colon || length >= sizeof host)
        return wrong("target", text, accepted);
    memcpy(host, text + v6, length);
    char *end;
    long port = strtol(colon + 1, &end, 10);
    if (parse_address(&plan->target, host) || *end || port < 1 || port > 65535 ||
        (plan->target.any.sa_family == AF_INET6) != v6 ||
        (v6 && !IN6_IS_ADDR_LOOPBACK(&plan->target.v6.sin6_addr)))
        return wrong("target", text, accepted);
    plan->target.v4.sin_port = htons((uint16_t)port); /* which is sin6_port as well */
    snprintf(plan->authority, sizeof plan->authority, v6 ? "[%s]:%ld" : "%s:%ld", host, port);
    return 0;
}

static int parse_sources(struct stream_plan *stream, const char *text)
{
    char first[INET6_ADDRSTRLEN] = "";
    const char *dash = strchr(text, '-');
    size_t length = dash ? (size_t)(dash - text) : strlen(text);
    struct address last;

    if (length < sizeof first)
        memcpy(first, text, length);
    if (parse_address(&stream->first, first) || parse_address(&last, dash ? dash + 1 : first) ||
        ntohl(*end_of(&last)) < ntohl(*end_of(&stream->first)))
        return wrong("--source", text, "a loopback address, or two, A-B");
    stream->sources = ntohl(*end_of(&last)) - ntohl(*end_of(&stream->first)) + 1;
    return 0;
}

static int parse_abandoned(struct stream_plan *stream, const char *text)
{
    char *end;
    stream->abandoned = strtod(text, &end);
    const char *ms = *end == '@' ? end + 1 : "";
    stream->patience = (uint64_t)(strtod(ms, &end) * 1e6);
    if (end == ms || *end || !(stream->abandoned >= 0 && stream->abandoned <= 1))
        return wrong("--abandon", text, "SHARE@MS such as 0.1@50");
    return 0;
}

static int parse_number(double *out, const char *option, const char *text, double min, double max)
{
    char accepted[64], *end;
    *out = strtod(text, &end);
    if (end != text && !*end && *out >= min && *out <= max)
        return 0;
    snprintf(accepted, sizeof accepted, "a number from %g to %g", min, max);
    return wrong(option, text, accepted);
}

static int add_header(struct stream_plan *stream, const char *text)
{
    size_t length = strlen(stream->headers);
    size_t room = sizeof stream->headers - length;
    if (strpbrk(text, "\r\n") || !strchr(text, ':') ||
        (size_t)snprintf(stream->headers + length, room, "%s\r\n", text) >= room)
        return wrong("--header", text, "'Name: value', 16,000 bytes in all");
    return 0;
}

static int add_urls(int err, const char *option, const char *text)
{
    if (err == -EINVAL)
        return wrong(option, text, "paths such as /default/relief/12/{0..4095}/{0..4095}.png");
    return err ? wrong(option, text, "readable") : 0;
}

/* The current stream; an unnamed one is made if none was begun. */
static struct stream_plan *stream_of(struct plan *plan, const char *name)
{
    if (name || plan->streams == 0) {
        if (plan->streams == STREAMS_MAX)
            return NULL;
        struct stream_plan *stream = &plan->stream[plan->streams];
        *stream = (struct stream_plan){
            .name = name ? name : "load", .rate = 100, .connections = 16, .at_once = 1};
        if (urls_new(&stream->urls))
            return NULL;
        plan->streams++;
    }
    return &plan->stream[plan->streams - 1];
}

static int parse_stream(struct plan *plan, int option, const char *text)
{
    double number = 0;
    int err = 0;
    const char *name = option == 's' ? text : NULL;

    if (name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != strlen(name))
        return wrong("--stream", name, "a name of a-z 0-9 - _");
    struct stream_plan *stream = stream_of(plan, name);
    if (!stream)
        return wrong("--stream", text, "at most 16 streams");
    switch (option) {
    case 'r':
        return parse_number(&stream->rate, "--rate", text, 0, 1e7);
    case 'C':
        stream->closed = true;
        return 0;
    case 'O':
        stream->obeys = true;
        return 0;
    case 'I':
        stream->in_order = true;
        return 0;
    case 'P':
        err = parse_number(&number, "--pause", text, 0, 1e6);
        stream->pause = (uint64_t)(number * 1e6);
        return err;
    case 'n':
        err = parse_number(&number, "--requests", text, 1, 1e12);
        stream->requests = (uint64_t)number;
        return err;
    case 'l':
        err = parse_number(&number, "--stall", text, 2, 16);
        stream->at_once = (unsigned)number;
        return err;
    case 'q':
        return parse_number(&stream->pace, "--pace", text, 100, 6e6);
    case 'p':
        stream->poisson = true;
        return 0;
    case 'c':
        err = parse_number(&number, "--connections", text, 1, CONNECTIONS_MAX);
        stream->connections = (unsigned)number;
        return err;
    case 'u':
        return add_urls(urls_add(stream->urls, text), "--url", text);
    case 'f':
        return add_urls(urls_read(stream->urls, text), "--urls", text);
    case 'h':
        return add_header(stream, text);
    case 'b':
        return parse_sources(stream, text);
    case 'a':
        return parse_abandoned(stream, text);
    }
    return 0;
}

static int parse_option(struct plan *plan, int option, const char *text)
{
    double number = 0;
    int err;

    switch (option) {
    case 'S':
        return parse_number(&plan->seconds, "--seconds", text, 0.001, SECONDS_MAX);
    case 'G':
        return parse_number(&plan->grace, "--grace", text, 0, SECONDS_MAX);
    case 'W':
        return parse_number(&plan->settle, "--settle", text, 0, SECONDS_MAX);
    case 'N':
        err = parse_number(&number, "--seed", text, 0, 0x1p53);
        plan->seed = (uint64_t)number;
        return err;
    case 'J':
        plan->json = text;
        return 0;
    case 'Z':
        plan->progress = true;
        return 0;
    case '?':
        return -EINVAL;
    }
    return parse_stream(plan, option, text);
}

enum plan_made plan_parse(struct plan *plan, int argc, char **argv)
{
    static const struct option options[] = {
        {"seconds", required_argument, NULL, 'S'},  {"grace", required_argument, NULL, 'G'},
        {"settle", required_argument, NULL, 'W'},   {"seed", required_argument, NULL, 'N'},
        {"json", required_argument, NULL, 'J'},     {"progress", no_argument, NULL, 'Z'},
        {"stream", required_argument, NULL, 's'},   {"rate", required_argument, NULL, 'r'},
        {"poisson", no_argument, NULL, 'p'},        {"closed", no_argument, NULL, 'C'},
        {"pause", required_argument, NULL, 'P'},    {"obey", no_argument, NULL, 'O'},
        {"requests", required_argument, NULL, 'n'}, {"stall", required_argument, NULL, 'l'},
        {"pace", required_argument, NULL, 'q'},     {"in-order", no_argument, NULL, 'I'},
        {"urls", required_argument, NULL, 'f'},     {"connections", required_argument, NULL, 'c'},
        {"url", required_argument, NULL, 'u'},      {"header", required_argument, NULL, 'h'},
        {"source", required_argument, NULL, 'b'},   {"abandon", required_argument, NULL, 'a'},
        {"help", no_argument, NULL, 'x'},           {0},
    };
    *plan = (struct plan){.seconds = 5, .grace = 2, .seed = 1};
    int option, err = 0;
    while (!err && (option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'x') {
            fputs(help, stdout);
            return PLAN_HELP;
        }
        err = parse_option(plan, option, optarg);
    }
    if (!err && argc - optind != 1)
        err = wrong("arguments", "", "options and one target; see --help");
    if (!err && !stream_of(plan, NULL))
        err = -ENOMEM;
    for (unsigned i = 0; !err && i < plan->streams; i++)
        if (urls_count(plan->stream[i].urls) == 0)
            err = urls_add(plan->stream[i].urls, "/");
    if (!err)
        err = parse_target(plan, argv[optind]);
    return err ? PLAN_WRONG : PLAN_MADE;
}

void plan_free(struct plan *plan)
{
    for (unsigned i = 0; i < plan->streams; i++)
        urls_free(plan->stream[i].urls);
}
