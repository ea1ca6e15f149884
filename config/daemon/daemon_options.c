/* The table of the daemon's keys. Their defaults are in config/farlands.yaml. */
#include "daemon_options.h"

#include <errno.h>
#include <string.h>

#include "config/daemon/config.h"
#include "config/world/world_options.h"

/* In the order of enum log_level. */
static const char *const levels[] = {"error", "warning", "info", "debug", NULL};

static int parse_listen(char *out, const char *text, size_t length)
{
    if (!authority_can_listen(text, length))
        return -EINVAL;
    memcpy(out, text, length);
    out[length] = '\0';
    return 0;
}

static int parse_network(char *out, const char *text, size_t length)
{
    struct network network;
    int err = network_parse(&network, text, length);
    if (!err)
        memcpy(out, &network, sizeof network);
    return err;
}

#define AT(member) offsetof(struct config, member)

_Static_assert(offsetof(struct networks, count) == NETWORKS_MAX * sizeof(struct network),
               "networks are an OPTION_LIST");
_Static_assert(WORLDS_MAX == 1024, "what the message about worlds says");
#define INTEGER(key, member, min, max, help)                  \
    {                                                         \
        key, OPTION_INTEGER, AT(member), min, max, HELP(help) \
    }

static const struct option cache_options[] = {
    {"path", OPTION_TEXT, AT(cache.path), .max = CONFIG_TEXT_MAX, .expected = "a directory's path",
     HELP("The directory for rendered tiles, files at "
          "{fingerprint}/{layer}/{z}/{x}/{y}[@2x][+border].{png,webp}. If empty, "
          "$XDG_CACHE_HOME/farlands or ~/.cache/farlands; ~ is not expanded in the path "
          "itself. You may delete the directory, or parts of it, at any time.")},
    {"disk", OPTION_SIZE, AT(cache.disk), 0x1p20, 0x1p50,
     .expected = "a size from 1M to 1024T such as 10G",
     HELP("The directory's maximum size. Near that size or near `files`, tiles are "
          "evicted: first those with fingerprints that this daemon does not serve "
          "(including seeds not requested recently), then those requested least recently.")},
    INTEGER("files", cache.files, 100, 1e9, "The maximum number of files and directories in it."),
    {"memory", OPTION_SIZE, AT(cache.memory), 0, 0x1p50,
     .expected = "a size from 0 to 1024T such as 256M",
     HELP("The memory for encoded tiles and whole responses. Suffixes K, M, G and T are "
          "powers of 1024.")},
    {0},
};

static const struct option limits_options[] = {
    INTEGER("connections", limits.connections, 1, 1000000,
            "Maximum concurrent connections. For further ones, idle connections are closed, "
            "those of the client with the most connections; if none is idle, they wait in "
            "the listen backlog."),
    INTEGER("connections_per_client", limits.connections_per_client, 0, 1000000,
            "The same per client address, or per /64 of IPv6; further connections get a 503 "
            "and are closed. Listed proxies have no such limit. 0: no limit."),
    INTEGER("idle", limits.idle, 1, 86400,
            "The seconds that a connection may be idle between two requests. A proxy should "
            "close its own connections sooner, because a request that meets a close on its "
            "way is lost. nginx and most load balancers of clouds keep theirs for 60 s."),
    INTEGER("drain", limits.drain, 1, 3600,
            "The seconds that requests in progress have after SIGTERM. Then renders that "
            "still wait are refused, and responses with slow readers are cut off. A region "
            "that would take longer is refused at once. `docker stop` kills after 10 s; "
            "systemd, Compose and Kubernetes have a grace period to set."),
    INTEGER("queue", limits.queue, 1, 1000000,
            "Maximum renders that wait for a thread. If there are more, the client with the "
            "most work waiting loses its last one: 503 with Retry-After."),
    INTEGER("wait", limits.wait, 1, 60000,
            "Maximum milliseconds in that queue. If a client's oldest render has waited "
            "longer, or a new one would probably wait more than three times as long, the "
            "response is 503, too. Clients have equal shares of the render threads."),
    INTEGER("misses_per_client", limits.misses_per_client, 0, 1000000,
            "Maximum requests per client that wait for renders; further requests get 503. "
            "0: no limit."),
    {"memory", OPTION_SIZE, AT(limits.memory), 0x1p23, 0x1p50, .or_zero = true,
     .expected = "0, or a size from 8M to 1024T such as 128M",
     HELP("Maximum bytes in responses that wait for their readers. One client has at most "
          "as many as are left free. Requests that would need more get 503. 0: an eighth "
          "of the machine's or the container's memory, from 64M to 1G.")},
    INTEGER("streams", limits.streams, 1, 1000000,
            "Maximum concurrent responses that are computed while they are sent: regions "
            "and volumes with more than 2^18 samples. Each takes 2 MiB of `memory`, or 4 if "
            "its reader is faster than the computation. Further ones get 503."),
    INTEGER("streams_per_client", limits.streams_per_client, 0, 1000000,
            "The same per client, so that slow readers leave some to others. 0: no limit."),
    {0},
};

