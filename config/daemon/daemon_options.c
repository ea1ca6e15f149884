/* The table of the daemon's options; config/farlands.yaml explains each key. */
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
#define INTEGER(key, member, min, max)                              \
    {                                                               \
        key, OPTION_INTEGER, AT(member), min, max, .expected = NULL \
    }

static const struct option cache_options[] = {
    {"path", OPTION_TEXT, AT(cache.path), .max = CONFIG_TEXT_MAX, .expected = "a directory's path"},
    {"disk", OPTION_SIZE, AT(cache.disk), 0x1p20, 0x1p50,
     .expected = "a size from 1M to 1024T such as 10G"},
    INTEGER("files", cache.files, 100, 1e9),
    {"memory", OPTION_SIZE, AT(cache.memory), 0, 0x1p50,
     .expected = "a size from 0 to 1024T such as 256M"},
    {0},
};

static const struct option limits_options[] = {
    INTEGER("connections", limits.connections, 1, 1000000),
    INTEGER("connections_per_client", limits.connections_per_client, 0, 1000000),
    INTEGER("idle", limits.idle, 1, 86400),
    INTEGER("drain", limits.drain, 1, 3600),
    INTEGER("queue", limits.queue, 1, 1000000),
    INTEGER("wait", limits.wait, 1, 60000),
    INTEGER("misses_per_client", limits.misses_per_client, 0, 1000000),
    {"memory", OPTION_SIZE, AT(limits.memory), 0x1p23, 0x1p50, .or_zero = true,
     .expected = "0, or a size from 8M to 1024T such as 128M"},
    INTEGER("streams", limits.streams, 1, 1000000),
    INTEGER("streams_per_client", limits.streams_per_client, 0, 1000000),
    {0},
};

static const struct option webp_options[] = {
    INTEGER("quality", webp.quality, 0, 100),
    INTEGER("quality_2x", webp.quality_2x, 0, 100),
    INTEGER("method", webp.method, 0, 6),
    {0},
};

const struct option daemon_options[] = {
    {"listen", OPTION_TEXT, AT(listen), .parse = parse_listen,
     .expected = "HOST:PORT, or in quotes \"[HOST]:PORT\", port 0 to 65535"},
    {"public_url", OPTION_TEXT, AT(site.public_url), .parse = url_prefix_parse_url,
     .expected = "empty, or http:// or https:// with a host and perhaps a port and a path, such as "
                 "https://tiles.example.org/terrain"},
    {"base_path", OPTION_TEXT, AT(site.base_path), .parse = url_prefix_parse_path,
     .expected = "empty, or a path such as /terrain or /a/b, its parts of letters, digits and "
                 "- _ . ~"},
    {"proxies", OPTION_LIST, AT(site.proxies), .max = NETWORKS_MAX, .size = sizeof(struct network),
     .parse = parse_network,
     .expected = "a list of up to 64 addresses and networks such as 127.0.0.1, 10.0.0.0/8 and "
                 "\"fd00::/8\", without bits beyond the network's, or unix"},
    INTEGER("shards", shards, 0, 64),
    INTEGER("threads", threads, 0, 256),
    {"log", OPTION_CHOICE, AT(log), .choices = levels},
    {"access_log", OPTION_TEXT, AT(access_log), .max = CONFIG_TEXT_MAX,
     .expected = "a file's path, \"-\" for standard output, or empty"},
    {"cache", OPTION_SECTION, .options = cache_options},
    {"limits", OPTION_SECTION, .options = limits_options},
    {"webp", OPTION_SECTION, .options = webp_options},
    {"worlds", OPTION_WORLDS, .options = world_options, .expected = "a list of 1 to 1024 worlds"},
    {0},
};
