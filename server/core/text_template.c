#include "text_template.h"

#include <stdlib.h>
#include <string.h>

/* Some text, and the value behind it. */
struct part {
    size_t begin, length;
    int value; /* -1: none, at the end */
};

struct text_template {
    struct blob *text; /* all parts, without gaps */
    size_t count;
    struct part part[];
};

/* Find the first occurrence of any of VALUES in TEXT. Returns the value's number, or -1. */
static int find_value(const char *text, size_t length, const char *const *values, size_t *at)
{
    int found = -1;
    for (int i = 0; i < TEXT_TEMPLATE_VALUES; i++) {
        const char *place = values[i] ? memmem(text, length, values[i], strlen(values[i])) : NULL;
        if (place) {
            length = (size_t)(place - text) + strlen(values[i]);
            *at = (size_t)(place - text);
            found = i;
        }
    }
    return found;
}

/* Cut EXAMPLE into parts. Stores them in PART, and the text in TEXT, unless NULL. Returns how many.
 */
static size_t split(const struct blob *example, const char *const *values, struct part *part,
                    uint8_t *text)
{
    const char *from = (const char *)example->bytes;
    size_t left = example->length, count = 0, used = 0;

    for (int value = 0; value >= 0; count++) {
        size_t length = left;
        value = find_value(from, left, values, &length);
        if (part) {
            part[count] = (struct part){used, length, value};
            memcpy(text + used, from, length);
        }
        used += length;
        length += value >= 0 ? strlen(values[value]) : 0;
        from += length;
        left -= length;
    }
    return count;
}

struct text_template *text_template_new(const struct blob *example,
                                        const char *const values[TEXT_TEMPLATE_VALUES])
{
    const size_t count = split(example, values, NULL, NULL);
    struct text_template *template = malloc(sizeof *template + count * sizeof *template->part);
    if (!template)
        return NULL;
    template->count = count;
    template->text = blob_new(example->length);
    if (!template->text) {
        free(template);
        return NULL;
    }
    split(example, values, template->part, template->text->bytes);
    return template;
}

void text_template_free(struct text_template *template)
{
    if (!template)
        return;
    blob_release(template->text);
    free(template);
}

struct blob *text_template_fill(const struct text_template *template,
                                const char *const values[TEXT_TEMPLATE_VALUES])
{
    size_t total = 0;
    for (const struct part *part = template->part; part < template->part + template->count; part++)
        total += part->length + (part->value >= 0 ? strlen(values[part->value]) : 0);
    struct blob *blob = blob_new(total);
    if (!blob)
        return NULL;
    uint8_t *at = blob->bytes;
    for (const struct part *part = template->part; part < template->part + template->count;
         part++) {
        at = mempcpy(at, template->text->bytes + part->begin, part->length);
        if (part->value >= 0)
            at = mempcpy(at, values[part->value], strlen(values[part->value]));
    }
    return blob;
}
