/* Peers that send headers of proxies but are not listed: each is counted once, up to a limit. */
#include "server/api/unlisted_peers.h"

#include <arpa/inet.h>
#include <pthread.h>

#include "tests/unit/support/fixtures.h"

static struct sockaddr_storage v4(uint32_t address, uint16_t port)
{
    struct sockaddr_storage out = {.ss_family = AF_INET};
    ((struct sockaddr_in *)&out)->sin_addr.s_addr = htonl(address);
    ((struct sockaddr_in *)&out)->sin_port = htons(port);
    return out;
}

static struct sockaddr_storage v6(const char *address)
{
    struct sockaddr_storage out = {.ss_family = AF_INET6};
    ck_assert_int_eq(inet_pton(AF_INET6, address, &((struct sockaddr_in6 *)&out)->sin6_addr), 1);
    return out;
}

static unsigned add(struct unlisted_peers *peers, struct sockaddr_storage peer)
{
    return unlisted_peers_add(peers, (const struct sockaddr *)&peer);
}

START_TEST(test_once)
{
    struct unlisted_peers peers = {0};
    const struct sockaddr_storage local = {.ss_family = AF_UNIX};

    ck_assert_uint_eq(add(&peers, v4(1, 1)), 1);
    ck_assert_uint_eq(add(&peers, v4(1, 2)), 0); /* another port */
    ck_assert_uint_eq(add(&peers, v4(2, 1)), 2);
    ck_assert_uint_eq(add(&peers, v6("2001:db8::1")), 3);
    ck_assert_uint_eq(add(&peers, v6("2001:db8::1")), 0);
    ck_assert_uint_eq(add(&peers, v6("2001:db8::2")), 4);
    ck_assert_uint_eq(add(&peers, local), 5);
    ck_assert_uint_eq(add(&peers, local), 0);
    ck_assert_uint_eq(add(&peers, v4(1, 1)), 0);
}
END_TEST

START_TEST(test_full)
{
    struct unlisted_peers peers = {0};

    for (unsigned i = 1; i <= UNLISTED_PEERS_MAX; i++)
        ck_assert_uint_eq(add(&peers, v4(i, 1)), i);
    for (unsigned i = 1; i <= 3 * UNLISTED_PEERS_MAX; i++)
        ck_assert_uint_eq(add(&peers, v4(i, 1)), 0);
}
END_TEST

struct work {
    struct unlisted_peers *peers;
    unsigned added;
};

static void *add_all(void *context)
{
    struct work *work = context;
    for (unsigned i = 1; i <= 2 * UNLISTED_PEERS_MAX; i++)
        work->added += add(work->peers, v4(i, 1)) > 0;
    return NULL;
}

START_TEST(test_threads)
{
    struct unlisted_peers peers = {0};
    struct work work[4];
    pthread_t threads[4];
    unsigned added = 0;

    for (int i = 0; i < ROWS(work); i++) {
        work[i] = (struct work){.peers = &peers};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, add_all, &work[i]), 0);
    }
    for (int i = 0; i < ROWS(work); i++) {
        pthread_join(threads[i], NULL);
        added += work[i].added;
    }
    ck_assert_uint_eq(added, UNLISTED_PEERS_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unlisted_peers");
    TCase *tcase = suite_case(suite, "unlisted_peers");
    tcase_add_test(tcase, test_once);
    tcase_add_test(tcase, test_full);
    tcase_add_test(tcase, test_threads);
    return suite_run(suite);
}
