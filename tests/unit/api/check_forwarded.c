/* The server behind proxies: base path, trusted headers, the client's address, absolute URLs. */
#include "server/api/forwarded.h"

#include <arpa/inet.h>
#include <errno.h>

#include "tests/unit/support/fixtures.h"

/* Trusts 10.0.0.0/8 and fd00::/8. */
static struct site_config site_of(const char *public_url, const char *base_path)
{
    struct site_config site = {.proxies.count = 2};

    snprintf(site.public_url, sizeof site.public_url, "%s", public_url);
    snprintf(site.base_path, sizeof site.base_path, "%s", base_path);
    ck_assert_int_eq(network_parse(&site.proxies.network[0], "10.0.0.0/8", 10), 0);
    ck_assert_int_eq(network_parse(&site.proxies.network[1], "fd00::/8", 8), 0);
    return site;
}

/* NULL for "-", a Unix socket for "unix". */
static const struct sockaddr *address_of(struct sockaddr_storage *storage, const char *text)
{
    *storage = (struct sockaddr_storage){.ss_family = AF_UNIX};
    if (inet_pton(AF_INET, text, &((struct sockaddr_in *)storage)->sin_addr) == 1)
        storage->ss_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)storage)->sin6_addr) == 1)
        storage->ss_family = AF_INET6;
    return strcmp(text, "-") == 0 ? NULL : (const struct sockaddr *)storage;
}

static const char *text_of(const struct sockaddr *address, char text[INET6_ADDRSTRLEN])
{
    if (!address)
        return "-";
    if (address->sa_family == AF_INET)
        return inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text,
                         INET6_ADDRSTRLEN);
    if (address->sa_family == AF_INET6)
        return inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text,
                         INET6_ADDRSTRLEN);
    return "unix";
}

static const struct {
    const char *base_path, *uri;
    enum forwarded_scope scope;
    const char *route;
} scopes[] = {
    {"", "/", FORWARDED_INSIDE, "/"},
    {"", "/a/b?c", FORWARDED_INSIDE, "/a/b?c"},
    {"", "a", FORWARDED_INSIDE, "a"},
    {"/base", "/base/", FORWARDED_INSIDE, "/"},
    {"/base", "/base/a?b", FORWARDED_INSIDE, "/a?b"},
    {"/base", "/base", FORWARDED_EDGE, "/base"},
    {"/base", "/base?a", FORWARDED_EDGE, "/base?a"},
    {"/base", "/", FORWARDED_OUTSIDE, "/"},
    {"/base", "/basement/a", FORWARDED_OUTSIDE, "/basement/a"},
    {"/base", "/bas", FORWARDED_OUTSIDE, "/bas"},
    {"/base", "/Base/", FORWARDED_OUTSIDE, "/Base/"},
    {"/base", "/base%2f", FORWARDED_OUTSIDE, "/base%2f"},
    {"/a/b", "/a/b/c", FORWARDED_INSIDE, "/c"},
    {"/a/b", "/a/b", FORWARDED_EDGE, "/a/b"},
    {"/a/b", "/a", FORWARDED_OUTSIDE, "/a"},
};

START_TEST(test_scope)
{
    const struct site_config site = site_of("", scopes[_i].base_path);
    const char *route = NULL;

    ck_assert_int_eq(forwarded_scope_of(&site, scopes[_i].uri, &route), scopes[_i].scope);
    ck_assert_str_eq(route, scopes[_i].route);
}
END_TEST

