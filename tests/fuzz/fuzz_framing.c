/*
 * Heads of requests. An input has one line each for method, URL, version and the number of bytes
 * received beyond those parsed, and then alternating names and values. A rejection is final; it has
 * a known status and a message, and closes the connection. Requests are served only if unambiguous.
 */
#include "server/http/framing.h"

#include <strings.h>

#include "tests/fuzz/fuzz.h"

struct seen {
    int hosts, lengths;
    bool coded, expects, wrong_length, wrong_byte;
    size_t size;
};

static bool is_alphanumeric_or(char c, const char *others)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           strchr(others, c);
}

static bool is_token(const char *name)
{
    const char *c = name;
    while (*c && is_alphanumeric_or(*c, "!#$%&'*+-.^_`|~"))
        c++;
    return c > name && !*c;
}

static bool is_value(const char *value)
{
    for (; *value; value++)
        if (((unsigned char)*value < ' ' && *value != '\t') || *value == 127)
            return false;
    return true;
}

static void record(struct seen *seen, const char *name, const char *value)
{
    seen->size += strlen(name) + 2 + strlen(value) + 2;
    seen->hosts += strcasecmp(name, "host") == 0;
    seen->coded |= strcasecmp(name, "transfer-encoding") == 0;
    seen->expects |= strcasecmp(name, "expect") == 0;
    seen->wrong_byte |= !is_token(name) || !is_value(value);
    if (strcasecmp(name, "content-length") == 0) {
        seen->lengths++;
        seen->wrong_length |= strcmp(value, "0") != 0;
    }
}

static void check_rejection(const struct framing *framing, unsigned before)
{
    const unsigned status = framing->refused;
    must(status == 0 || status == 400 || status == 405 || status == 414 || status == 417 ||
             status == 431,
         "%u", status);
    must(!before || status == before, "%u, and then %u", before, status);
    must(!status || (framing->why && is_printable(framing->why) && framing->close), "%u", status);
}

/* A served request is unambiguous; its connection is kept unless bytes are unaccounted for. */
static void check_served(const struct framing *framing, const struct seen *seen, const char *method,
                         const char *uri, const char *version, int more)
{
    must(strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
             strcmp(method, "OPTIONS") == 0,
         "%s", method);
    must(is_printable(uri) && !strpbrk(uri, " \"<>\\^`{|}"), "%s", uri);
    must(strlen(uri) <= 8192 && seen->size <= 12288 + 2, "%zu bytes", seen->size);
    must(seen->hosts == 1 || (seen->hosts == 0 && strcmp(version, "HTTP/1.0") == 0), "%d hosts",
         seen->hosts);
    must(!seen->coded && !seen->expects && seen->lengths <= 1 && !seen->wrong_length &&
             !seen->wrong_byte,
         "%s", uri);
    must(more > -3 && more < 3, "%d more", more);
    must(framing->close == (more != 0), "%d more", more);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct input input = {bytes, size};
    struct framing framing = {0};
    struct seen seen = {0};
    char *method = input_line(&input), *uri = input_line(&input), *version = input_line(&input);
    char *number = input_line(&input);
    const int more = atoi(number) % 1000;

    framing_line(&framing, method, uri, version);
    check_rejection(&framing, 0);
    seen.size = strlen(method) + 1 + strlen(uri) + 1 + strlen(version) + 2;
    while (input.left > 0) {
        const unsigned before = framing.refused;
        char *name = input_line(&input), *value = input_line(&input);
        framing_header(&framing, name, value);
        check_rejection(&framing, before);
        record(&seen, name, value);
        free(name);
        free(value);
    }
    seen.size += 2;
    must(framing.size + 2 == seen.size, "%zu of %zu bytes", framing.size + 2, seen.size);
    const unsigned before = framing.refused;
    const long long received = (long long)seen.size + more;
    framing_end(&framing, received < 0 ? 0 : (size_t)received);
    check_rejection(&framing, before);
    if (!framing.refused && received >= 0)
        check_served(&framing, &seen, method, uri, version, more);
    free(method);
    free(uri);
    free(version);
    free(number);
    return 0;
}
