/* Limits per client: which addresses are one client, the limits, and that idle clients are
 * forgotten. */
#include "server/net/client_limits.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/un.h>
#include <uv.h>

#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/refusals.h"

static struct client_limits *clients;

static void set_up(void)
{
    ck_assert_int_eq(client_limits_new(&clients), 0);
}

static void tear_down(void)
{
    client_limits_free(clients);
    client_limits_free(NULL);
}

/* "-": NULL; a text that is not an address: a local socket. */
static const struct sockaddr *peer_of(const char *text)
{
    static struct sockaddr_storage peers[2];
    static int next;
    struct sockaddr_storage *peer = &peers[next++ % 2];
    struct sockaddr_in *four = (struct sockaddr_in *)peer;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)peer;

    /* A different port each time. */
    *six = (struct sockaddr_in6){.sin6_port = (in_port_t)next, .sin6_flowinfo = (unsigned)next};
    peer->ss_family = AF_UNIX;
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1)
        peer->ss_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1)
        peer->ss_family = AF_INET6;
    return strcmp(text, "-") == 0 ? NULL : (const struct sockaddr *)peer;
}

static bool enter(const char *text, enum client_count kind, unsigned limit)
{
    return client_limits_enter(clients, peer_of(text), kind, limit);
}

static void leave(const char *text, enum client_count kind)
{
    client_limits_leave(clients, peer_of(text), kind);
}

static const struct {
    const char *one, *other;
    bool same;
} pairs[] = {
    {"127.0.0.1", "127.0.0.1", true},
    {"127.0.0.1", "127.0.0.2", false},
    {"127.0.0.1", "126.0.0.1", false},
    {"192.0.2.1", "::ffff:192.0.2.1", true},
    {"192.0.2.1", "::ffff:192.0.2.2", false},
    {"::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
    {"192.0.2.1", "::192.0.2.1", false},
    {"2001:db8::1", "2001:db8::1", true},
    {"2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true},
    {"2001:db8::1", "2001:db8:0:1::1", false},
    {"2001:db8::1", "2001:db9::1", false},
    {"::1", "127.0.0.1", false},
    {"::1", "::2", true},
    {"::1", "::ffff:0.0.0.0", false},
    {"::1", "0.0.0.0", false},
};

START_TEST(test_same)
{
    const bool swap = _i >= ROWS(pairs);
    const char *one = pairs[_i % ROWS(pairs)].one, *other = pairs[_i % ROWS(pairs)].other;
    if (swap) {
        one = other;
        other = pairs[_i % ROWS(pairs)].one;
    }
    const bool same = pairs[_i % ROWS(pairs)].same;
    ck_assert(enter(one, CLIENT_CONNECTIONS, 1));
    ck_assert_msg(enter(other, CLIENT_CONNECTIONS, 1) == !same, "%s, %s", one, other);
    ck_assert_uint_eq(client_limits_count(clients), same ? 1 : 2);
    leave(one, CLIENT_CONNECTIONS);
    ck_assert_uint_eq(client_limits_count(clients), same ? 0 : 1);
}
END_TEST

START_TEST(test_limit)
{
    const unsigned limit = (unsigned)_i;
    for (unsigned i = 0; i < limit; i++)
        ck_assert(enter("192.0.2.1", CLIENT_CONNECTIONS, limit));
    for (int i = 0; i < 3; i++)
        ck_assert(!enter("192.0.2.1", CLIENT_CONNECTIONS, limit));
    /* Kinds and clients are independent. */
    ck_assert(enter("192.0.2.1", CLIENT_MISSES, 1));
    ck_assert(!enter("192.0.2.1", CLIENT_MISSES, 1));
    ck_assert(enter("192.0.2.2", CLIENT_CONNECTIONS, 1));
    /* Refused ones were not counted. */
    leave("192.0.2.1", CLIENT_CONNECTIONS);
    ck_assert(enter("192.0.2.1", CLIENT_CONNECTIONS, limit));
    ck_assert(!enter("192.0.2.1", CLIENT_CONNECTIONS, limit));
    /* A different limit, as after a reload. */
    ck_assert(enter("192.0.2.1", CLIENT_CONNECTIONS, limit + 1));
    ck_assert(!enter("192.0.2.1", CLIENT_CONNECTIONS, limit));
    ck_assert(enter("192.0.2.1", CLIENT_CONNECTIONS, 0));
}
END_TEST

/* No limit, and only the client with an address is counted. */
START_TEST(test_no_limit)
{
    static const char *const peers[] = {"-", "local"};
    for (int i = 0; i < 1000; i++) {
        ck_assert(enter(peers[_i], CLIENT_CONNECTIONS, 1));
        ck_assert(enter("192.0.2.1", CLIENT_CONNECTIONS, 0));
    }
    ck_assert_uint_eq(client_limits_count(clients), 1);
    for (int i = 0; i < 1000; i++) {
        leave(peers[_i], CLIENT_CONNECTIONS);
        leave("192.0.2.1", CLIENT_CONNECTIONS);
    }
    ck_assert_uint_eq(client_limits_count(clients), 0);
}
END_TEST

/* A client is known while any of its counts is above 0. */
START_TEST(test_forget)
{
    enum { MANY = 1000 };
    char text[32];
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "2001:db8:0:%x::1", (unsigned)i);
        for (int kind = 0; kind < CLIENT_COUNTS; kind++)
            ck_assert(enter(text, kind, 1));
    }
    ck_assert_uint_eq(client_limits_count(clients), MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "2001:db8:0:%x::2", (unsigned)i);
        for (int kind = 0; kind < CLIENT_COUNTS; kind++) {
            ck_assert_uint_eq(client_limits_count(clients), (unsigned)(MANY - i));
            leave(text, (i + kind) % CLIENT_COUNTS);
        }
        ck_assert_uint_eq(client_limits_count(clients), (unsigned)(MANY - i - 1));
    }
    /* Leaving an unknown client does nothing. */
    leave(text, CLIENT_MISSES);
    ck_assert_uint_eq(client_limits_count(clients), 0);
}
END_TEST

