#include "unlisted_peers.h"

#include <netinet/in.h>
#include <string.h>
#include <xxhash.h>

#include "server/telemetry/access_log.h"
#include "server/telemetry/log.h"

/* Not 0. All peers on Unix sockets are one. */
static uint64_t hash_of(const struct sockaddr *peer)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)peer;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)peer;

    if (peer->sa_family == AF_INET)
        return XXH3_64bits(&v4->sin_addr, sizeof v4->sin_addr) | 1;
    if (peer->sa_family == AF_INET6)
        return XXH3_64bits(&v6->sin6_addr, sizeof v6->sin6_addr) | 1;
    return 1;
}

unsigned unlisted_peers_add(struct unlisted_peers *peers, const struct sockaddr *peer)
{
    const uint64_t hash = hash_of(peer);

    for (unsigned i = 0; i < UNLISTED_PEERS_MAX; i++) {
        uint64_t found = __atomic_load_n(&peers->hash[i], __ATOMIC_RELAXED);
        if (!found && __atomic_compare_exchange_n(&peers->hash[i], &found, hash, false,
                                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return i + 1;
        if (found == hash)
            return 0;
    }
    return 0;
}

void unlisted_peers_warn(struct unlisted_peers *peers, const struct sockaddr *peer,
                         const char *header)
{
    const unsigned count = unlisted_peers_add(peers, peer);
    char text[INET6_ADDRSTRLEN];

    if (!count)
        return;
    char *end = access_put_client(text, peer);
    if (end == text)
        end = stpcpy(text, "unix");
    *end = '\0';
    const char *quote = strchr(text, ':') ? "\"" : "";
    log_line(LOG_WARNING,
             "%s sends %s, which is ignored: URLs have its Host, and all its clients count as one; "
             "if it is a proxy of yours, expected proxies: [%s%s%s]%s",
             text, header, quote, text, quote,
             count == UNLISTED_PEERS_MAX ? "; further ones are not logged" : "");
}