static const struct {
    const char *peer, *forwarded_for, *client;
} clients[] = {
    /* Not a trusted proxy: its header is ignored. */
    {"192.0.2.1", NULL, "192.0.2.1"},
    {"192.0.2.1", "198.51.100.7", "192.0.2.1"},
    {"2001:db8::1", "198.51.100.7", "2001:db8::1"},
    {"unix", "198.51.100.7", "unix"},
    {"-", "198.51.100.7", "-"},
    /* A trusted proxy names its client. */
    {"10.0.0.1", "198.51.100.7", "198.51.100.7"},
    {"fd00::1", "198.51.100.7", "198.51.100.7"},
    {"::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"},
    {"10.0.0.1", " 198.51.100.7\t", "198.51.100.7"},
    {"10.0.0.1", "198.51.100.7:4711", "198.51.100.7"},
    {"10.0.0.1", "2001:db8::7", "2001:db8::7"},
    {"10.0.0.1", "[2001:db8::7]", "2001:db8::7"},
    {"10.0.0.1", "[2001:db8::7]:4711", "2001:db8::7"},
    /* The rightmost address that is not a trusted proxy; those before it are the client's word. */
    {"10.0.0.1", "203.0.113.9, 198.51.100.7", "198.51.100.7"},
    {"10.0.0.1", "203.0.113.9, 198.51.100.7, 10.0.0.2,10.0.0.3", "198.51.100.7"},
    {"10.0.0.1", "198.51.100.7, fd00::2", "198.51.100.7"},
    {"10.0.0.1", "nonsense, 198.51.100.7", "198.51.100.7"},
    /* A trusted proxy's own request. */
    {"10.0.0.1", "10.0.0.2", "10.0.0.2"},
    {"10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.2"},
    /* The 16th, counted from the right, at the latest. */
    {"10.0.0.1",
     "198.51.100.7,10.0.0.15,10.0.0.14,10.0.0.13,10.0.0.12,10.0.0.11,10.0.0.10,10.0.0.9,10.0.0.8,"
     "10.0.0.7,10.0.0.6,10.0.0.5,10.0.0.4,10.0.0.3,10.0.0.2,10.0.0.1",
     "198.51.100.7"},
    {"10.0.0.1",
     "198.51.100.7,10.0.0.16,10.0.0.15,10.0.0.14,10.0.0.13,10.0.0.12,10.0.0.11,10.0.0.10,10.0.0.9,"
     "10.0.0.8,10.0.0.7,10.0.0.6,10.0.0.5,10.0.0.4,10.0.0.3,10.0.0.2,10.0.0.1",
     "10.0.0.16"},
    /* Unknown. */
    {"10.0.0.1", NULL, "-"},
    {"10.0.0.1", "", "-"},
    {"10.0.0.1", "unknown", "-"},
    {"10.0.0.1", " ", "-"},
    {"10.0.0.1", ",", "-"},
    {"10.0.0.1", " ,\t", "-"},
    {"10.0.0.1", "198.51.100.7,", "-"},
    {"10.0.0.1", "198.51.100.7, \t", "-"},
    {"10.0.0.1", "198.51.100.7,,10.0.0.2", "-"},
    {"10.0.0.1", "198.51.100.7, ,10.0.0.2", "-"},
    {"10.0.0.1", ",198.51.100.7", "198.51.100.7"},
    {"10.0.0.1", ",10.0.0.2", "-"},
    {"10.0.0.1", "[", "-"},
    {"10.0.0.1", "[]", "-"},
    {"10.0.0.1", ":", "-"},
    {"10.0.0.1", ":4711", "-"},
    {"10.0.0.1", "198.51.100.7, unknown", "-"},
    {"10.0.0.1", "198.51.100.700", "-"},
    {"10.0.0.1", "[2001:db8::7", "2001:db8::7"},
    {"10.0.0.1", "2001:db8::7:2001:db8::7:2001:db8::7:2001:db8::7:2001:db8::7", "-"},
};

START_TEST(test_client)
{
    const struct site_config site = site_of("", "");
    struct sockaddr_storage peer, storage;
    const struct http_request request = {.peer = address_of(&peer, clients[_i].peer),
                                         .forwarded_for = clients[_i].forwarded_for};
    char text[INET6_ADDRSTRLEN];

    const struct sockaddr *client = forwarded_client(&site, &request, &storage);
    must(strcmp(text_of(client, text), clients[_i].client) == 0, "row %d: %s", _i,
         text_of(client, text));
}
END_TEST

/* Peers on Unix sockets are proxies if the list has "unix". */
START_TEST(test_local_proxy)
{
    struct site_config site = site_of("", "");
    struct sockaddr_storage peer, storage;
    const struct http_request request = {.peer = address_of(&peer, "unix"),
                                         .forwarded_for = "198.51.100.7, 10.0.0.2"};
    char text[INET6_ADDRSTRLEN];

    ck_assert_int_eq(network_parse(&site.proxies.network[site.proxies.count++], "unix", 4), 0);
    ck_assert_str_eq(text_of(forwarded_client(&site, &request, &storage), text), "198.51.100.7");
}
END_TEST