/* The count of a client is known while it has one. */
START_TEST(test_watch)
{
    ck_assert_ptr_null(client_limits_watch(clients, peer_of("192.0.2.1"), CLIENT_CONNECTIONS));
    ck_assert_ptr_null(client_limits_watch(clients, peer_of("-"), CLIENT_CONNECTIONS));
    ck_assert(enter("192.0.2.1", CLIENT_CONNECTIONS, 0));
    ck_assert(enter("192.0.2.2", CLIENT_CONNECTIONS, 0));
    const unsigned *count =
        client_limits_watch(clients, peer_of("::ffff:192.0.2.1"), CLIENT_CONNECTIONS);
    ck_assert_ptr_nonnull(count);
    ck_assert_uint_eq(*count, 1);
    ck_assert(enter("192.0.2.1", CLIENT_CONNECTIONS, 0));
    ck_assert(enter("192.0.2.1", CLIENT_MISSES, 0));
    ck_assert_uint_eq(*count, 2);
    leave("192.0.2.1", CLIENT_CONNECTIONS);
    ck_assert_uint_eq(*count, 1);
}
END_TEST

/* Out of memory, for the client, its table or the table's buckets, clients are not limited. */
START_TEST(test_no_memory)
{
#ifdef CAN_REFUSE
    const struct sockaddr *peer = peer_of("192.0.2.1");
    grants_before = _i;
    refusals = 2;
    while (refusals > 0)
        ck_assert(client_limits_enter(clients, peer, CLIENT_CONNECTIONS, 1));
    ck_assert_uint_eq(client_limits_count(clients), 0);
    client_limits_leave(clients, peer, CLIENT_CONNECTIONS);
    /* A counted kind is not affected when an uncounted one leaves. */
    ck_assert(client_limits_enter(clients, peer, CLIENT_MISSES, 1));
    client_limits_leave(clients, peer, CLIENT_CONNECTIONS);
    ck_assert_uint_eq(client_limits_count(clients), 1);
    client_limits_leave(clients, peer, CLIENT_MISSES);
    ck_assert_uint_eq(client_limits_count(clients), 0);
    ck_assert(client_limits_enter(clients, peer, CLIENT_CONNECTIONS, 1));
    ck_assert(!client_limits_enter(clients, peer, CLIENT_CONNECTIONS, 1));
    client_limits_leave(clients, peer, CLIENT_CONNECTIONS);
    /* Bytes are not held without a count. */
    grants_before = _i;
    refusals = 1;
    ck_assert_int_eq(client_limits_hold(clients, peer, 1, 10), -ENOMEM);
    grants_before = 2 * _i;
    refusals = 1;
    ck_assert_int_eq(client_limits_hold_shared(clients, peer, peer, 1, 10), -ENOMEM);
    ck_assert_uint_eq(client_limits_held(clients), 0);

    struct client_limits *none = NULL;
    refusals = 1;
    ck_assert_int_eq(client_limits_new(&none), -ENOMEM);
#endif
}
END_TEST

