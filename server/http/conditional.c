#include "conditional.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

char *conditional_etag_hash(const void *bytes, size_t length, char etag[HASH_ETAG])
{
    snprintf(etag, HASH_ETAG, "\"%016" PRIx64 "\"", (uint64_t)XXH64(bytes, length, 0));
    return etag;
}

char *conditional_etag_coded(const char etag[HASH_ETAG], enum coding coding, char out[HASH_ETAG])
{
    snprintf(out, HASH_ETAG, "%.17s-%s\"", etag, coding_name(coding));
    return out;
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* Parse an entity-tag. Sets *QUOTED to the tag without W/. Returns the end, or NULL. */
static const char *entity_tag(const char *at, const char **quoted)
{
    if (at[0] == 'W' && at[1] == '/')
        at += 2;
    *quoted = at;
    if (*at != '"')
        return NULL;
    const char *close = strchr(at + 1, '"');
    return close ? close + 1 : NULL;
}

/* True if LIST is * or contains ETAG. STRONGLY: tags with W/ do not match. */
static bool list_contains(const char *list, const char *etag, bool strongly)
{
    const size_t length = strlen(etag);
    bool found = false;

    const char *at = skip_blanks(list);
    if (*at == '*')
        return *skip_blanks(at + 1) == '\0';
    while (*at) {
        const char *quoted, *tag = at;
        if (*at != ',') { /* empty elements are allowed */
            at = entity_tag(at, &quoted);
            if (!at)
                return false;
            if ((!strongly || quoted == tag) && (size_t)(at - quoted) == length &&
                memcmp(quoted, etag, length) == 0)
                found = true;
            at = skip_blanks(at);
            if (*at && *at != ',')
                return false;
        }
        at = skip_blanks(at + (*at == ','));
    }
    return found;
}

bool conditional_if_match(const char *if_match, const char *etag)
{
    return !if_match || list_contains(if_match, etag, true);
}

bool conditional_if_none_match(const char *if_none_match, const char *etag)
{
    return if_none_match && list_contains(if_none_match, etag, false);
}

bool conditional_if_range(const char *if_range, const char *etag)
{
    if (!if_range)
        return true;
    const char *at = skip_blanks(if_range);
    const size_t length = strlen(etag);
    return strncmp(at, etag, length) == 0 && *skip_blanks(at + length) == '\0';
}

struct modification conditional_modification(time_t second)
{
    struct modification out = {.second = second};
    struct tm utc;

    /* The names are English: no locale is ever set. */
    if (!gmtime_r(&second, &utc) ||
        strftime(out.text, sizeof out.text, "%a, %d %b %Y %H:%M:%S GMT", &utc) == 0)
        out.text[0] = '\0';
    return out;
}

/* Parse an HTTP date: the usual form, and the two obsolete ones. */
static bool parse_date(const char *text, time_t *out)
{
    static const char *const forms[] = {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT",
                                        "%a %b %e %H:%M:%S %Y"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct tm utc = {0};
        const char *end = strptime(skip_blanks(text), forms[i], &utc);
        if (end && *skip_blanks(end) == '\0') {
            *out = timegm(&utc);
            return true;
        }
    }
    return false;
}

bool conditional_not_modified(const char *if_none_match, const char *if_modified_since,
                              const char *etag, const struct modification *modified)
{
    time_t since;

    if (if_none_match)
        return conditional_if_none_match(if_none_match, etag);
    return if_modified_since && modified->text[0] && parse_date(if_modified_since, &since) &&
           since >= modified->second;
}

/* Parse a number, UINT64_MAX if larger, and advance *AT. Returns false if there is none. */
static bool parse_number(const char **at, uint64_t *out)
{
    if (**at < '0' || **at > '9') /* strtoull accepts blanks and signs */
        return false;
    *out = strtoull(*at, (char **)at, 10);
    return true;
}

/* Parse FIRST-LAST, FIRST- or -SUFFIX. Returns the end, or NULL. */
static const char *parse_range_spec(const char *at, uint64_t length, struct byte_range *out,
                                    enum range_kind *kind)
{
    uint64_t first = 0, last = 0;
    const bool from = parse_number(&at, &first);
    if (*at++ != '-')
        return NULL;
    const bool to = parse_number(&at, &last);
    if ((!from && !to) || (from && to && last < first))
        return NULL;
    *kind = RANGE_PART;
    if (!from) { /* a suffix of LAST bytes */
        const uint64_t count = last < length ? last : length;
        *out = (struct byte_range){length - count, count};
        if (last == 0)
            *kind = RANGE_UNSATISFIABLE;
        else if (length == 0)
            *kind = RANGE_WHOLE; /* satisfiable, but Content-Range cannot name an empty part */
        return at;
    }
    if (first >= length) {
        *kind = RANGE_UNSATISFIABLE;
        return at;
    }
    if (!to || last >= length)
        last = length - 1;
    *out = (struct byte_range){first, last - first + 1};
    return at;
}

enum range_kind conditional_parse_range(const char *range, uint64_t length, struct byte_range *out)
{
    static const char unit[] = "bytes=";
    enum range_kind kind = RANGE_WHOLE;
    struct byte_range found;
    int count = 0;

    if (!range || strncasecmp(range, unit, sizeof unit - 1) != 0)
        return RANGE_WHOLE;
    for (const char *at = range + sizeof unit - 1; *at;) {
        if (*at == ',') { /* empty elements are allowed */
            at = skip_blanks(at + 1);
            continue;
        }
        at = parse_range_spec(at, length, &found, &kind);
        if (!at)
            return RANGE_WHOLE;
        at = skip_blanks(at);
        if (*at && *at != ',')
            return RANGE_WHOLE;
        count++;
    }
    if (count != 1)
        return RANGE_WHOLE;
    if (kind == RANGE_PART)
        *out = found;
    return kind;
}

/* The weight in a coding's parameters, ";q=0.5" or none, in thousandths. */
static int quality(const char *at, size_t length)
{
    const char *q = memrchr(at, '=', length), *end = at + length;
    int value = 1000;

    if (!q)
        return value;
    q = skip_blanks(q + 1);
    if (q < end && *q == '0')
        value = 0;
    if (value == 0 && ++q < end && *q == '.')
        for (int digit = 100; digit > 0 && ++q < end && *q >= '0' && *q <= '9'; digit /= 10)
            value += digit * (*q - '0');
    return value;
}

enum coding conditional_coding(const char *accept_encoding, unsigned available)
{
    enum { ANY = CODINGS, UNNAMED = -1 };
    static const struct {
        const char *name;
        int coding;
    } names[] = {{"identity", CODING_IDENTITY},
                 {"gzip", CODING_GZIP},
                 {"x-gzip", CODING_GZIP},
                 {"zstd", CODING_ZSTD},
                 {"*", ANY}};
    int q[CODINGS + 1] = {UNNAMED, UNNAMED, UNNAMED, UNNAMED};

    for (const char *at = accept_encoding; at && *at;) {
        at = skip_blanks(at);
        const size_t length = strcspn(at, ","), name = strcspn(at, ",; \t");
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (strlen(names[i].name) == name && strncasecmp(at, names[i].name, name) == 0 &&
                q[names[i].coding] == UNNAMED)
                q[names[i].coding] = quality(at + name, length - name);
        at += length;
        at += *at == ',';
    }
    for (int coding = CODING_IDENTITY; coding <= CODING_GZIP; coding++)
        if (q[coding] == UNNAMED)
            q[coding] = q[ANY];
    int best = CODING_IDENTITY;
    for (int coding = CODING_GZIP; coding < CODINGS; coding++)
        if (available >> coding & 1 && q[coding] > 0 && q[coding] >= q[best])
            best = coding;
    return best;
}
