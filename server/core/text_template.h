/* A text with gaps for values, cut out of an example of it. Immutable, any thread. */
#ifndef FARLANDS_CORE_TEXT_TEMPLATE_H
#define FARLANDS_CORE_TEXT_TEMPLATE_H

#include "server/core/blob.h"

enum { TEXT_TEMPLATE_VALUES = 68 };

struct text_template;

/* EXAMPLE, in which each occurrence of one of VALUES becomes a gap. A value may be NULL: there is
 * none; none is empty or a part of another, but equal ones are allowed, if they are equal whenever
 * the template is filled. Returns NULL if out of memory. */
struct text_template *text_template_new(const struct blob *example,
                                        const char *const values[TEXT_TEMPLATE_VALUES]);
void text_template_free(struct text_template *template);

/* The text with VALUES in the gaps, none of them NULL if it was not then. Returns one reference, or
 * NULL if out of memory. */
struct blob *text_template_fill(const struct text_template *template,
                                const char *const values[TEXT_TEMPLATE_VALUES]);

#endif