static const struct {
    const char *public_url, *base_path, *peer;
    const char *host, *forwarded_host, *forwarded_prefix, *forwarded_proto;
    const char *url; /* NULL: there is none */
} urls[] = {
    /* Directly. */
    {"", "", "192.0.2.1", "a.example", NULL, NULL, NULL, "http://a.example"},
    {"", "", "192.0.2.1", "a.example:8080", NULL, NULL, NULL, "http://a.example:8080"},
    {"", "", "192.0.2.1", "[2001:db8::1]:80", NULL, NULL, NULL, "http://[2001:db8::1]:80"},
    {"", "/base", "192.0.2.1", "a.example", NULL, NULL, NULL, "http://a.example/base"},
    {"", "", "-", "a.example", NULL, NULL, NULL, "http://a.example"},
    {"", "", "192.0.2.1", NULL, NULL, NULL, NULL, NULL},
    {"", "", "192.0.2.1", "", NULL, NULL, NULL, NULL},
    {"", "", "192.0.2.1", "a/b", NULL, NULL, NULL, NULL},
    {"", "", "192.0.2.1", "a@b", NULL, NULL, NULL, NULL},
    /* The headers of others are ignored. */
    {"", "", "192.0.2.1", "a.example", "evil.example", "/evil", "https", "http://a.example"},
    /* Behind a trusted proxy. */
    {"", "", "10.0.0.1", "a.example", NULL, NULL, NULL, "http://a.example"},
    {"", "", "10.0.0.1", "a", "b.example", NULL, NULL, "http://b.example"},
    {"", "", "10.0.0.1", NULL, "b.example", NULL, NULL, "http://b.example"},
    {"", "", "10.0.0.1", "a", NULL, NULL, "https", "https://a"},
    {"", "", "10.0.0.1", "a", NULL, "/map", NULL, "http://a/map"},
    {"", "/base", "10.0.0.1", "a", "b", "/map", "https", "https://b/map/base"},
    /* The rightmost value is the nearest proxy's. */
    {"", "", "10.0.0.1", "a", "evil.example, b.example", "/evil, /map", "http,https",
     "https://b.example/map"},
    {"", "", "10.0.0.1", "a", "b.example \t", NULL, " https ", "https://b.example"},
    /* Malformed values are ignored. */
    {"", "", "10.0.0.1", "a", "b/c", "map", "ftp", "http://a"},
    {"", "", "10.0.0.1", "a", "", "/..", "HTTPS", "http://a"},
    {"", "", "10.0.0.1", "a", "b.example,", NULL, NULL, "http://a"},
    /* A public URL decides, whatever the request says. */
    {"https://t.example/x", "/base", "10.0.0.1", "a", "b", "/map", "http", "https://t.example/x"},
    {"https://t.example/x", "", "192.0.2.1", NULL, NULL, NULL, NULL, "https://t.example/x"},
};

START_TEST(test_base_url)
{
    const struct site_config site = site_of(urls[_i].public_url, urls[_i].base_path);
    struct sockaddr_storage peer;
    const struct http_request request = {.peer = address_of(&peer, urls[_i].peer),
                                         .host = urls[_i].host,
                                         .forwarded_host = urls[_i].forwarded_host,
                                         .forwarded_prefix = urls[_i].forwarded_prefix,
                                         .forwarded_proto = urls[_i].forwarded_proto};
    char url[FORWARDED_URL_MAX] = "";

    int err = forwarded_base_url(&site, &request, url);
    must(err == (urls[_i].url ? 0 : -EINVAL), "row %d: %d", _i, err);
    if (!err)
        must(strcmp(url, urls[_i].url) == 0, "row %d: %s", _i, url);
}
END_TEST

static const struct {
    const char *host, *forwarded_host, *forwarded_port, *forwarded_proto, *url;
} ports[] = {
    {"a.example", NULL, "8443", "https", "https://a.example:8443"},
    {"a.example", "b.example", "8443", "https", "https://b.example:8443"},
    {"[2001:db8::1]", NULL, "8443", "https", "https://[2001:db8::1]:8443"},
    {"a.example", NULL, "9000, 8443", NULL, "http://a.example:8443"},
    {"a.example", NULL, "1", NULL, "http://a.example:1"},
    {"a.example", NULL, "65535", NULL, "http://a.example:65535"},
    /* The port that the client requested is in its Host. */
    {"a.example:1", NULL, "8443", "https", "https://a.example:1"},
    {"a.example:1", "b.example", "8443", "https", "https://b.example:8443"},
    {"a.example", "b.example:2", "8443", "https", "https://b.example:2"},
    /* Those of the schemes, perhaps of a connection behind the end of TLS. */
    {"a.example", NULL, "443", "https", "https://a.example"},
    {"a.example", NULL, "80", "http", "http://a.example"},
    {"a.example", NULL, "80", "https", "https://a.example"},
    {"a.example", NULL, "443", NULL, "http://a.example"},
    /* Malformed. */
    {"a.example", NULL, "", NULL, "http://a.example"},
    {"a.example", NULL, "0", NULL, "http://a.example"},
    {"a.example", NULL, "65536", NULL, "http://a.example"},
    {"a.example", NULL, "-1", NULL, "http://a.example"},
    {"a.example", NULL, "08443", NULL, "http://a.example"},
    {"a.example", NULL, "8443x", NULL, "http://a.example"},
    {"a.example", NULL, ":8443", NULL, "http://a.example"},
    {"a.example", NULL, "8443/evil", NULL, "http://a.example"},
    {"a.example", NULL, "8443,", NULL, "http://a.example"},
    {"a.example", NULL, "18446744073709551617", NULL, "http://a.example"},
};

