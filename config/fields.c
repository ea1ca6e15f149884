#include "fields.h"

#include <stdlib.h>
#include <string.h>

#include "field_nodes.h"

const struct world_fields *world_fields_hold(const struct world_fields *fields)
{
    if (fields)
        __atomic_fetch_add(&((struct world_fields *)fields)->references, 1, __ATOMIC_RELAXED);
    return fields;
}

static void free_expression(struct expression *expression)
{
    free(expression->path);
    free(expression->name);
    free(expression->input);
    free(expression->values);
}

void world_fields_release(const struct world_fields *shared)
{
    struct world_fields *fields = (struct world_fields *)shared;
    if (!fields || __atomic_sub_fetch(&fields->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (int i = 0; i < fields->expressions; i++)
        free_expression(&fields->expression[i]);
    free(fields->expression);
    free(fields->field);
    free(fields->text);
    free(fields);
}

const char *world_fields_text(const struct world_fields *fields)
{
    return fields->text;
}

int world_fields_count(const struct world_fields *fields)
{
    return fields->count;
}

const char *world_fields_name(const struct world_fields *fields, int field)
{
    return fields->field[field].name;
}

const char *world_fields_unit(const struct world_fields *fields, int field)
{
    return fields->field[field].unit;
}

int world_fields_find(const struct world_fields *fields, const char *name, size_t length)
{
    for (int i = 0; i < fields->count; i++) {
        const char *other = fields->field[i].name;
        if (strlen(other) == length && memcmp(other, name, length) == 0)
            return i;
    }
    return -1;
}

int64_t world_fields_broadest(const struct world_fields *fields)
{
    int64_t broadest = 0;
    for (int i = 0; i < fields->expressions; i++) {
        const struct node_values *values = fields->expression[i].values;
        if (values && values->noise.wavelength > broadest)
            broadest = values->noise.wavelength;
    }
    return broadest ? broadest : 1024 * FARLANDS_UNIT;
}
