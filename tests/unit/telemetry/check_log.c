/* The log: one line per call, without anything that forges lines or controls a terminal. */
#include "server/telemetry/log.h"

#include "tests/unit/support/fixtures.h"

/* The line that log_line writes for TEXT, without its time. */
static const char *line_of(enum log_level level, const char *text)
{
    static char line[4096];
    int ends[2];
    const int saved = dup(STDERR_FILENO);

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    log_line(level, "%s", text);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    ssize_t size = read(ends[0], line, sizeof line - 1);
    close(ends[0]);
    if (size <= 0)
        return "";
    line[size] = '\0';
    ck_assert_ptr_nonnull(strchr(line, 'Z'));
    return strchr(line, 'Z') + 1;
}

static const struct {
    const char *text, *line;
} texts[] = {
    {"", ""},
    {"plain \"text\" \\", "plain \"text\" \\"},
    {"two\nlines\r\t\x01\x1f\x7f", "two?lines?????"},
    {"\x1b[31m", "?[31m"},
    /* Printable characters beyond ASCII. */
    {"h\xc3\xb6her \xe2\x82\xac \xf0\x9f\x97\xba\xc2\xa0",
     "h\xc3\xb6her \xe2\x82\xac \xf0\x9f\x97\xba\xc2\xa0"},
    /* U+0080, U+009B (CSI) and U+009F, in UTF-8 and as bytes. */
    {"\xc2\x80\xc2\x9b"
     "31m\xc2\x9f",
     "????31m??"},
    {"\x80\x9b"
     "31m\x9f",
     "??31m?"},
    {"\xe2\x82\x9b"
     "\x9b",
     "\xe2\x82\x9b?"},
    /* Invalid UTF-8: another decoder could see a control character in it. */
    {"\xe0\x82\x9b \xc0\x9b \xf0\x80\x82\x9b \xc3 \xe2\x82", "??? ?? ???? ? ??"},
};

START_TEST(test_text)
{
    char wanted[256];

    snprintf(wanted, sizeof wanted, " warning %s\n", texts[_i].line);
    ck_assert_str_eq(line_of(LOG_WARNING, texts[_i].text), wanted);
}
END_TEST

/* A line that is too long is cut, also within a character. */
START_TEST(test_long)
{
    char text[3000];

    for (int shift = 0; shift < 3; shift++) {
        memset(text, 'a', sizeof text);
        for (size_t i = (size_t)shift; i + 4 < sizeof text; i += 3)
            memcpy(text + i, "\xe2\x82\xac", 3);
        text[sizeof text - 1] = '\0';
        const char *line = line_of(LOG_ERROR, text);
        const size_t length = strlen(line);
        ck_assert_uint_gt(length, 900);
        ck_assert_uint_lt(length, 1024);
        ck_assert_int_eq(line[length - 1], '\n');
        ck_assert_uint_le(length - strcspn(line, "?"), 4); /* bytes of one character, at the end */
    }
}
END_TEST

START_TEST(test_level)
{
    ck_assert_str_eq(line_of(LOG_DEBUG, "a"), "");
    log_set_level(LOG_DEBUG);
    ck_assert_str_eq(line_of(LOG_DEBUG, "a"), " debug a\n");
    log_set_level(LOG_ERROR);
    ck_assert_str_eq(line_of(LOG_WARNING, "a"), "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log");
    TCase *tcase = suite_case(suite, "lines");
    tcase_add_loop_test(tcase, test_text, 0, ROWS(texts));
    tcase_add_test(tcase, test_long);
    tcase_add_test(tcase, test_level);
    return suite_run(suite);
}
