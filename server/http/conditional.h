/*
 * Conditional requests, ranges and content codings (RFC 9110, sections 12 to 14). Pure.
 *
 * An argument named after a header is that header's value, or NULL if the request lacks it. An ETAG
 * is strong and includes the quotes.
 */
#ifndef FARLANDS_HTTP_CONDITIONAL_H
#define FARLANDS_HTTP_CONDITIONAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "server/core/coding.h"

enum { HASH_ETAG = 24 };

/* Make an ETag from a hash of BYTES, for bytes that have no other name. Returns ETAG. */
char *conditional_etag_hash(const void *bytes, size_t length, char etag[HASH_ETAG]);

/* The ETag for the same bytes compressed by CODING: ETAG, from conditional_etag_hash, with a
 * suffix. Returns OUT. */
char *conditional_etag_coded(const char etag[HASH_ETAG], enum coding coding, char out[HASH_ETAG]);

/* True if IF_MATCH is NULL, is *, or lists ETAG by strong comparison. A malformed value matches
 * nothing. */
bool conditional_if_match(const char *if_match, const char *etag);

/* True if IF_NONE_MATCH is * or lists ETAG by weak comparison: the client has the current version.
 * False if NULL or malformed. */
bool conditional_if_none_match(const char *if_none_match, const char *etag);

/* When the served content last changed, and the text for Last-Modified; empty if unknown. */
struct modification {
    time_t second;
    char text[32];
};

/* A modification at SECOND. */
struct modification conditional_modification(time_t second);

/*
 * True if the client has the current version: by IF_NONE_MATCH or, if that is absent, because
 * IF_MODIFIED_SINCE is a date (RFC 9110, section 5.6.7, in any of three forms) at or after
 * MODIFIED.
 */
bool conditional_not_modified(const char *if_none_match, const char *if_modified_since,
                              const char *etag, const struct modification *modified);

/* True if the Range header applies: IF_RANGE is NULL or is ETAG. Weak tags and dates never match: a
 * date is too coarse for bytes that must fit together. */
bool conditional_if_range(const char *if_range, const char *etag);

struct byte_range {
    uint64_t first, length;
};

enum range_kind {
    RANGE_WHOLE, /* no range, several ranges, another unit, or malformed */
    RANGE_PART,
    RANGE_UNSATISFIABLE, /* begins behind the last byte */
};

/* Parse RANGE for a representation with LENGTH bytes. OUT is set for RANGE_PART only, and is not
 * empty then. */
enum range_kind conditional_parse_range(const char *range, uint64_t length, struct byte_range *out);

/* The codings that may be available, as bits. */
enum { CODED_BY_ANY = 1 << CODING_GZIP | 1 << CODING_ZSTD };

/*
 * The coding in AVAILABLE, bits 1 << CODING_..., to which ACCEPT_ENCODING gives the greatest
 * weight; the last one if several are equal. Returns CODING_IDENTITY if none is accepted, even if
 * identity is forbidden. "*" does not mean zstd, because old clients send "*" and may not know
 * zstd.
 */
enum coding conditional_coding(const char *accept_encoding, unsigned available);

#endif
