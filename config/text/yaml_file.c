/*
 * libyaml takes quadratic time for anchors (in its loader) and for %TAG directives (in its parser).
 * So this file refuses both, and makes nodes from the parser's events instead of the loader's.
 */
#include "yaml_file.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <yaml.h>

#include "config/values/user_error.h"

#define NODES_MAX 200000 /* a world with every key, 32 knots and 64 colors has 500 */
#define DEPTH_MAX 32     /* libyaml's time for a token grows with the depth */
#define STRING_OF(number) #number
#define STRING(number) STRING_OF(number)

#define ONE_DOCUMENT "expected one document of UTF-8 text, such as config/farlands.yaml"

/* Nodes whose list or mapping has not ended, in the file's order. */
struct tree {
    struct text_node *nodes;
    size_t count, capacity;
    size_t total;           /* including nodes in ended lists and mappings */
    size_t open[DEPTH_MAX]; /* places of lists and mappings that have not ended, outermost first */
    int depth, documents;
    size_t steps; /* see config_error */
};

/* Returns NULL if reading FD comes to an end, otherwise what FD is, such as "a device". */
static const char *endless(int fd, const struct stat *status)
{
    struct statfs system;
    const mode_t mode = status->st_mode;
    if (S_ISREG(mode) || (S_ISCHR(mode) && status->st_rdev == makedev(1, 3))) /* /dev/null */
        return NULL;
    if (S_ISDIR(mode))
        return "is a directory";
    if (!S_ISFIFO(mode))
        return "is a device or a socket";
    /* A pipe of this process, such as /dev/stdin, has a writer or ends. */
    if (fstatfs(fd, &system) == 0 && system.f_type == PIPEFS_MAGIC && fcntl(fd, F_SETFL, 0) == 0)
        return NULL;
    return "is a FIFO";
}

/* Returns a descriptor, or a negative code; *WHY is set if FILE is of a wrong kind. */
static int open_file(const char *file, const char **why)
{
    struct stat status;
    /* Without O_NONBLOCK, open would wait for the writer of a FIFO. */
    const int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int err = fstat(fd, &status) < 0 ? -errno : 0;
    *why = err ? NULL : endless(fd, &status);
    if (!err && !*why)
        return fd;
    close(fd);
    return err ? err : -EINVAL;
}

/* Read SIZE bytes, or up to the end. Returns their number or a negative code. */
static ssize_t read_up_to(int fd, unsigned char *buffer, size_t size)
{
    size_t used = 0;
    while (used < size) {
        const ssize_t count = read(fd, buffer + used, size - used);
        if (count == 0)
            break;
        if (count < 0 && errno != EINTR)
            return -errno;
        used += count > 0 ? (size_t)count : 0;
    }
    return (ssize_t)used;
}

static int read_all(int fd, unsigned char **bytes, size_t *length)
{
    unsigned char *buffer = malloc(TEXT_BYTES_MAX + 1);
    if (!buffer)
        return -ENOMEM;
    const ssize_t count = read_up_to(fd, buffer, TEXT_BYTES_MAX + 1);
    if (count < 0 || count > TEXT_BYTES_MAX) {
        free(buffer);
        return count < 0 ? (int)count : -EFBIG;
    }
    *bytes = buffer;
    *length = (size_t)count;
    return 0;
}

int yaml_file_read(const char *file, unsigned char **bytes, size_t *length,
                   struct config_error *error)
{
    const char *why = NULL;
    const int fd = open_file(file, &why);
    const int err = fd < 0 ? fd : read_all(fd, bytes, length);
    char text[USER_ERROR_TEXT];

    if (fd >= 0)
        close(fd);
    if (err)
        snprintf(error->text, sizeof error->text,
                 "%s: cannot be read: %s; expected a regular file of up to 1 MiB of YAML, "
                 "such as config/farlands.yaml",
                 file, why ? why : user_error(err, text));
    return err;
}

static int refuse(struct config_error *error, const char *file, size_t line, const char *problem)
{
    snprintf(error->text, sizeof error->text, "%s:%zu: %s", file, line, problem);
    return -EINVAL;
}

static int not_yaml(struct config_error *error, const char *file, size_t line, const char *problem)
{
    snprintf(error->text, sizeof error->text, "%s:%zu: not YAML: %s; " ONE_DOCUMENT, file, line,
             problem ? problem : "out of memory");
    return -EINVAL;
}

/* The line where the parser stopped. For invalid UTF-8 the parser has only an offset. */
static size_t problem_line(const yaml_parser_t *parser, const unsigned char *bytes, size_t length)
{
    size_t line = 1;
    if (parser->error != YAML_READER_ERROR)
        return parser->problem_mark.line + 1;
    for (size_t i = 0; i < length && i < parser->problem_offset; i++)
        line += bytes[i] == '\n';
    return line;
}

/*
 * The first line, up to LAST, with an unquoted color, as in [metres, #rrggbb]; or 0. To YAML such a
 * color is a comment, so the list never ends.
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

static int not_parsed(const yaml_parser_t *parser, const char *file, const unsigned char *bytes,
                      size_t length, struct config_error *error)
{
    const size_t line = problem_line(parser, bytes, length);
    error->steps += 2 * length; /* at most */
    const size_t unquoted = unquoted_line(bytes, length, line);
    return unquoted ? not_yaml(error, file, unquoted, "a color needs quotes, as in \"#ffffff\"")
                    : not_yaml(error, file, line, parser->problem);
}

/* True if BYTE may end a line: the last byte of LF, CR, U+0085, U+2028 and U+2029. */
static bool ends_line(unsigned char byte)
{
    return byte == '\n' || byte == '\r' || byte == 0x85 || byte == 0xa8 || byte == 0xa9;
}

