/*
 * Single values, whose kind the first byte selects: numbers, HOST:PORT, URL prefixes, networks.
 * Parsers return only documented codes, and leave OUT unchanged on error if their header says so. A
 * parsed value, formatted and parsed again, is the same; whole numbers also have the same text.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>

#include "config/daemon/authority.h"
#include "config/daemon/network.h"
#include "config/daemon/url_prefix.h"
#include "config/values/exact_numbers.h"
#include "server/routing/number.h"
#include "tests/fuzz/fuzz.h"

static bool is_text(const char *text, size_t length, const char *written)
{
    return strlen(written) == length && memcmp(text, written, length) == 0;
}

static void check_number_error(int err, bool unchanged)
{
    must(err == -EINVAL || err == -ERANGE, "%d", err);
    must(unchanged, "written to, with %d", err);
}

/* The same as strtod, which accepts a little more, and as BLOCKS if PLAIN. */
static void check_query_number(const char *text, size_t length, bool plain, int64_t blocks)
{
    const struct span span = {text, length};
    int64_t units = 7;
    float number = 7;
    struct number_reading reading = {.exact = true};
    const int err = number_to_units(span, &units, &reading);
    const int float_err = number_to_float(span, &number);
    must(reading.steps <= 3 * length + 64, "%zu steps for %zu bytes", reading.steps, length);
    must((err == -EINVAL) == (float_err == -EINVAL), "%d and %d", err, float_err);
    must(!plain || (!err && reading.exact && units == blocks), "%d, %" PRId64, err, units);
    if (float_err)
        check_number_error(float_err, number == 7);
    if (err) {
        check_number_error(err, units == 7 && reading.exact);
        return;
    }
    char *copy = calloc(1, length + 1), *end;
    const double expected = strtod(memcpy(copy, text, length), &end) * 1024;
    must(*end == '\0', "strtod disagrees");
    /* Doubles of this size have steps of at most 1024 units. */
    must((double)units - expected <= 1024.5 && expected - (double)units <= 1024.5,
         "%" PRId64 ", not %g", units, expected);
    must(float_err || number == strtof(copy, NULL), "%g", (double)number);
    free(copy);
}

static void check_blocks(const char *text, size_t length)
{
    int64_t units = 7, again;
    char written[BLOCKS_TEXT];
    const int err = blocks_parse(text, length, &units);
    check_query_number(text, length, !err, units);
    if (err) {
        check_number_error(err, units == 7);
        return;
    }
    memset(written, '!', sizeof written);
    blocks_format(units, written);
    must(memchr(written, '\0', sizeof written), "not terminated");
    must(strlen(written) <= length, "%s is longer", written);
    must(blocks_parse(written, strlen(written), &again) == 0 && again == units, "%s", written);
}

/* Every number of units can be formatted. */
static void check_units(const char *text, size_t length)
{
    int64_t units = 0;
    char written[BLOCKS_TEXT];
    memcpy(&units, text, length < sizeof units ? length : sizeof units);
    memset(written, '!', sizeof written);
    blocks_format(units, written);
    must(memchr(written, '\0', sizeof written), "not terminated");
}

static void check_whole(const char *text, size_t length)
{
    int64_t number = 7;
    uint64_t natural = 7;
    char written[32];
    int err = integer_parse(text, length, &number);
    snprintf(written, sizeof written, "%" PRId64, number);
    if (err)
        check_number_error(err, number == 7);
    else
        must(is_text(text, length, written), "%s", written);
    err = unsigned_parse(text, length, &natural);
    snprintf(written, sizeof written, "%" PRIu64, natural);
    if (err)
        check_number_error(err, natural == 7);
    else
        must(is_text(text, length, written), "%s", written);
}

static void check_reals(const char *text, size_t length)
{
    char written[REAL_TEXT];
    double real = 0;
    float number = 0;
    memcpy(&real, text, length < sizeof real ? length : sizeof real);
    memcpy(&number, text, length < sizeof number ? length : sizeof number);
    memset(written, '!', sizeof written);
    real_format(real, written);
    must(memchr(written, '\0', sizeof written), "not terminated");
    must(real != real || strtod(written, NULL) == real, "%s", written);
    memset(written, '!', sizeof written);
    float_format(number, written);
    must(memchr(written, '\0', sizeof written), "not terminated");
    must(number != number || strtof(written, NULL) == number, "%s", written);
}

