/*
 * For MemorySanitizer: libraries are not instrumented, so it does not see what they write. The
 * linker puts the functions below before the libraries' (LIBRARIES_WRAPPED in tests/Makefile.inc),
 * and they tell the sanitizer what has been written.
 */
#include <stdlib.h>
#include <yaml.h>

/* sanitizer/msan_interface.h, which gcc does not have. */
void __msan_unpoison(const volatile void *memory, size_t length);
void __msan_unpoison_string(const volatile char *text);
void __msan_scoped_disable_interceptor_checks(void);
void __msan_scoped_enable_interceptor_checks(void);

/* --- Check: its messages between processes --- */

void *__wrap_erealloc(void *memory, size_t length);
void *__wrap_erealloc(void *memory, size_t length)
{
    void *larger = realloc(memory, length);
    if (!larger)
        abort();
    __msan_unpoison(larger, length);
    return larger;
}

void *__wrap_emalloc(size_t length);
void *__wrap_emalloc(size_t length)
{
    return __wrap_erealloc(NULL, length);
}

/* --- libyaml --- */

static void written_text(const yaml_char_t *text)
{
    if (text)
        __msan_unpoison_string((const char *)text);
}

int __real_yaml_parser_initialize(yaml_parser_t *parser);
int __wrap_yaml_parser_initialize(yaml_parser_t *parser);
int __wrap_yaml_parser_initialize(yaml_parser_t *parser)
{
    const int done = __real_yaml_parser_initialize(parser);
    __msan_unpoison(parser, sizeof *parser);
    return done;
}

int __real_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);
int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);
int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event)
{
    __msan_scoped_disable_interceptor_checks();
    const int done = __real_yaml_parser_parse(parser, event);
    __msan_scoped_enable_interceptor_checks();
    __msan_unpoison(parser, sizeof *parser);
    __msan_unpoison(event, sizeof *event);
    if (!done)
        return done;
    if (event->type == YAML_SCALAR_EVENT) {
        __msan_unpoison(event->data.scalar.value, event->data.scalar.length + 1);
        written_text(event->data.scalar.anchor);
        written_text(event->data.scalar.tag);
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        written_text(event->data.sequence_start.anchor);
        written_text(event->data.sequence_start.tag);
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        written_text(event->data.mapping_start.anchor);
        written_text(event->data.mapping_start.tag);
    } else if (event->type == YAML_ALIAS_EVENT) {
        written_text(event->data.alias.anchor);
    }
    return done;
}