static const struct option webp_options[] = {
    INTEGER("quality", webp.quality, 0, 100,
            "The higher, the nearer to the true colors, and the larger."),
    INTEGER("quality_2x", webp.quality_2x, 0, 100,
            "The same for @2x tiles, whose pixels are half as wide on a screen."),
    INTEGER("method", webp.method, 0, 6,
            "The higher, the smaller the files and the longer they take. 4 takes three to "
            "five times as long as 0, for a tenth to a third fewer bytes."),
    {0},
};

const struct option daemon_options[] = {
    {"listen", OPTION_TEXT, AT(listen), .parse = parse_listen,
     .expected = "HOST:PORT, or in quotes \"[HOST]:PORT\", port 0 to 65535",
     HELP("The address to listen on. Port 0 picks a free port. A name such as localhost "
          "stands for all its addresses on this machine. To listen on all interfaces, as "
          "in a container, use 0.0.0.0:8080 or \"[::]:8080\". Brackets need the quotes, "
          "because they are a list in YAML.")},
    {"public_url", OPTION_TEXT, AT(site.public_url), .parse = url_prefix_parse_url,
     .expected = "empty, or http:// or https:// with a host and perhaps a port and a path, such as "
                 "https://tiles.example.org/terrain",
     HELP("The URL under which clients reach the server, if it differs from `listen`. It "
          "becomes the prefix of absolute URLs, as in TileJSON; if empty, the prefix is "
          "http:// and the request's Host. A proxy must strip the path from requests, "
          "unless base_path is set, too.")},
    {"base_path", OPTION_TEXT, AT(site.base_path), .parse = url_prefix_parse_path,
     .expected = "empty, or a path such as /terrain or /a/b, its parts of letters, digits and "
                 "- _ . ~",
     HELP("The path prefix of all routes. With /terrain, the viewer is at /terrain/. "
          "/healthz, /readyz and /metrics also work without the prefix.")},
    {"proxies", OPTION_LIST, AT(site.proxies), .max = NETWORKS_MAX, .size = sizeof(struct network),
     .parse = parse_network,
     .expected = "a list of up to 64 addresses and networks such as 127.0.0.1, 10.0.0.0/8 and "
                 "\"fd00::/8\", without bits beyond the network's, or unix",
     HELP("The trusted proxies; unix stands for all peers on Unix sockets. All clients of "
          "an unlisted proxy count as one, and the log warns once per proxy's address. "
          "X-Forwarded-For identifies the client for the access log and "
          "misses_per_client: its rightmost address that is not a listed proxy. "
          "X-Forwarded-Proto, -Host, -Port (if the host has no port) and -Prefix (the "
          "path that the proxy stripped) make absolute URLs; the rightmost value wins. "
          "The header Forwarded (RFC 7239) counts if there is no X-Forwarded-For, -Host, "
          "-Port or -Proto. So the nearest proxy must overwrite or remove all these "
          "headers.")},
    INTEGER("shards", shards, 0, 64,
            "Event loops, one thread each, which share the connections and do I/O only; "
            "rendering happens on the threads below. 0: one per core, up to 8."),
    INTEGER("threads", threads, 0, 256, "Render threads. 0: one per core."),
    {"log", OPTION_CHOICE, AT(log), .choices = levels,
     HELP(
         "How much the log on stderr has; debug adds lines for each request, and for each step of a tile that is made.")},
    {"access_log", OPTION_TEXT, AT(access_log), .max = CONFIG_TEXT_MAX,
     .expected = "a file's path, \"-\" for standard output, or empty",
     HELP("The access log, which gets a line of JSON per request; empty: none. Lines that "
          "cannot be written at once are dropped and counted, so requests never wait for "
          "the log. SIGHUP reopens the file.")},
    {"cache", OPTION_SECTION, .options = cache_options,
     HELP("The tiles that are kept, on disk and in memory.")},
    {"limits", OPTION_SECTION, .options = limits_options,
     HELP("Limits for clients, and how long the daemon waits; server/README.md has their "
          "effects under load.")},
    {"webp", OPTION_SECTION, .options = webp_options,
     HELP("WebP tiles of relief, hillshade, slope and aspect, beside PNG: half to a fifth "
          "as many bytes, with colors that differ a little more.")},
    {"worlds", OPTION_WORLDS, .options = world_options, .expected = "a list of 1 to 1024 worlds",
     HELP("The worlds that are served. Without this key they are default, archipelago and "
          "alps, which are built in (config/worlds/); so the rest of this file is "
          "comments. Keys that a world omits take the values shown here, never those of "
          "another world in the file.")},
    {0},
};