static void check_authority(const char *text, size_t length)
{
    struct authority authority;
    const int err = authority_parse(&authority, text, length);
    const bool listen = authority_can_listen(text, length);
    const bool in_url = authority_can_be_in_url(text, length);
    must(err == 0 || err == -EINVAL, "%d", err);
    must(err == 0 || (!listen && !in_url), "invalid, but accepted elsewhere");
    if (err)
        return;
    must(length < AUTHORITY_MAX && authority.host_length > 0, "%zu bytes", length);
    must(authority.host >= text && authority.host + authority.host_length <= text + length,
         "not within the text");
    must(authority.port >= AUTHORITY_NO_PORT && authority.port <= 65535, "%d", authority.port);
    const char *zone = memchr(authority.host, '%', authority.host_length);
    must(authority.zone == (zone != NULL), "zone is wrong");
    must(!zone || zone + 1 < authority.host + authority.host_length, "an empty zone");
    must(listen == (authority.port != AUTHORITY_NO_PORT), "%d", authority.port);
    must(!in_url || (!authority.zone && authority.port != 0), "%d", authority.port);
    for (size_t i = 0; i < length; i++)
        must(text[i] > 32 && text[i] < 127 && !strchr("/?#@\\\"<>", text[i]), "byte %zu: %d", i,
             text[i]);
}

/* A normalized path without characters that URLs escape. */
static void check_path(const char *path, size_t capacity)
{
    must(memchr(path, '\0', capacity), "not terminated");
    must(!*path || (path[0] == '/' && path[strlen(path) - 1] != '/'), "%s", path);
    must(is_printable(path) && !strpbrk(path, " ?#%\\\"<>@:"), "%s", path);
    must(!strstr(path, "//") && !strstr(path, "/../") && !strstr(path, "/./"), "%s", path);
}

static void check_prefix(const char *text, size_t length)
{
    char path[URL_PREFIX_PATH_MAX], url[URL_PREFIX_URL_MAX], again[URL_PREFIX_URL_MAX];
    memset(path, '!', sizeof path);
    memset(url, '!', sizeof url);
    if (url_prefix_parse_path(path, text, length) == 0) {
        check_path(path, sizeof path);
        must(url_prefix_parse_path(again, path, strlen(path)) == 0 && !strcmp(path, again), "%s",
             path);
    } else {
        must(path[0] == '!' && path[URL_PREFIX_PATH_MAX - 1] == '!', "written to");
    }
    if (url_prefix_parse_url(url, text, length) == 0) {
        must(memchr(url, '\0', sizeof url), "not terminated");
        must(url_prefix_parse_url(again, url, strlen(url)) == 0 && !strcmp(url, again), "%s", url);
        const char *host = strstr(url, "://");
        must(!*url || (host && is_printable(url)), "%s", url);
        if (host)
            check_path(host + 3 + strcspn(host + 3, "/"), URL_PREFIX_PATH_MAX);
    } else {
        must(url[0] == '!' && url[URL_PREFIX_URL_MAX - 1] == '!', "written to");
    }
}

static void check_network(const char *text, size_t length)
{
    struct network network, again;
    char address[INET6_ADDRSTRLEN], written[INET6_ADDRSTRLEN + sizeof "/128"];
    const int err = network_parse(&network, text, length);
    must(err == 0 || err == -EINVAL, "%d", err);
    if (err || network.local)
        return;
    must(network.bits <= 128, "%u", network.bits);
    inet_ntop(AF_INET6, network.address, address, sizeof address);
    snprintf(written, sizeof written, "%s/%u", address, network.bits);
    must(network_parse(&again, written, strlen(written)) == 0 && again.bits == network.bits &&
             memcmp(again.address, network.address, sizeof again.address) == 0,
         "%s", written);
    /* It contains its own address, but not one with another last bit of the prefix. */
    struct sockaddr_in6 peer = {.sin6_family = AF_INET6};
    memcpy(&peer.sin6_addr, network.address, 16);
    const bool is_short = IN6_IS_ADDR_V4MAPPED(&peer.sin6_addr) != 0;
    must(network_contains(&network, (struct sockaddr *)&peer) == (!is_short || network.bits >= 96),
         "%s", written);
    if (network.bits > 96) {
        peer.sin6_addr.s6_addr[(network.bits - 1) / 8] ^= (uint8_t)(0x80 >> (network.bits - 1) % 8);
        must(!network_contains(&network, (struct sockaddr *)&peer), "%s", written);
    }
    must(!network_contains(&network, &(struct sockaddr){.sa_family = AF_UNIX}), "%s", written);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static void (*const checks[])(const char *text, size_t length) = {
        check_blocks,    check_units,  check_whole,   check_reals,
        check_authority, check_prefix, check_network,
    };
    if (size == 0)
        return 0;
    char *text = input_copy(bytes + 1, size - 1);
    checks[bytes[0] % (sizeof checks / sizeof checks[0])](text, size - 1);
    free(text);
    return 0;
}