START_TEST(test_port)
{
    const struct site_config site = site_of("", "");
    struct sockaddr_storage peer;
    struct http_request request = {.peer = address_of(&peer, "10.0.0.1"),
                                   .host = ports[_i].host,
                                   .forwarded_host = ports[_i].forwarded_host,
                                   .forwarded_port = ports[_i].forwarded_port,
                                   .forwarded_proto = ports[_i].forwarded_proto};
    char url[FORWARDED_URL_MAX] = "";

    ck_assert_int_eq(forwarded_base_url(&site, &request, url), 0);
    must(strcmp(url, ports[_i].url) == 0, "row %d: %s", _i, url);
    request.peer = address_of(&peer, "192.0.2.1");
    ck_assert_int_eq(forwarded_base_url(&site, &request, url), 0);
    ck_assert_str_eq(url + strlen("http://"), ports[_i].host);
}
END_TEST

static const struct {
    const char *forwarded, *url, *client;
} standards[] = {
    {"for=192.0.2.60;proto=https;by=203.0.113.43;host=b.example", "https://b.example",
     "192.0.2.60"},
    {"For=\"[2001:db8:cafe::17]:4711\"", "http://a", "2001:db8:cafe::17"},
    {"FOR=192.0.2.60; PROTO=https; Host=\"b.example:8443\"", "https://b.example:8443",
     "192.0.2.60"},
    {"for=\"192.0.2.60:80\";host=\"[2001:db8::1]:8443\"", "http://[2001:db8::1]:8443",
     "192.0.2.60"},
    {"proto=https", "https://a", "-"},
    /* The nearest proxy's element is the last one, whatever the client has sent. */
    {"for=1.1.1.1;host=evil.example;proto=https, for=192.0.2.60", "http://a", "192.0.2.60"},
    {"for=\"1.1.1.1, for=192.0.2.60;host=b.example", "http://b.example", "192.0.2.60"},
    {"for=1.1.1.1,for=192.0.2.60,for=10.0.0.2;proto=https , for=10.0.0.3", "http://a",
     "192.0.2.60"},
    {"for=10.0.0.2", "http://a", "10.0.0.2"},
    /* Malformed or without an address. */
    {"", "http://a", "-"},
    {",", "http://a", "-"},
    {";", "http://a", "-"},
    {"for", "http://a", "-"},
    {"for=", "http://a", "-"},
    {"for=unknown", "http://a", "-"},
    {"for=_hidden, for=10.0.0.2", "http://a", "-"},
    {"192.0.2.60", "http://a", "-"},
    {"for=192.0.2.60,", "http://a", "-"},
    {"host=b/c;proto=ftp", "http://a", "-"},
    {"host=\";proto=\"https", "http://a", "-"},
    {"host=\"b\\.example\"", "http://a", "-"},
    {"for=\"\";host=\"\";proto=\"\"", "http://a", "-"},
    {"for =192.0.2.60;proto= https", "http://a", "-"},
    {"xfor=192.0.2.60;for=192.0.2.61;host2=b", "http://a", "192.0.2.61"},
};

START_TEST(test_standard)
{
    const struct site_config site = site_of("", "");
    struct sockaddr_storage peer, storage;
    struct http_request request = {
        .peer = address_of(&peer, "10.0.0.1"), .host = "a", .forwarded = standards[_i].forwarded};
    char url[FORWARDED_URL_MAX] = "", text[INET6_ADDRSTRLEN];

    ck_assert_int_eq(forwarded_base_url(&site, &request, url), 0);
    must(strcmp(url, standards[_i].url) == 0, "row %d: %s", _i, url);
    const char *client = text_of(forwarded_client(&site, &request, &storage), text);
    must(strcmp(client, standards[_i].client) == 0, "row %d: %s", _i, client);

    /* An unlisted peer's is ignored. */
    request.peer = address_of(&peer, "192.0.2.1");
    ck_assert_int_eq(forwarded_base_url(&site, &request, url), 0);
    ck_assert_str_eq(url, "http://a");
    ck_assert_str_eq(text_of(forwarded_client(&site, &request, &storage), text), "192.0.2.1");
}
END_TEST

