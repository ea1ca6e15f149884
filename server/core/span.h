/* A slice of another text, for example a URL. Not terminated, and owns nothing. */
#ifndef FARLANDS_CORE_SPAN_H
#define FARLANDS_CORE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct span {
    const char *text;
    size_t length;
};

static inline bool span_is(struct span span, const char *text)
{
    return span.text && span.length == strlen(text) && memcmp(span.text, text, span.length) == 0;
}

/* The same for ASCII letters of either case. */
static inline bool span_is_in_any_case(struct span span, const char *text)
{
    return span.text && span.length == strlen(text) &&
           strncasecmp(span.text, text, span.length) == 0;
}

/* Remove SUFFIX from the end, if SPAN is longer and ends with it. Returns true if so. */
static inline bool span_cut(struct span *span, const char *suffix)
{
    size_t length = strlen(suffix);
    if (span->length <= length || memcmp(span->text + span->length - length, suffix, length) != 0)
        return false;
    span->length -= length;
    return true;
}

/* Take the text before the first SEPARATOR, or all text if there is none, off SPAN's front, with
 * the separator. Returns the text. */
static inline struct span span_take(struct span *span, char separator)
{
    const char *at = span->length > 0 ? memchr(span->text, separator, span->length) : NULL;
    struct span taken = {span->text, at ? (size_t)(at - span->text) : span->length};
    const size_t removed = taken.length + (at != NULL);
    span->text += removed;
    span->length -= removed;
    return taken;
}

/* How much of SPAN an error message repeats. */
static inline int span_shown(struct span span)
{
    return span.length < 40 ? (int)span.length : 40;
}

#endif
