/* What a request says of the answer that it wants: conditions, a range, a coding (RFC 9110,
 * sections 12 to 14). Pure. */
#ifndef FARLANDS_HTTP_CONDITIONAL_H
#define FARLANDS_HTTP_CONDITIONAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HASH_ETAG = 24 };

/* The strong validator of BYTES that nothing else identifies: their hash. Returns ETAG. */
char *conditional_etag_hash(const void *bytes, size_t length, char etag[HASH_ETAG]);

/* Whether the field value of If-Match, where there is one, names ETAG by strong comparison, or is
 * *. What is malformed matches nothing. */
bool conditional_if_match(const char *if_match, const char *etag);

/* Whether the field value of If-None-Match names ETAG ("..." with its quotes),
 * by weak comparison, or is *. NULL and what is malformed match nothing. */
bool conditional_if_none_match(const char *if_none_match, const char *etag);

/* Whether the field value of If-Range leaves the Range in force: where it is NULL, or names ETAG,
 * which is strong. A weak tag never does, nor does a date: answers here have none. */
bool conditional_if_range(const char *if_range, const char *etag);

/* Part of LENGTH bytes. */
struct byte_range {
    uint64_t first, length;
};

enum range_kind {
    RANGE_WHOLE, /* none asked for, several, in another unit, or malformed */
    RANGE_PART,
    RANGE_UNSATISFIABLE, /* begins beyond the end */
};

/* The field value of RANGE (or NULL) for an answer of LENGTH bytes; OUT, never empty, only of a
 * part. */
enum range_kind conditional_parse_range(const char *range, uint64_t length, struct byte_range *out);

/* Whether the field value of Accept-Encoding, or NULL, takes gzip. */
bool conditional_accepts_gzip(const char *accept_encoding);

#endif
