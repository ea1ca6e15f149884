/* A text with gaps for values, made from an example. Immutable, any thread. */
#ifndef FARLANDS_CORE_TEXT_TEMPLATE_H
#define FARLANDS_CORE_TEXT_TEMPLATE_H

#include "server/core/blob.h"

enum { TEXT_TEMPLATE_VALUES = 68 };

struct text_template;

/* EXAMPLE with a gap for each occurrence of one of VALUES. A value may be NULL, for none. No value
 * is empty or a part of another one. Equal values must be equal whenever the template is filled.
 * Returns NULL if out of memory. */
struct text_template *text_template_new(const struct blob *example,
                                        const char *const values[TEXT_TEMPLATE_VALUES]);
void text_template_free(struct text_template *template);

/* The text with VALUES in the gaps; a value may be NULL only if it was in the example. Returns one
 * reference, or NULL if out of memory. */
struct blob *text_template_fill(const struct text_template *template,
                                const char *const values[TEXT_TEMPLATE_VALUES]);

#endif
