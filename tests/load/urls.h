/* The URLs of a stream: path patterns in which {A..B} stands for a random whole number. */
#ifndef LOAD_URLS_H
#define LOAD_URLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct urls;

int urls_new(struct urls **out);
void urls_free(struct urls *urls);

/*
 * Add a pattern such as /default/relief/12/{0..4095}/{-8..7}.png. Returns 0,
 * -EINVAL if it is malformed (no leading slash, blanks, unbalanced braces,
 * longer than URL_MAX), or -ENOMEM.
 */
int urls_add(struct urls *urls, const char *pattern);

/* Add each line of FILE. Returns 0, -EINVAL, or the error of opening or reading it. */
int urls_read(struct urls *urls, const char *file);

size_t urls_count(const struct urls *urls);

enum { URL_MAX = 8192 };

/*
 * Write a URL from a random pattern, or from each in turn if IN_ORDER; at least one must have been
 * added. STATE, which is of the caller, chooses it and moves to the next. Returns the length.
 */
size_t urls_next(const struct urls *urls, bool in_order, uint64_t *state, char text[URL_MAX]);

#endif
