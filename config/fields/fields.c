#include "fields.h"

#include <stdlib.h>
#include <string.h>

#include "config/fields/field_nodes.h"
#include "noise/graph/rivers_params.h"

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
    if (expression->values)
        free(expression->values->biomes);
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
    free(fields->plain_text);
    free(fields);
}

const char *world_fields_text(const struct world_fields *fields)
{
    return fields->text;
}

const char *world_fields_plain_text(const struct world_fields *fields)
{
    return fields->plain_text;
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

const struct biome_table *world_fields_biomes(const struct world_fields *fields, int field)
{
    const struct expression *expression = &fields->expression[fields->field[field].expression];
    while (expression->spacing == 0) {
        if (expression->kind == NODE_KIND_NAME)
            expression = &fields->expression[fields->field[expression->field].expression];
        else if (expression->kind->shape == NODE_SAME)
            expression = &fields->expression[expression->input[0]];
        else
            return expression->values ? expression->values->biomes : NULL;
    }
    return NULL;
}

/* EXPRESSION; for a name, the named field's expression. */
static const struct expression *named(const struct world_fields *fields,
                                      const struct expression *expression)
{
    while (expression->kind == NODE_KIND_NAME)
        expression = &fields->expression[fields->field[expression->field].expression];
    return expression;
}

/* The number of the field NAME if its root is KIND without a lattice; otherwise -1. */
static int find_kind(const struct world_fields *fields, const char *name, enum graph_kind kind)
{
    const int field = world_fields_find(fields, name, strlen(name));
    if (field < 0)
        return -1;
    const struct expression *e =
        named(fields, &fields->expression[fields->field[field].expression]);
    return e->spacing == 0 && e->kind->name && e->kind->graph == kind ? field : -1;
}

bool world_fields_water(struct world_water *out, const struct world_fields *fields)
{
    if (!fields)
        return false;
    out->water = find_kind(fields, "water", GRAPH_WATER);
    out->river = find_kind(fields, "river", GRAPH_RIVER);
    out->bank = find_kind(fields, "bank", GRAPH_BANK);
    if (out->water < 0 || out->river < 0 || out->bank < 0)
        return false;
    const struct expression *e =
        named(fields, &fields->expression[fields->field[out->river].expression]);
    e = named(fields, &fields->expression[e->input[0]]);
    out->rivers = &e->values->rivers;
    return true;
}

double world_water_width(const struct world_water *water, double order)
{
    return rivers_width(water->rivers, order);
}

struct water_here world_water_here(const struct world_water *water, float level, float order,
                                   float height)
{
    if (level > RIVERS_DRY && order > 0)
        return (struct water_here){level, level - height, order,
                                   (float)world_water_width(water, (double)order), "river"};
    if (level > RIVERS_DRY)
        return (struct water_here){level, level - height, 0, 0, "lake"};
    if (height < 0)
        return (struct water_here){0, -height, 0, 0, "sea"};
    return (struct water_here){0, 0, 0, 0, NULL};
}

const char *world_fields_biome_name(const struct world_fields *fields, int id)
{
    const int field = fields ? world_fields_find(fields, "biome", 5) : -1;
    const struct biome_table *table = field < 0 ? NULL : world_fields_biomes(fields, field);
    const int row = table ? biome_table_row(table, id) : -1;
    return row < 0 ? NULL : table->look[row].name;
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
