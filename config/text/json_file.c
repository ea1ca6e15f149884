#include "json_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32 };

struct parser {
    const unsigned char *at, *end;
    size_t line;
    int depth;
    struct text_node *stack; /* values in lists and mappings that have not ended */
    size_t count;
    const char *problem; /* the first one */
};

static int refuse(struct parser *parser, const char *problem)
{
    if (!parser->problem)
        parser->problem = problem;
    return -EINVAL;
}

/* The next byte after white space, which is skipped; 0 at the end. */
static unsigned char next(struct parser *parser)
{
    for (; parser->at < parser->end; parser->at++) {
        if (*parser->at == '\n')
            parser->line++;
        else if (*parser->at != ' ' && *parser->at != '\t' && *parser->at != '\r')
            return *parser->at;
    }
    return 0;
}

/* Take BYTE if that comes next. */
static bool take(struct parser *parser, unsigned char byte)
{
    if (next(parser) != byte || parser->at == parser->end)
        return false;
    parser->at++;
    return true;
}

static int hex_digit(unsigned char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 32;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Take the four digits after \u. Returns their number, or -1 if malformed. */
static int32_t take_unit(struct parser *parser)
{
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        const int digit = parser->at < parser->end ? hex_digit(*parser->at++) : -1;
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* Take what follows \u, and a second \uXXXX if both are a surrogate pair. Returns the character. */
static int32_t take_character(struct parser *parser)
{
    const int32_t high = take_unit(parser);
    if (high < 0xd800 || high > 0xdfff)
        return high;
    if (high > 0xdbff || parser->end - parser->at < 2 || parser->at[0] != '\\' ||
        parser->at[1] != 'u')
        return -1;
    parser->at += 2;
    const int32_t low = take_unit(parser);
    return low < 0xdc00 || low > 0xdfff ? -1 : 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/* Write CHARACTER as UTF-8. Returns the end. */
static char *put_character(char *out, int32_t character)
{
    if (character < 0x80) {
        *out++ = (char)character;
        return out;
    }
    const int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    *out++ = (char)(0xff00 >> (more + 1) | character >> 6 * more);
    for (int i = more - 1; i >= 0; i--)
        *out++ = (char)(0x80 | (character >> 6 * i & 0x3f));
    return out;
}

/* The character that BYTE means after a backslash; 0 if there is none. */
static char escaped(unsigned char byte)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found = byte ? strchr(from, byte) : NULL;
    return found ? to[found - from] : 0;
}

/* Take a string whose first quote has been taken. */
static int take_string(struct parser *parser, struct text_node *node)
{
    const unsigned char *close = parser->at;
    while (close < parser->end && *close != '"')
        close += *close == '\\' && close + 1 < parser->end ? 2 : 1;
    char *out = calloc(1, (size_t)(close - parser->at) + 1);
    if (!out)
        return refuse(parser, "out of memory");
    node->text = out;
    while (parser->at < parser->end && *parser->at != '"') {
        const unsigned char byte = *parser->at++;
        if (byte < 32)
            return refuse(parser, "a control character in a string; expected an escape");
        if (byte != '\\') {
            *out++ = (char)byte;
            continue;
        }
        const unsigned char kind = parser->at < parser->end ? *parser->at++ : 0;
        const int32_t character = kind == 'u' ? take_character(parser) : escaped(kind);
        if (character < 0 || (character == 0 && kind != 'u'))
            return refuse(parser, "not JSON: an unknown escape in a string");
        out = put_character(out, character);
    }
    node->length = (size_t)(out - node->text);
    return parser->at++ < parser->end ? 0 : refuse(parser, "not JSON: a string does not end");
}

static bool in_word(unsigned char byte)
{
    return byte == '+' || byte == '-' || byte == '.' || (byte >= '0' && byte <= '9') ||
           ((byte | 32) >= 'a' && (byte | 32) <= 'z');
}

/* Take a number, true, false or null. Readers of nodes check which of these a key may have. */
static int take_word(struct parser *parser, struct text_node *node)
{
    const unsigned char *begin = parser->at;
    while (parser->at < parser->end && in_word(*parser->at))
        parser->at++;
    node->plain = true;
    node->length = (size_t)(parser->at - begin);
    if (node->length == 0)
        return refuse(parser, "not JSON: expected a value");
    node->text = calloc(1, node->length + 1);
    if (!node->text)
        return refuse(parser, "out of memory");
    memcpy(node->text, begin, node->length);
    return 0;
}

static int take_value(struct parser *parser);

/* Take a key and the colon after it. */
static int take_key(struct parser *parser)
{
    if (next(parser) != '"')
        return refuse(parser, "not JSON: expected a key in quotes");
    const int err = take_value(parser);
    return err || take(parser, ':') ? err
                                    : refuse(parser, "not JSON: expected a colon after a key");
}

/* Take items up to CLOSE, onto the stack; KEYS: each value after its key. */
static int take_items(struct parser *parser, bool keys, unsigned char close)
{
    if (take(parser, close))
        return 0;
    do {
        int err = keys ? take_key(parser) : 0;
        if (!err)
            err = take_value(parser);
        if (err)
            return err;
    } while (take(parser, ','));
    return take(parser, close)
               ? 0
               : refuse(parser, "not JSON: expected a comma, or the end of a list or mapping");
}

/* Take a list or a mapping (KEYS) whose first bracket has been taken. */
static int take_group(struct parser *parser, struct text_node *node, bool keys)
{
    const size_t first = parser->count;
    if (parser->depth++ == DEPTH_MAX)
        return refuse(parser, "nested too deeply; expected at most 32 levels");
    const int err = take_items(parser, keys, keys ? '}' : ']');
    parser->depth--;
    if (err)
        return err;
    const size_t count = parser->count - first;
    node->kind = keys ? TEXT_MAPPING : TEXT_LIST;
    node->items = count ? calloc(count, sizeof *node->items) : NULL;
    if (count && !node->items)
        return refuse(parser, "out of memory");
    if (count)
        memcpy(node->items, &parser->stack[first], count * sizeof *node->items);
    node->length = count;
    parser->count = first;
    return 0;
}

/* Take the next value, onto the stack. Even a refused value goes there, so that its memory is freed
 * with the stack. */
static int take_value(struct parser *parser)
{
    const unsigned char byte = next(parser);
    struct text_node node = {.kind = TEXT_SCALAR, .line = parser->line};
    const bool group = byte == '{' || byte == '[';
    int err;
    if (group || byte == '"')
        parser->at++;
    if (group)
        err = take_group(parser, &node, byte == '{');
    else
        err = byte == '"' ? take_string(parser, &node) : take_word(parser, &node);
    if (!group || !err)
        parser->stack[parser->count++] = node;
    return err;
}

int json_file_parse(struct text_node **root, const char *file, const unsigned char *bytes,
                    size_t length, struct config_error *error)
{
    struct parser parser = {.at = bytes, .end = bytes + length, .line = 1};
    /* Between two values there is at least one byte; one place more for a refused value. */
    int err;
    *root = NULL;
    if (length > TEXT_BYTES_MAX)
        err = refuse(&parser, "too long; expected at most 1 MiB");
    else if (!(parser.stack = calloc(length / 2 + 2, sizeof *parser.stack)))
        err = refuse(&parser, "out of memory");
    else
        err = take_value(&parser);
    if (!err && (next(&parser) || parser.at < parser.end)) /* next() is 0 for a NUL, too */
        err = refuse(&parser, "not JSON: expected nothing after the value");
    if (!err) {
        *root = parser.stack;
        return 0;
    }
    snprintf(error->text, sizeof error->text, "%s:%zu: %s", file, parser.line, parser.problem);
    text_nodes_free(parser.stack, parser.count);
    return err;
}