/* The first %TAG directive's line, or 0. */
static size_t directive_line(const unsigned char *bytes, size_t length)
{
    static const char directive[] = "%TAG";
    const size_t size = sizeof directive - 1;
    size_t line = 1;
    for (size_t i = 0; i + size <= length; i++) {
        if (bytes[i] == '%' && (i == 0 || ends_line(bytes[i - 1])) &&
            memcmp(bytes + i, directive, size) == 0)
            return line;
        line += bytes[i] == '\n';
    }
    return 0;
}

/* Add NODE at the end. Returns NULL, or why NODE is refused. */
static const char *add(struct tree *tree, const struct text_node *node)
{
    if (tree->documents > 1)
        return "not YAML: a second document begins; " ONE_DOCUMENT;
    if (tree->total == NODES_MAX)
        return "too many keys and values; expected at most " STRING(NODES_MAX);
    if (tree->count == tree->capacity) {
        const size_t capacity = tree->capacity ? 2 * tree->capacity : 64;
        struct text_node *nodes = realloc(tree->nodes, capacity * sizeof *nodes);
        if (!nodes)
            return "out of memory";
        tree->steps += tree->capacity;
        tree->nodes = nodes;
        tree->capacity = capacity;
    }
    tree->nodes[tree->count++] = *node;
    tree->total++;
    return NULL;
}

static const char *begin(struct tree *tree, enum text_kind kind, size_t line)
{
    const struct text_node node = {.kind = kind, .line = line};
    if (tree->depth == DEPTH_MAX)
        return "nested too deeply; expected at most " STRING(DEPTH_MAX) " levels";
    tree->open[tree->depth++] = tree->count;
    return add(tree, &node);
}

/* Move the nodes from FIRST on into a new array, *OUT; NULL if there are none. */
static const char *move_from(struct tree *tree, size_t first, struct text_node **out)
{
    const size_t count = tree->count - first;
    *out = NULL;
    if (count == 0)
        return NULL;
    *out = malloc(count * sizeof **out);
    if (!*out)
        return "out of memory";
    memcpy(*out, &tree->nodes[first], count * sizeof **out);
    tree->steps += count;
    tree->count = first;
    return NULL;
}

static const char *end(struct tree *tree)
{
    assert(tree->depth > 0);
    const size_t index = tree->open[--tree->depth], count = tree->count - index - 1;
    struct text_node *items;
    const char *problem = move_from(tree, index + 1, &items);
    if (problem)
        return problem;
    tree->nodes[index].items = items;
    tree->nodes[index].length = count;
    return NULL;
}

static const char *add_scalar(struct tree *tree, yaml_event_t *event, size_t line)
{
    const struct text_node node = {
        .kind = TEXT_SCALAR,
        .plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE,
        .line = line,
        .length = event->data.scalar.length,
        .text = (char *)event->data.scalar.value,
    };
    const char *problem = add(tree, &node);
    if (!problem)
        event->data.scalar.value = NULL; /* from malloc, and now the node's */
    return problem;
}

/* Returns NULL, or why EVENT is refused. */
static const char *on_event(struct tree *tree, yaml_event_t *event)
{
    static const char anchored[] =
        "anchors and aliases (& and *) are not supported; expected each value written out";
    const size_t line = event->start_mark.line + 1;

    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        tree->documents++;
        return NULL;
    case YAML_ALIAS_EVENT:
        return anchored;
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor ? anchored : add_scalar(tree, event, line);
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor ? anchored : begin(tree, TEXT_LIST, line);
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor ? anchored : begin(tree, TEXT_MAPPING, line);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return end(tree);
    default:
        return NULL;
    }
}

static int parse(struct tree *tree, yaml_parser_t *parser, const char *file,
                 const unsigned char *bytes, size_t length, struct config_error *error)
{
    yaml_event_t event;
    for (bool ended = false; !ended;) {
        tree->steps +=
            1 + (size_t)tree->depth; /* libyaml's time for a token grows with the depth */
        if (!yaml_parser_parse(parser, &event))
            return not_parsed(parser, file, bytes, length, error);
        const char *problem = on_event(tree, &event);
        const size_t line = event.start_mark.line + 1;
        ended = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (problem)
            return refuse(error, file, line, problem);
    }
    return 0;
}

int yaml_file_parse(struct text_node **root, const char *file, const unsigned char *bytes,
                    size_t length, struct config_error *error)
{
    static const char mark[] = {'\xef', '\xbb', '\xbf'};
    struct tree tree = {0};
    yaml_parser_t parser;

    /* Once the parser knows the encoding, a byte order mark would count as a character. */
    if (length >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0) {
        bytes += sizeof mark;
        length -= sizeof mark;
    }
    const size_t directive = directive_line(bytes, length);
    error->steps += length;
    if (directive)
        return refuse(error, file, directive, "%TAG is not supported; expected no such directive");
    if (!yaml_parser_initialize(&parser))
        return not_yaml(error, file, 1, NULL);
    yaml_parser_set_encoding(&parser,
                             YAML_UTF8_ENCODING); /* the encoding that directive_line expects */
    yaml_parser_set_input_string(&parser, bytes, length);
    int err = parse(&tree, &parser, file, bytes, length, error);
    const char *problem = err ? NULL : move_from(&tree, 0, root);
    if (problem)
        err = refuse(error, file, 1, problem);
    error->steps += tree.steps;
    text_nodes_free(tree.nodes, tree.count);
    yaml_parser_delete(&parser);
    return err;
}
