#include "client_limits.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct client {
    UT_hash_handle hh;
    struct in6_addr key; /* IPv4-mapped, or IPv6 with 64 bits of 0 at the end */
    unsigned counts[CLIENT_COUNTS];
    uint64_t held; /* bytes */
};

/* Bytes that several responses to a client share: they exist once. */
struct shared {
    UT_hash_handle hh;
    struct shared_key {
        struct in6_addr client;
        const void *bytes; /* where they are; never read */
    } key;
    unsigned count; /* responses */
    uint64_t size;
};

struct client_limits {
    uint64_t secret[2];
    uv_mutex_t lock;
    struct client *by_key;
    struct shared *shared;
    uint64_t held; /* bytes, by all clients */
};

/* Returns false if PEER is not limited. */
static bool key_of(struct in6_addr *key, const struct sockaddr *peer)
{
    *key = (struct in6_addr){0};
    if (peer && peer->sa_family == AF_INET) {
        key->s6_addr[10] = key->s6_addr[11] = 0xff;
        memcpy(key->s6_addr + 12, &((const struct sockaddr_in *)peer)->sin_addr, 4);
        return true;
    }
    if (peer && peer->sa_family == AF_INET6) {
        *key = ((const struct sockaddr_in6 *)peer)->sin6_addr;
        if (!IN6_IS_ADDR_V4MAPPED(key))
            memset(key->s6_addr + 8, 0, 8);
        return true;
    }
    return false;
}

static struct client *find(struct client_limits *clients, const struct in6_addr *key)
{
    struct client *client;
    HASH_FIND(hh, clients->by_key, key, sizeof *key, client);
    return client;
}

static struct client *add(struct client_limits *clients, const struct in6_addr *key)
{
    struct client *client = calloc(1, sizeof *client);
    if (!client)
        return NULL;
    client->key = *key;
    HASH_ADD(hh, clients->by_key, key, sizeof *key, client);
    if (!client->hh.tbl) {
        free(client);
        return NULL;
    }
    return client;
}

static struct client *find_or_add(struct client_limits *clients, const struct in6_addr *key)
{
    struct client *client = find(clients, key);
    return client ? client : add(clients, key);
}

static void remove_if_unused(struct client_limits *clients, struct client *client)
{
    for (int i = 0; i < CLIENT_COUNTS; i++)
        if (client->counts[i] > 0)
            return;
    if (client->held > 0)
        return;
    HASH_DEL(clients->by_key, client);
    free(client);
}

bool client_limits_enter(struct client_limits *clients, const struct sockaddr *peer,
                         enum client_count kind, unsigned limit)
{
    struct in6_addr key;
    bool within = true;

    if (!key_of(&key, peer))
        return true;
    uv_mutex_lock(&clients->lock);
    struct client *client = find_or_add(clients, &key);
    if (client && limit && client->counts[kind] >= limit)
        within = false;
    else if (client)
        __atomic_fetch_add(&client->counts[kind], 1, __ATOMIC_RELAXED);
    uv_mutex_unlock(&clients->lock);
    return within;
}

void client_limits_leave(struct client_limits *clients, const struct sockaddr *peer,
                         enum client_count kind)
{
    struct in6_addr key;

    if (!key_of(&key, peer))
        return;
    uv_mutex_lock(&clients->lock);
    struct client *client = find(clients, &key);
    /* There is no count if client_limits_enter was out of memory. */
    if (client && client->counts[kind] > 0) {
        __atomic_fetch_sub(&client->counts[kind], 1, __ATOMIC_RELAXED);
        remove_if_unused(clients, client);
    }
    uv_mutex_unlock(&clients->lock);
}

