/* Does not use core/json.h, because a line has a fixed size, into which long texts are cut, and
 * needs no memory. */
#include "access_log.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "server/core/decimal.h"
#include "server/telemetry/utf8.h"

/* The most bytes for each text once escaped, and for everything else. */
enum { METHOD_MAX = 32, URI_MAX = 2048, USER_AGENT_MAX = 512, REFERER_MAX = 1024, REST_MAX = 400 };
_Static_assert((int)METHOD_MAX + URI_MAX + USER_AGENT_MAX + REFERER_MAX + REST_MAX <=
                   (int)ACCESS_FORMAT_MAX,
               "a line fits");

static const char cut_mark[] = "\xe2\x80\xa6"; /* U+2026 */

#define PUT(at, text) (memcpy(at, text, sizeof(text) - 1), (at) + sizeof(text) - 1)

static char *put_text(char *at, const char *text)
{
    const size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

/* Write exactly COUNT digits. */
static char *put_digits(char *at, uint64_t number, unsigned count)
{
    for (unsigned i = count; i--; number /= 10)
        at[i] = (char)('0' + number % 10);
    return at + count;
}

static char *put_time(char *at, const struct timespec *time, struct access_clock *clock)
{
    if (!clock->text[0] || clock->second != time->tv_sec) {
        struct tm utc;
        clock->second = time->tv_sec;
        if (!gmtime_r(&time->tv_sec, &utc) ||
            !strftime(clock->text, sizeof clock->text, "%Y-%m-%dT%H:%M:%S", &utc))
            strcpy(clock->text, "1970-01-01T00:00:00");
    }
    at = put_text(at, clock->text);
    *at++ = '.';
    at = put_digits(at, (uint64_t)time->tv_nsec / 1000000, 3);
    *at++ = 'Z';
    return at;
}

static char *put_ipv4(char *at, const uint8_t address[4])
{
    for (int i = 0; i < 4; i++) {
        at = decimal_put(at, address[i]);
        *at++ = '.';
    }
    return at - 1;
}

char *access_put_client(char *at, const struct sockaddr *client)
{
    if (client && client->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)client;
        return put_ipv4(at, (const uint8_t *)&in->sin_addr);
    }
    if (client && client->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)client;
        if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) /* an IPv4 client on a dual-stack socket */
            return put_ipv4(at, in6->sin6_addr.s6_addr + 12);
        inet_ntop(AF_INET6, &in6->sin6_addr, at, INET6_ADDRSTRLEN);
        return at + strlen(at);
    }
    return at;
}

static char *put_escape(char *at, uint8_t byte)
{
    static const char hex[] = "0123456789abcdef";
    if (byte == '"' || byte == '\\') {
        *at++ = '\\';
        *at++ = (char)byte;
        return at;
    }
    at = PUT(at, "\\u00");
    *at++ = hex[byte >> 4];
    *at++ = hex[byte & 15];
    return at;
}

/* Write TEXT in quotes, in at most MAX bytes. */
static char *put_string(char *at, const char *text, size_t max)
{
    const uint8_t *from = (const uint8_t *)text;
    /* Up to here the longest escape, the mark and the final quote fit. */
    const char *const end = at + max - 6 - (sizeof cut_mark - 1) - 1;

    *at++ = '"';
    while (*from) {
        if (at > end) {
            at = PUT(at, cut_mark);
            break;
        }
        const unsigned length = utf8_printable(from);
        if (!length || *from == '"' || *from == '\\') {
            at = put_escape(at, *from++);
            continue;
        }
        memcpy(at, from, length);
        at += length;
        from += length;
    }
    *at++ = '"';
    return at;
}

size_t access_format(char line[ACCESS_FORMAT_MAX], const struct access_entry *entry,
                     struct access_clock *clock)
{
    static const char *const from[] = {"none", "memory", "disk", "render", "joined"};
    const uint64_t microseconds = entry->nanoseconds / 1000;
    char *at = line;

    at = PUT(at, "{\"time\":\"");
    at = put_time(at, &entry->time, clock);
    at = PUT(at, "\",\"client\":\"");
    at = access_put_client(at, entry->client);
    at = PUT(at, "\",\"method\":");
    at = put_string(at, entry->method, METHOD_MAX);
    at = PUT(at, ",\"uri\":");
    at = put_string(at, entry->uri, URI_MAX);
    at = PUT(at, ",\"status\":");
    at = decimal_put(at, entry->status);
    at = PUT(at, ",\"bytes\":");
    at = decimal_put(at, entry->bytes);
    at = PUT(at, ",\"seconds\":");
    at = decimal_put(at, microseconds / 1000000);
    *at++ = '.';
    at = put_digits(at, microseconds % 1000000, 6);
    at = PUT(at, ",\"from\":\"");
    at = put_text(at, from[entry->from]);
    *at++ = '"';
    if (entry->user_agent) {
        at = PUT(at, ",\"user_agent\":");
        at = put_string(at, entry->user_agent, USER_AGENT_MAX);
    }
    if (entry->referer) {
        at = PUT(at, ",\"referer\":");
        at = put_string(at, entry->referer, REFERER_MAX);
    }
    at = PUT(at, "}\n");
    return (size_t)(at - line);
}
