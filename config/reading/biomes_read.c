#include "biomes_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/reading/mapping.h"
#include "config/values/exact_numbers.h"

/* A row that is being read. */
struct row {
    struct biome_row numbers;
    struct biome_look look;
};

static int parse_name(char *out, const char *text, size_t length)
{
    return length > 0 ? option_parse_line(out, BIOME_NAME_MAX, text, length) : -EINVAL;
}

#define AT(member) offsetof(struct row, member)
#define RANGE(key, axis)                                          \
    {                                                             \
        key, OPTION_RANGE, .offset = AT(numbers.range[axis].from) \
    }

static const struct option row_keys[] = {
    {"id", OPTION_INTEGER, AT(numbers.id), .max = BIOME_MAX_ID},
    {"name", OPTION_TEXT, AT(look.name), .parse = parse_name,
     .expected = "a text of 1 to 63 bytes"},
    {"color", OPTION_COLOR, .offset = AT(look.color)},
    RANGE("temperature", BIOME_TEMPERATURE),
    RANGE("humidity", BIOME_HUMIDITY),
    RANGE("height", BIOME_HEIGHT),
    RANGE("slope", BIOME_SLOPE),
    {0},
};
enum { REQUIRED_KEYS = 3 };
static const struct option *const range_keys = &row_keys[REQUIRED_KEYS];

/* --- Ranges --- */

/* Parse one end of a range. WITHOUT, "-.inf" or ".inf", means that there is no limit. */
static int parse_end(const char *text, size_t length, const char *without, float *out)
{
    static const struct option number = {"", OPTION_REAL, .min = -1e9, .max = 1e9};
    double value;
    if (strlen(without) == length && memcmp(text, without, length) == 0)
        return 0;
    if (option_parse(&number, text, length, &value))
        return -EINVAL;
    *out = (float)value;
    return 0;
}

int biomes_read_range(struct node_reader *reader, const struct text_node *node,
                      const struct key_path *path, struct biome_range *out)
{
    static const struct option range = {
        .expected = "a range [from, to] of numbers from -1e9 to 1e9, or -.inf and .inf"};
    size_t lengths[2];
    const char *text[2] = {NULL, NULL};
    for (int i = 0; i < 2 && text_node_length(node) == 2; i++)
        text[i] = text_node_text(text_node_item(node, i), &lengths[i]);
    *out = (struct biome_range){-INFINITY, INFINITY};
    if (!text[0] || !text[1] || parse_end(text[0], lengths[0], "-.inf", &out->from) ||
        parse_end(text[1], lengths[1], ".inf", &out->to))
        return node_reader_refuse(reader, node, path, &range);
    char from[REAL_TEXT], to[REAL_TEXT];
    if (out->from <= out->to)
        return 0;
    return node_reader_fail(reader, node, path, "from %s to %s; expected the lesser number first",
                            float_format(out->from, from), float_format(out->to, to));
}

int biomes_check_inputs(struct node_reader *reader, const struct text_node *node,
                        const struct key_path *path, const struct biome_table *table,
                        const int given[BIOME_AXES])
{
    const struct text_node *rows = text_node_find(node, "table", 5);
    for (int i = 0; i < table->rows.rows; i++)
        for (int k = 0; k < BIOME_AXES; k++) {
            const struct biome_range *range = &table->rows.row[i].range[k];
            if (given[k] >= 0 || (range->from == -INFINITY && range->to == INFINITY))
                continue;
            const char *key = range_keys[k].key;
            struct key_path at = key_path_key(path, "table");
            at = key_path_index(&at, i);
            at = key_path_key(&at, key);
            return node_reader_fail(
                reader, text_node_find(text_node_item(rows, i), key, strlen(key)), &at,
                "the node has no such input; expected %s: EXPRESSION beside the table", key);
        }
    return 0;
}

/* --- Rows --- */

static int check_row(struct node_reader *reader, const struct text_node *node,
                     const struct key_path *path, const struct biome_table *table,
                     const struct row *row)
{
    char expected[256];
    for (int i = 0; i < REQUIRED_KEYS; i++) {
        const struct option *option = &row_keys[i];
        const struct key_path at = key_path_key(path, option->key);
        if (!text_node_find(node, option->key, strlen(option->key)))
            return node_reader_fail(reader, node, &at, "missing; expected %s",
                                    option_expected(option, expected, sizeof expected));
    }
    for (int i = 0; i < table->rows.rows; i++) {
        const bool same_id = table->rows.row[i].id == row->numbers.id;
        if (!same_id && strcmp(table->look[i].name, row->look.name) != 0)
            continue;
        const struct key_path at = key_path_key(path, same_id ? "id" : "name");
        return node_reader_fail(reader, node, &at,
                                "the same as in table[%d]; expected each %s once", i,
                                same_id ? "id" : "name");
    }
    return 0;
}

static int read_row(struct node_reader *reader, const struct text_node *node,
                    const struct key_path *path, struct biome_table *table)
{
    struct row row = {.numbers.id = 0};
    for (int k = 0; k < BIOME_AXES; k++)
        row.numbers.range[k] = (struct biome_range){-INFINITY, INFINITY};
    int err = mapping_read(reader, node, path, row_keys, &row);
    if (!err)
        err = check_row(reader, node, path, table, &row);
    if (err)
        return err;
    table->look[table->rows.rows] = row.look;
    table->rows.row[table->rows.rows++] = row.numbers;
    return 0;
}

int biomes_read(struct node_reader *reader, const struct text_node *node,
                const struct key_path *path, const struct option *option, struct biome_table **out)
{
    const int count = text_node_length(node);
    if (count < 1 || count > BIOMES_MAX)
        return node_reader_refuse(reader, node, path, option);
    *out = calloc(1, sizeof **out);
    if (!*out)
        return node_reader_no_memory(reader);
    int err = 0;
    for (int i = 0; i < count && !err; i++) {
        const struct key_path at = key_path_index(path, i);
        err = read_row(reader, text_node_item(node, i), &at, *out);
    }
    return err;
}