/* SplitMix64's finalizer (Steele, Lea and Flood, 2014). */
static uint64_t mix(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

uint64_t client_limits_hash(const struct client_limits *clients, const struct sockaddr *peer)
{
    struct in6_addr key;
    uint64_t half[2];

    key_of(&key, peer);
    memcpy(half, &key, sizeof half);
    return mix(mix(half[0] ^ clients->secret[0]) + half[1] + clients->secret[1]);
}

/* Returns 0 if CLIENT may hold BYTES more, within LIMIT for all clients, or the error. */
static int check_share(const struct client_limits *clients, const struct client *client,
                       uint64_t bytes, uint64_t limit)
{
    const uint64_t left = clients->held < limit ? limit - clients->held : 0;

    if (bytes > left)
        return -ENOBUFS;
    return client->held > left - bytes ? -EDQUOT : 0;
}

static int hold(struct client_limits *clients, const struct in6_addr *key, uint64_t bytes,
                uint64_t limit)
{
    struct client *client = find_or_add(clients, key);
    if (!client)
        return -ENOMEM;
    int err = check_share(clients, client, bytes, limit);
    if (!err) {
        client->held += bytes;
        clients->held += bytes;
    }
    remove_if_unused(clients, client);
    return err;
}

static void drop(struct client_limits *clients, const struct in6_addr *key, uint64_t bytes)
{
    struct client *client = find(clients, key);
    assert(client && client->held >= bytes);
    client->held -= bytes;
    clients->held -= bytes;
    remove_if_unused(clients, client);
}

int client_limits_hold(struct client_limits *clients, const struct sockaddr *peer, uint64_t bytes,
                       uint64_t limit)
{
    struct in6_addr key;

    key_of(&key, peer); /* zero for all peers without an address */
    uv_mutex_lock(&clients->lock);
    int err = hold(clients, &key, bytes, limit);
    uv_mutex_unlock(&clients->lock);
    return err;
}

void client_limits_drop(struct client_limits *clients, const struct sockaddr *peer, uint64_t bytes)
{
    struct in6_addr key;

    key_of(&key, peer);
    uv_mutex_lock(&clients->lock);
    drop(clients, &key, bytes);
    uv_mutex_unlock(&clients->lock);
}

static struct shared *find_shared(struct client_limits *clients, const struct sockaddr *peer,
                                  const void *bytes, struct shared_key *key)
{
    struct shared *shared;

    key_of(&key->client, peer);
    key->bytes = bytes;
    HASH_FIND(hh, clients->shared, key, sizeof *key, shared);
    return shared;
}

static int hold_first(struct client_limits *clients, const struct shared_key *key, uint64_t size,
                      uint64_t limit)
{
    struct shared *shared = calloc(1, sizeof *shared);
    int err = shared ? hold(clients, &key->client, size, limit) : -ENOMEM;

    if (err) {
        free(shared);
        return err;
    }
    *shared = (struct shared){.key = *key, .count = 1, .size = size};
    HASH_ADD(hh, clients->shared, key, sizeof shared->key, shared);
    if (shared->hh.tbl)
        return 0;
    drop(clients, &key->client, size);
    free(shared);
    return -ENOMEM;
}

int client_limits_hold_shared(struct client_limits *clients, const struct sockaddr *peer,
                              const void *bytes, uint64_t size, uint64_t limit)
{
    struct shared_key key;
    int err = 0;

    uv_mutex_lock(&clients->lock);
    struct shared *shared = find_shared(clients, peer, bytes, &key);
    if (shared)
        shared->count++;
    else
        err = hold_first(clients, &key, size, limit);
    uv_mutex_unlock(&clients->lock);
    return err;
}

void client_limits_drop_shared(struct client_limits *clients, const struct sockaddr *peer,
                               const void *bytes)
{
    struct shared_key key;

    uv_mutex_lock(&clients->lock);
    struct shared *shared = find_shared(clients, peer, bytes, &key);
    assert(shared);
    if (--shared->count == 0) {
        HASH_DEL(clients->shared, shared);
        drop(clients, &key.client, shared->size);
        free(shared);
    }
    uv_mutex_unlock(&clients->lock);
}

uint64_t client_limits_held(struct client_limits *clients)
{
    uv_mutex_lock(&clients->lock);
    const uint64_t held = clients->held;
    uv_mutex_unlock(&clients->lock);
    return held;
}

const unsigned *client_limits_watch(struct client_limits *clients, const struct sockaddr *peer,
                                    enum client_count kind)
{
    struct in6_addr key;

    if (!key_of(&key, peer))
        return NULL;
    uv_mutex_lock(&clients->lock);
    const struct client *client = find(clients, &key);
    uv_mutex_unlock(&clients->lock);
    return client ? &client->counts[kind] : NULL;
}

unsigned client_limits_count(struct client_limits *clients)
{
    uv_mutex_lock(&clients->lock);
    const unsigned count = HASH_COUNT(clients->by_key);
    uv_mutex_unlock(&clients->lock);
    return count;
}

int client_limits_new(struct client_limits **out)
{
    struct client_limits *clients = calloc(1, sizeof *clients);
    if (!clients)
        return -ENOMEM;
    int err = uv_random(NULL, NULL, clients->secret, sizeof clients->secret, 0, NULL);
    if (!err)
        err = uv_mutex_init(&clients->lock);
    if (err) {
        free(clients);
        return err;
    }
    *out = clients;
    return 0;
}

void client_limits_free(struct client_limits *clients)
{
    if (!clients)
        return;
    assert(clients->held == 0 && !clients->shared); /* all responses are completed */
    struct client *client = clients->by_key;
    HASH_CLEAR(hh, clients->by_key);
    for (struct client *next; client; client = next) {
        next = client->hh.next;
        free(client);
    }
    uv_mutex_destroy(&clients->lock);
    free(clients);
}
