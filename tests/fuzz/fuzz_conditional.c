/*
 * Conditional headers, ranges and codings. An input has one line each for an ETag, a length, and
 * the header's value. A range is neither empty nor beyond the end, and its bounds, formatted, parse
 * to the same range. A value that matches a tag strongly also matches weakly, even if other tags
 * precede that tag.
 */
#include "server/http/conditional.h"

#include <inttypes.h>

#include "tests/fuzz/fuzz.h"

static void check_range(const char *value, uint64_t length)
{
    struct byte_range part = {7, 7}, again;
    char text[64];
    const enum range_kind kind = conditional_parse_range(value, length, &part);
    if (kind != RANGE_PART) {
        must(kind == RANGE_WHOLE || kind == RANGE_UNSATISFIABLE, "%d", (int)kind);
        must(part.first == 7 && part.length == 7, "written to");
        return;
    }
    must(part.length > 0 && part.first < length && part.length <= length - part.first,
         "%" PRIu64 " from %" PRIu64 " of %" PRIu64, part.length, part.first, length);
    snprintf(text, sizeof text, "bytes=%" PRIu64 "-%" PRIu64, part.first,
             part.first + part.length - 1);
    must(conditional_parse_range(text, length, &again) == RANGE_PART && again.first == part.first &&
             again.length == part.length,
         "%s", text);
    must(length == UINT64_MAX || conditional_parse_range(value, length + 1, &again) == RANGE_PART,
         "rejected for one byte more");
}

static void check_tags(const char *value, const char *etag)
{
    const bool strong = conditional_if_match(value, etag),
               weak = conditional_if_none_match(value, etag);
    must(!strong || weak, "%s in %s", etag, value);
    must(!conditional_if_range(value, etag) || strong, "%s in %s", etag, value);
    if (value[strspn(value, " \t")] == '*')
        return;
    char *longer = malloc(strlen(value) + 16);
    sprintf(longer, " ,W/\"\",%s", value);
    must(conditional_if_none_match(longer, etag) ==
             (weak || (strcmp(etag, "\"\"") == 0 && /* the empty tag in LONGER */
                       conditional_if_none_match(longer, etag))),
         "%s in %s", etag, longer);
    must(conditional_if_match(longer, etag) == strong, "%s in %s", etag, longer);
    free(longer);
}

static void check_coding(const char *value)
{
    char *longer = malloc(strlen(value) + 32);
    const enum coding coding = conditional_coding(value, CODED_BY_ANY);
    sprintf(longer, "br;q=0 ,%s", value);
    must(conditional_coding(longer, CODED_BY_ANY) == coding, "%s", longer);
    sprintf(longer, "gzip;q=0.0,%s", value);
    must(conditional_coding(longer, CODED_BY_ANY) != CODING_GZIP, "%s", longer);
    sprintf(longer, "GZIP,%s", value);
    must(conditional_coding(longer, 1 << CODING_GZIP) == CODING_GZIP, "%s", longer);
    sprintf(longer, "zstd,%s", value);
    must(conditional_coding(longer, CODED_BY_ANY) == CODING_ZSTD, "%s", longer);
    free(longer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct input input = {bytes, size};
    char *inside = input_line(&input), *number = input_line(&input), *value = input_line(&input);
    const size_t inside_length = strcspn(inside, "\"");
    char *etag = malloc(inside_length + 3), hash[HASH_ETAG];

    sprintf(etag, "\"%.*s\"", (int)inside_length, inside);
    check_range(value, strtoull(number, NULL, 10));
    check_tags(value, etag);
    check_coding(value);
    conditional_etag_hash(bytes, size, hash);
    must(strlen(hash) == 18 && hash[0] == '"' && hash[17] == '"', "%s", hash);
    must(conditional_if_match(hash, hash) && conditional_if_range(hash, hash), "%s", hash);
    free(etag);
    free(inside);
    free(number);
    free(value);
    return 0;
}
