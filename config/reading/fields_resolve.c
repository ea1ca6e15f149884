#include "fields_resolve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/fields/field_nodes.h"
#include "config/values/name_distance.h"

static int fail_at(struct node_reader *reader, const struct key_path *path, int expression,
                   const char *text)
{
    const struct expression *e = &reader->fields->expression[expression];
    const struct text_node line = {.line = e->line};
    struct key_path at;
    snprintf(at.text, sizeof at.text, "%.*s.%s", (int)reader->fields_path, path->text, e->path);
    return node_reader_fail(reader, &line, &at, "%s", text);
}

/* Refuse EXPRESSION, a name that no field has. */
static int refuse_name(struct node_reader *reader, const struct key_path *path, int expression)
{
    const struct world_fields *fields = reader->fields;
    const char *name = fields->expression[expression].name, *nearest = NULL;
    unsigned least = NAME_DISTANCE_NONE;
    char text[600];
    for (int i = 0; i < fields->count; i++) {
        const unsigned distance = name_distance(name, strlen(name), fields->field[i].name);
        if (distance < least) {
            least = distance;
            nearest = fields->field[i].name;
        }
    }
    int used = snprintf(text, sizeof text, "no field \"%s\"; ", name);
    if (nearest)
        snprintf(text + used, sizeof text - (size_t)used, "did you mean %s?", nearest);
    for (int i = 0; !nearest && i < fields->count && used < 500; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%s",
                         i > 0 ? ", " : "expected one of ", fields->field[i].name);
    return fail_at(reader, path, expression, text);
}

static int resolve_names(struct node_reader *reader, const struct key_path *path)
{
    struct world_fields *fields = reader->fields;
    for (int i = 0; i < fields->expressions; i++) {
        struct expression *expression = &fields->expression[i];
        if (expression->kind != NODE_KIND_NAME)
            continue;
        expression->field = world_fields_find(fields, expression->name, strlen(expression->name));
        if (expression->field < 0)
            return refuse_name(reader, path, i);
    }
    return 0;
}

/* The fields from the first one to the one that is being checked: each uses the next one. */
struct way {
    int field[FIELDS_MAX];
    int length;
    bool done[FIELDS_MAX];
};

static int refuse_circle(struct node_reader *reader, const struct key_path *path,
                         const struct way *way, int first, int expression)
{
    const struct world_fields *fields = reader->fields;
    char text[600] = "a field depends on itself: ";
    size_t used = strlen(text);
    for (int i = first; i < way->length && used < 400; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s -> ",
                                 fields->field[way->field[i]].name);
    snprintf(text + used, sizeof text - used, "%s; expected no circle",
             fields->field[way->field[first]].name);
    return fail_at(reader, path, expression, text);
}

/* Check FIELD and all fields that it uses. */
static int follow(struct node_reader *reader, const struct key_path *path, struct way *way,
                  int field)
{
    const struct world_fields *fields = reader->fields;
    const int end =
        field + 1 < fields->count ? fields->field[field + 1].first : fields->expressions;
    way->field[way->length++] = field;
    for (int i = fields->field[field].first; i < end; i++) {
        const struct expression *expression = &fields->expression[i];
        if (expression->kind != NODE_KIND_NAME || way->done[expression->field])
            continue;
        for (int k = 0; k < way->length; k++)
            if (way->field[k] == expression->field)
                return refuse_circle(reader, path, way, k, i);
        int err = follow(reader, path, way, expression->field);
        if (err)
            return err;
    }
    way->length--;
    way->done[field] = true;
    return 0;
}

static int check_circles(struct node_reader *reader, const struct key_path *path)
{
    struct way way = {.length = 0};
    int err = 0;
    for (int i = 0; i < reader->fields->count && !err; i++)
        err = way.done[i] ? 0 : follow(reader, path, &way, i);
    return err;
}

static int check_size(struct node_reader *reader, const struct key_path *path)
{
    struct world_graph *graph;
    char text[80];
    int at, err = fields_graph(&graph, reader->fields, 0, 0, &at);
    if (err == -ENOMEM)
        return node_reader_no_memory(reader);
    if (!err) {
        world_graph_free(graph);
        return 0;
    }
    snprintf(text, sizeof text, "too many nodes; expected at most %d in a world", GRAPH_MAX_NODES);
    return fail_at(reader, path, at, text);
}

int fields_resolve(struct node_reader *reader, const struct key_path *path)
{
    int err = resolve_names(reader, path);
    if (!err)
        err = check_circles(reader, path);
    return err ? err : check_size(reader, path);
}