/* A proxy that writes the older headers may pass on its client's Forwarded. */
START_TEST(test_older_headers_first)
{
    const struct site_config site = site_of("", "");
    struct sockaddr_storage peer, storage;
    const char *const forwarded = "for=1.1.1.1;host=evil.example;proto=https";
    const struct {
        struct http_request request;
        const char *url, *client;
    } rows[] = {
        {{.forwarded_for = "192.0.2.60"}, "http://a", "192.0.2.60"},
        {{.forwarded_proto = "http"}, "http://a", "-"},
        {{.forwarded_host = "b.example"}, "http://b.example", "-"},
        {{.forwarded_port = "8080"}, "http://a:8080", "-"},
        {{.forwarded_prefix = "/map"}, "https://evil.example/map", "1.1.1.1"},
    };
    for (int i = 0; i < ROWS(rows); i++) {
        struct http_request request = rows[i].request;
        char url[FORWARDED_URL_MAX] = "", text[INET6_ADDRSTRLEN];
        request.peer = address_of(&peer, "10.0.0.1");
        request.host = "a";
        request.forwarded = forwarded;
        ck_assert_int_eq(forwarded_base_url(&site, &request, url), 0);
        must(strcmp(url, rows[i].url) == 0, "row %d: %s", i, url);
        const char *client = text_of(forwarded_client(&site, &request, &storage), text);
        must(strcmp(client, rows[i].client) == 0, "row %d: %s", i, client);
    }
}
END_TEST

START_TEST(test_header)
{
    const struct {
        struct http_request request;
        const char *name;
    } rows[] = {
        {{.host = "a", .user_agent = "b"}, NULL},
        {{.forwarded = ""}, "Forwarded"},
        {{.forwarded_for = "a"}, "X-Forwarded-For"},
        {{.forwarded_host = "a"}, "X-Forwarded-Host"},
        {{.forwarded_port = "1"}, "X-Forwarded-Port"},
        {{.forwarded_prefix = "/a"}, "X-Forwarded-Prefix"},
        {{.forwarded_proto = "http"}, "X-Forwarded-Proto"},
        {{.forwarded = "a", .forwarded_proto = "http"}, "X-Forwarded-Proto"},
    };
    for (int i = 0; i < ROWS(rows); i++) {
        const char *name = forwarded_header(&rows[i].request);
        must(!name == !rows[i].name && (!name || strcmp(name, rows[i].name) == 0), "row %d: %s", i,
             name ? name : "none");
    }
}
END_TEST

START_TEST(test_vary)
{
    static const struct {
        const char *public_url, *peer, *vary;
    } rows[] = {
        {"", "192.0.2.1", "Host"},
        {"", "-", "Host"},
        {"", "10.0.0.1",
         "Host, Forwarded, X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Prefix, "
         "X-Forwarded-Proto"},
        {"https://t.example", "10.0.0.1", NULL},
        {"https://t.example", "192.0.2.1", NULL},
    };
    for (int i = 0; i < ROWS(rows); i++) {
        const struct site_config site = site_of(rows[i].public_url, "");
        struct sockaddr_storage peer;
        const struct http_request request = {.peer = address_of(&peer, rows[i].peer)};
        const char *vary = forwarded_vary(&site, &request);
        must(!vary == !rows[i].vary && (!vary || strcmp(vary, rows[i].vary) == 0), "row %d: %s", i,
             vary ? vary : "none");
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("forwarded");
    TCase *tcase = suite_case(suite, "forwarded");
    tcase_add_loop_test(tcase, test_scope, 0, ROWS(scopes));
    tcase_add_loop_test(tcase, test_client, 0, ROWS(clients));
    tcase_add_test(tcase, test_local_proxy);
    tcase_add_loop_test(tcase, test_base_url, 0, ROWS(urls));
    tcase_add_loop_test(tcase, test_port, 0, ROWS(ports));
    tcase_add_loop_test(tcase, test_standard, 0, ROWS(standards));
    tcase_add_test(tcase, test_older_headers_first);
    tcase_add_test(tcase, test_header);
    tcase_add_test(tcase, test_vary);
    return suite_run(suite);
}
