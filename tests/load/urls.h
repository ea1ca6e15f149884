/* The URLs that a stream asks for: paths, in which {A..B} stands for a random whole number. */
#ifndef LOAD_URLS_H
#define LOAD_URLS_H

#include <stddef.h>
#include <stdint.h>

struct urls;

int urls_new(struct urls **out);
void urls_free(struct urls *urls);

/*
 * Add a pattern such as /default/relief/12/{0..4095}/{-8..7}.png. Returns 0,
 * -EINVAL where it is none (no slash first, blanks, braces that do not match,
 * longer than URL_MAX), or -ENOMEM.
 */
int urls_add(struct urls *urls, const char *pattern);

/* Add each line of FILE. Returns 0, -EINVAL, or what opening or reading it failed with. */
int urls_read(struct urls *urls, const char *file);

size_t urls_count(const struct urls *urls);

enum { URL_MAX = 2048 };

/* A URL from one of the patterns, of which there must be one; its length. */
size_t urls_next(const struct urls *urls, uint64_t *random, char text[URL_MAX]);

#endif