static int hold(const char *text, uint64_t bytes, uint64_t limit)
{
    return client_limits_hold(clients, peer_of(text), bytes, limit);
}

static void drop(const char *text, uint64_t bytes)
{
    client_limits_drop(clients, peer_of(text), bytes);
}

enum { GREEDY_MAX = 9, HELD_LIMIT = 1 << 20 };

/* N greedy clients hold a share of 1/(N+1) each, up to a unit, and a newcomer finds as much. */
START_TEST(test_shares)
{
    static const char *const greedy[GREEDY_MAX] = {"192.0.2.1",    "192.0.2.2",    "192.0.2.3",
                                                   "2001:db8:1::", "2001:db8:2::", "-",
                                                   "10.0.0.1",     "10.0.0.2",     "10.0.0.3"};
    enum { UNIT = 64 };
    uint64_t held[GREEDY_MAX] = {0}, all = 0;

    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < _i; i++) {
            if (hold(greedy[i], UNIT, HELD_LIMIT))
                continue;
            held[i] += UNIT;
            all += UNIT;
            more = true;
        }
    }
    ck_assert_uint_eq(client_limits_held(clients), all);
    const uint64_t share = HELD_LIMIT / ((unsigned)_i + 1), left = HELD_LIMIT - all;
    for (int i = 0; i < _i; i++)
        must(held[i] + 2 * UNIT >= share && held[i] <= share + 2 * UNIT, "%d of %d holds %lu", i,
             _i, (long)held[i]);
    ck_assert_int_eq(hold("198.51.100.1", left + 1, HELD_LIMIT), -ENOBUFS);
    ck_assert_int_eq(hold(greedy[0], UNIT, HELD_LIMIT), -EDQUOT);
    ck_assert_int_eq(hold("198.51.100.1", left, HELD_LIMIT), 0);
    ck_assert_int_eq(hold(greedy[0], 1, HELD_LIMIT), -ENOBUFS);
    ck_assert_uint_eq(client_limits_count(clients), (unsigned)_i + 1);
    drop("198.51.100.1", left);
    for (int i = 0; i < _i; i++)
        drop(greedy[i], held[i]);
    ck_assert_uint_eq(client_limits_held(clients), 0);
    ck_assert_uint_eq(client_limits_count(clients), 0);
}
END_TEST

/* Bytes that are shared count once per client, until the last response has ended. */
START_TEST(test_shared)
{
    static const char tile, other;
    static const struct {
        const char *client;
        const char *bytes;
        int hold;      /* 1: hold; -1: drop */
        uint64_t held; /* by all, then */
    } steps[] = {
        {"192.0.2.1", &tile, 1, 100},         {"192.0.2.1", &tile, 1, 100},
        {"::ffff:192.0.2.1", &tile, 1, 100},  {"192.0.2.1", &other, 1, 200},
        {"192.0.2.2", &tile, 1, 300},         {"192.0.2.1", &tile, -1, 300},
        {"192.0.2.1", &tile, -1, 300},        {"192.0.2.2", &tile, -1, 200},
        {"::ffff:192.0.2.1", &tile, -1, 100}, {"192.0.2.1", &tile, 1, 200},
        {"192.0.2.1", &other, -1, 100},       {"192.0.2.1", &tile, -1, 0},
    };
    for (int i = 0; i < ROWS(steps); i++) {
        const struct sockaddr *peer = peer_of(steps[i].client);
        if (steps[i].hold > 0)
            ck_assert_int_eq(client_limits_hold_shared(clients, peer, steps[i].bytes, 100, 1000),
                             0);
        else
            client_limits_drop_shared(clients, peer, steps[i].bytes);
        must(client_limits_held(clients) == steps[i].held, "step %d: %lu", i,
             (long)client_limits_held(clients));
    }
    ck_assert_uint_eq(client_limits_count(clients), 0);
    /* The limit is for the first one alone. */
    const struct sockaddr *peer = peer_of("192.0.2.1");
    ck_assert_int_eq(client_limits_hold_shared(clients, peer, &tile, 100, 199), 0);
    ck_assert_int_eq(client_limits_hold_shared(clients, peer, &other, 100, 199), -ENOBUFS);
    ck_assert_int_eq(client_limits_hold_shared(clients, peer, &other, 90, 199), -EDQUOT);
    ck_assert_int_eq(client_limits_hold_shared(clients, peer, &tile, 100, 199), 0);
    client_limits_drop_shared(clients, peer, &tile);
    client_limits_drop_shared(clients, peer, &tile);
    ck_assert_uint_eq(client_limits_held(clients), 0);
    ck_assert_uint_eq(client_limits_count(clients), 0);
}
END_TEST

