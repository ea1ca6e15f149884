#include "yaml_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_all(FILE *stream, unsigned char **bytes, size_t *length)
{
    unsigned char *buffer = malloc(YAML_FILE_BYTES_MAX + 1);
    if (!buffer)
        return -ENOMEM;
    errno = 0;
    *length = fread(buffer, 1, YAML_FILE_BYTES_MAX + 1, stream);
    if (ferror(stream) || *length > YAML_FILE_BYTES_MAX) {
        int err = !ferror(stream) ? -EFBIG : errno ? -errno : -EIO;
        free(buffer);
        return err;
    }
    *bytes = buffer;
    return 0;
}

int yaml_file_read(const char *file, unsigned char **bytes, size_t *length,
                   struct config_error *error)
{
    FILE *stream = fopen(file, "rb");
    int err = stream ? read_all(stream, bytes, length) : -errno;

    if (stream)
        fclose(stream);
    if (err)
        snprintf(error->text, sizeof error->text,
                 "%s: cannot be read: %s; expected a YAML file of up to 1 MiB, such as "
                 "config/farlands.yaml",
                 file, strerror(-err));
    return err;
}

/* The line of the parser's problem. For invalid UTF-8 the parser has only an offset. */
static size_t problem_line(const yaml_parser_t *parser, const unsigned char *bytes, size_t length)
{
    size_t line = 1;
    if (parser->error != YAML_READER_ERROR)
        return parser->problem_mark.line + 1;
    for (size_t i = 0; i < length && i < parser->problem_offset; i++)
        line += bytes[i] == '\n';
    return line;
}

static int not_yaml(struct config_error *error, const char *file, size_t line, const char *problem)
{
    snprintf(
        error->text, sizeof error->text,
        "%s:%zu: not YAML: %s; expected one document of UTF-8 text, such as config/farlands.yaml",
        file, line, problem ? problem : "out of memory");
    return -EINVAL;
}

/* The line of anything that follows the document, or 0. */
static size_t trailing_line(yaml_parser_t *parser, const unsigned char *bytes, size_t length)
{
    yaml_document_t second;
    if (!yaml_parser_load(parser, &second))
        return problem_line(parser, bytes, length);
    const yaml_node_t *root = yaml_document_get_root_node(&second);
    size_t line = root ? root->start_mark.line + 1 : 0;
    yaml_document_delete(&second);
    return line;
}

/*
 * The first line, up to LAST, with a colour without quotes, as in [metres, #rrggbb], or 0. To YAML
 * it is a comment, and the list never ends.
 */
static size_t unquoted_line(const unsigned char *bytes, size_t length, size_t last)
{
    bool comment = false;
    size_t line = 1;
    for (size_t i = 0; i + 1 < length && line <= last; i++) {
        if (bytes[i] == '\n') {
            comment = false;
            line++;
        } else if (!comment && bytes[i] == '#' && (i == 0 || isspace(bytes[i - 1]))) {
            comment = true;
            if (i > 1 && bytes[i - 2] == ',' && isxdigit(bytes[i + 1]))
                return line;
        }
    }
    return 0;
}

/*
 * The line at which lists and mappings are nested deeper than NESTING_MAX, or 0. libyaml's time
 * grows with the square of the depth. Invalid YAML ends the search.
 */
static size_t deep_line(const unsigned char *bytes, size_t length)
{
    enum { NESTING_MAX = 32 };
    yaml_parser_t parser;
    yaml_event_t event;
    size_t line = 0;
    int depth = 0;
    bool ended = !yaml_parser_initialize(&parser);
    if (ended)
        return 0;
    yaml_parser_set_input_string(&parser, bytes, length);
    while (!ended && line == 0 && yaml_parser_parse(&parser, &event)) {
        if (event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT)
            line = ++depth > NESTING_MAX ? event.start_mark.line + 1 : 0;
        else if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT)
            depth--;
        ended = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return line;
}

int yaml_file_parse(yaml_document_t *out, const char *file, const unsigned char *bytes,
                    size_t length, struct config_error *error)
{
    yaml_parser_t parser;
    int err = 0;

    const size_t deep = deep_line(bytes, length);
    if (deep)
        return not_yaml(error, file, deep, "nested too deeply");
    if (!yaml_parser_initialize(&parser))
        return not_yaml(error, file, 1, NULL);
    yaml_parser_set_input_string(&parser, bytes, length);
    if (!yaml_parser_load(&parser, out)) {
        const size_t line = problem_line(&parser, bytes, length);
        const size_t unquoted = unquoted_line(bytes, length, line);
        err = unquoted ? not_yaml(error, file, unquoted, "a colour needs quotes, as in \"#ffffff\"")
                       : not_yaml(error, file, line, parser.problem);
    } else if (yaml_document_get_root_node(out)) {
        size_t line = trailing_line(&parser, bytes, length);
        if (line > 0) {
            err = not_yaml(error, file, line,
                           parser.problem ? parser.problem : "a second document begins");
            yaml_document_delete(out);
        }
    }
    yaml_parser_delete(&parser);
    return err;
}
