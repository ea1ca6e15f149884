/* Addresses and networks: parsing, and the peers in them. */
#include "config/daemon/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "tests/unit/support/fixtures.h"

enum { NETWORK_TEXT = INET6_ADDRSTRLEN + sizeof "/128" };

/* The shortest text of NETWORK. Returns BUFFER. */
static char *network_text(const struct network *network, char buffer[NETWORK_TEXT])
{
    if (network->local)
        return strcpy(buffer, "unix");
    const bool is_ipv4 = IN6_IS_ADDR_V4MAPPED(network->address) && network->bits >= 96;
    const unsigned prefix = is_ipv4 ? 96 : 0;
    inet_ntop(is_ipv4 ? AF_INET : AF_INET6, network->address + prefix / 8, buffer, NETWORK_TEXT);
    if (network->bits < 128)
        sprintf(buffer + strlen(buffer), "/%u", network->bits - prefix);
    return buffer;
}

static const struct {
    const char *text;
    const char *canonical; /* NULL: invalid */
} texts[] = {
    {"127.0.0.1", "127.0.0.1"},
    {"127.0.0.1/32", "127.0.0.1"},
    {"10.0.0.0/8", "10.0.0.0/8"},
    {"0.0.0.0/0", "0.0.0.0/0"},
    {"192.168.128.0/17", "192.168.128.0/17"},
    {"::1", "::1"},
    {"::1/128", "::1"},
    {"::/0", "::/0"},
    {"2001:DB8::/32", "2001:db8::/32"},
    {"fe80::/10", "fe80::/10"},
    {"::ffff:127.0.0.1", "127.0.0.1"},
    {"::ffff:10.0.0.0/104", "10.0.0.0/8"},
    {"::ffff:0:0/96", "0.0.0.0/0"},
    {"", NULL},
    {"/8", NULL},
    {"10.0.0.0/", NULL},
    {"10.0.0.0/33", NULL},
    {"10.0.0.0/-1", NULL},
    {"10.0.0.0/08", NULL},
    {"10.0.0.0/8/8", NULL},
    {"10.0.0.0/ 8", NULL},
    {"10.0.0.0/255.0.0.0", NULL},
    {"10.0.0.0/18446744073709551624", NULL},
    {"::/129", NULL},
    {"10.0.0.1/8", NULL}, /* host bits */
    {"10.0.0.128/24", NULL},
    {"fe80::1/10", NULL},
    {"10.0.0/8", NULL},
    {"10", NULL},
    {"10.0.0.256", NULL},
    {"010.0.0.1", NULL},
    {"0x7f.0.0.1", NULL},
    {" 127.0.0.1", NULL},
    {"127.0.0.1 ", NULL},
    {"127.0.0.1:80", NULL},
    {"[::1]", NULL},
    {"fe80::1%eth0", NULL},
    {":::", NULL},
    {"localhost", NULL},
    {"unix", "unix"},
    {"unix/8", NULL},
    {"unix ", NULL},
    {"Unix", NULL},
    {"*", NULL},
};

START_TEST(test_text)
{
    struct guarded memory;
    struct network network, again;
    char text[NETWORK_TEXT];
    const size_t length = strlen(texts[_i].text);
    guarded_new(&memory, 64);
    int err =
        network_parse(&network, (char *)guarded_copy(&memory, texts[_i].text, length), length);
    ck_assert_msg((err == 0) == (texts[_i].canonical != NULL), "\"%s\": %d", texts[_i].text, err);
    if (!err) {
        ck_assert_str_eq(network_text(&network, text), texts[_i].canonical);
        ck_assert_int_eq(network_parse(&again, text, strlen(text)), 0);
        ck_assert_mem_eq(&network, &again, sizeof network);
    }
    guarded_free(&memory);
}
END_TEST

static const struct {
    const char *network, *peer;
    bool inside;
} peers[] = {
    {"127.0.0.1", "127.0.0.1", true},
    {"127.0.0.1", "127.0.0.2", false},
    {"127.0.0.1", "::ffff:127.0.0.1", true},
    {"::ffff:127.0.0.1", "127.0.0.1", true},
    {"10.0.0.0/8", "10.255.255.255", true},
    {"10.0.0.0/8", "11.0.0.0", false},
    {"10.0.0.0/8", "9.255.255.255", false},
    {"10.0.0.0/8", "::ffff:10.1.2.3", true},
    {"10.0.0.0/8", "::10.1.2.3", false}, /* not IPv4-mapped */
    {"10.0.0.0/8", "a00::1", false},
    {"192.168.128.0/17", "192.168.128.0", true},
    {"192.168.128.0/17", "192.168.255.255", true},
    {"192.168.128.0/17", "192.168.127.255", false},
    {"0.0.0.0/0", "255.255.255.255", true},
    {"0.0.0.0/0", "::ffff:1.2.3.4", true},
    {"0.0.0.0/0", "::1", false},
    {"::1", "::1", true},
    {"::1", "::2", false},
    {"::1", "0.0.0.1", false},
    {"fe80::/10", "febf:ffff::", true},
    {"fe80::/10", "fec0::", false},
    {"2001:db8::/33", "2001:db8:7fff::", true},
    {"2001:db8::/33", "2001:db8:8000::", false},
    {"::/0", "2001:db8::1", true},
    {"::/0", "::1", true},
    {"::/0", "127.0.0.1", false},
    {"::/0", "::ffff:127.0.0.1", false},
    {"::/64", "127.0.0.1", false},
};

static struct sockaddr_storage peer_of(const char *text)
{
    struct sockaddr_storage peer = {0};
    struct sockaddr_in *four = (struct sockaddr_in *)&peer;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&peer;
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        return peer;
    }
    six->sin6_family = AF_INET6;
    ck_assert_int_eq(inet_pton(AF_INET6, text, &six->sin6_addr), 1);
    return peer;
}

START_TEST(test_peer)
{
    struct network network;
    const struct sockaddr_storage peer = peer_of(peers[_i].peer);
    ck_assert_int_eq(network_parse(&network, peers[_i].network, strlen(peers[_i].network)), 0);
    ck_assert_msg(network_contains(&network, (const struct sockaddr *)&peer) == peers[_i].inside,
                  "%s in %s: not %d", peers[_i].peer, peers[_i].network, peers[_i].inside);
}
END_TEST

START_TEST(test_other_peers)
{
    static const struct sockaddr_un local = {.sun_family = AF_UNIX};
    static const char *const all[] = {"0.0.0.0/0", "::/0", "::"};
    struct network network;
    for (int i = 0; i < ROWS(all); i++) {
        ck_assert_int_eq(network_parse(&network, all[i], strlen(all[i])), 0);
        ck_assert(!network_contains(&network, (const struct sockaddr *)&local));
    }
    ck_assert_int_eq(network_parse(&network, "unix", 4), 0);
    ck_assert(network_contains(&network, (const struct sockaddr *)&local));
    for (int i = 0; i < ROWS(peers); i++) {
        const struct sockaddr_storage peer = peer_of(peers[i].peer);
        ck_assert(!network_contains(&network, (const struct sockaddr *)&peer));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("network");
    TCase *tcase = suite_case(suite, "networks");
    tcase_add_loop_test(tcase, test_text, 0, ROWS(texts));
    tcase_add_loop_test(tcase, test_peer, 0, ROWS(peers));
    tcase_add_test(tcase, test_other_peers);
    return suite_run(suite);
}