/* After a reload with a lower limit nothing more is held until enough is released. */
START_TEST(test_lower_limit)
{
    ck_assert_int_eq(hold("192.0.2.1", 600, 2000), 0);
    ck_assert_int_eq(hold("192.0.2.2", 1, 600), -ENOBUFS);
    ck_assert_int_eq(hold("192.0.2.2", 1, 100), -ENOBUFS);
    ck_assert_int_eq(hold("192.0.2.2", 1, 601), 0);
    drop("192.0.2.2", 1);
    drop("192.0.2.1", 600);
    /* A connection of the same client is counted apart. */
    ck_assert_int_eq(hold("192.0.2.1", 10, 100), 0);
    ck_assert(enter("192.0.2.1", CLIENT_CONNECTIONS, 1));
    drop("192.0.2.1", 10);
    ck_assert_uint_eq(client_limits_count(clients), 1);
    leave("192.0.2.1", CLIENT_CONNECTIONS);
    ck_assert_uint_eq(client_limits_count(clients), 0);
}
END_TEST

enum { THREADS = 4, TURNS = 20000, LIMIT = 3 };

static atomic_int inside[CLIENT_COUNTS], faults, refused;

static void come_and_go(void *argument)
{
    uint64_t state = *(uint64_t *)argument;
    for (int i = 0; i < TURNS; i++) {
        struct sockaddr_in own = {.sin_family = AF_INET};
        struct sockaddr_in shared = {.sin_family = AF_INET, .sin_addr = {0x01010101}};
        const int kind = chance_below(&state, CLIENT_COUNTS);
        own.sin_addr.s_addr = (in_addr_t)chance(&state);
        if (!client_limits_enter(clients, (struct sockaddr *)&shared, kind, LIMIT)) {
            atomic_fetch_add(&refused, 1);
            continue;
        }
        if (atomic_fetch_add(&inside[kind], 1) >= LIMIT)
            atomic_fetch_add(&faults, 1);
        if (!client_limits_enter(clients, (struct sockaddr *)&own, kind, THREADS))
            atomic_fetch_add(&faults, 1);
        const uint64_t bytes = (uint64_t)chance_below(&state, 500);
        const bool held = client_limits_hold(clients, (struct sockaddr *)&shared, bytes, 1000) == 0;
        const bool shares =
            client_limits_hold_shared(clients, (struct sockaddr *)&shared, &faults, 10, 1000) == 0;
        if (client_limits_held(clients) > 1000)
            atomic_fetch_add(&faults, 1);
        if (chance_below(&state, 100) == 0)
            usleep(10); /* let other threads run, even on one core */
        if (shares)
            client_limits_drop_shared(clients, (struct sockaddr *)&shared, &faults);
        if (held)
            client_limits_drop(clients, (struct sockaddr *)&shared, bytes);
        client_limits_leave(clients, (struct sockaddr *)&own, kind);
        atomic_fetch_sub(&inside[kind], 1);
        client_limits_leave(clients, (struct sockaddr *)&shared, kind);
    }
}

START_TEST(test_threads)
{
    uv_thread_t threads[THREADS];
    uint64_t seeds[THREADS];
    for (int i = 0; i < THREADS; i++) {
        seeds[i] = (uint64_t)i;
        ck_assert_int_eq(uv_thread_create(&threads[i], come_and_go, &seeds[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        uv_thread_join(&threads[i]);
    ck_assert_int_eq(atomic_load(&faults), 0);
    ck_assert_int_lt(atomic_load(&refused), THREADS * TURNS);
    ck_assert_uint_eq(client_limits_count(clients), 0);
    ck_assert_uint_eq(client_limits_held(clients), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("client_limits");
    TCase *tcase = suite_case(suite, "counts");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_same, 0, 2 * ROWS(pairs));
    tcase_add_loop_test(tcase, test_limit, 1, 4);
    tcase_add_loop_test(tcase, test_no_limit, 0, 2);
    tcase_add_test(tcase, test_forget);
    tcase_add_test(tcase, test_watch);
    tcase_add_loop_test(tcase, test_no_memory, 0, 3);
    tcase_add_loop_test(tcase, test_shares, 1, GREEDY_MAX + 1);
    tcase_add_test(tcase, test_lower_limit);
    tcase_add_test(tcase, test_shared);
    tcase_add_test(tcase, test_threads);
    return suite_run(suite);
}
