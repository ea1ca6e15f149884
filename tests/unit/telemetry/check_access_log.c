/* The access log: valid JSON, complete lines in spite of rotation and full disks, no blocking. */
#include "server/telemetry/access_log.h"

#include <arpa/inet.h>
#include <cjson/cJSON.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <uv.h>

#include "tests/unit/support/fixtures.h"

static struct access_entry entry_of(const char *uri)
{
    return (struct access_entry){
        .time = {1792000000, 7654321},
        .method = "GET",
        .uri = uri,
        .status = 200,
        .bytes = 12345,
        .nanoseconds = 1234567,
        .from = FROM_MEMORY,
    };
}

static struct sockaddr_storage address_of(const char *text)
{
    struct sockaddr_storage storage = {0};
    struct sockaddr_in *in = (struct sockaddr_in *)&storage;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&storage;
    if (inet_pton(AF_INET, text, &in->sin_addr) == 1)
        storage.ss_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1)
        storage.ss_family = AF_INET6;
    return storage;
}

/* ENTRY's line without its line feed, formatted in front of a guard page. */
static const char *line_of(const struct access_entry *entry)
{
    static struct guarded guarded;
    static struct access_clock clock;
    static char line[ACCESS_FORMAT_MAX + 1];
    if (!guarded.map)
        guarded_new(&guarded, ACCESS_FORMAT_MAX);
    size_t length = access_format(guarded_end(&guarded, ACCESS_FORMAT_MAX), entry, &clock);
    memcpy(line, guarded_end(&guarded, ACCESS_FORMAT_MAX), length);
    must(length && line[length - 1] == '\n', "no line feed");
    line[length - 1] = '\0';
    must(strlen(line) == length - 1, "a NUL in %s", line);
    for (const char *at = line; *at; at++)
        must((unsigned char)*at >= 32 && *at != 127, "a control character in %s", line);
    return line;
}

static cJSON *parse(const char *line)
{
    cJSON *object = cJSON_Parse(line);
    must(object && cJSON_IsObject(object), "not a JSON object: %s", line);
    return object;
}

static const char *text_in(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    must(text, "no text %s", name);
    return text;
}

START_TEST(test_line)
{
    struct access_entry entry = entry_of("/default/relief/6/31/32.png");
    struct sockaddr_storage client = address_of("192.0.2.17");
    entry.client = (struct sockaddr *)&client;
    ck_assert_str_eq(line_of(&entry),
                     "{\"time\":\"2026-10-14T17:46:40.007Z\",\"client\":\"192.0.2.17\","
                     "\"method\":\"GET\",\"uri\":\"/default/relief/6/31/32.png\",\"status\":200,"
                     "\"bytes\":12345,\"seconds\":0.001234,\"from\":\"memory\"}");
    entry.user_agent = "curl/7.88.1";
    entry.referer = "https://example.org/\"map\"";
    entry.from = FROM_JOINED;
    entry.bytes = UINT64_MAX;
    entry.nanoseconds = 61000000999;
    ck_assert_str_eq(strstr(line_of(&entry), "\"status\""),
                     "\"status\":200,\"bytes\":18446744073709551615,\"seconds\":61.000000,"
                     "\"from\":\"joined\",\"user_agent\":\"curl/7.88.1\","
                     "\"referer\":\"https://example.org/\\\"map\\\"\"}");
}
END_TEST

static const struct {
    time_t seconds;
    long nanoseconds;
    const char *text;
} times[] = {
    {0, 0, "1970-01-01T00:00:00.000Z"},
    {0, 999999999, "1970-01-01T00:00:00.999Z"},
    {1709164799, 1000000, "2024-02-28T23:59:59.001Z"},
    {1709164800, 50000000, "2024-02-29T00:00:00.050Z"},
    {1709164800, 999999, "2024-02-29T00:00:00.000Z"},
    {253402300799, 0, "9999-12-31T23:59:59.000Z"},
};

START_TEST(test_times)
{
    for (int i = 0; i < ROWS(times); i++) {
        struct access_entry entry = entry_of("/");
        entry.time = (struct timespec){times[i].seconds, times[i].nanoseconds};
        cJSON *object = parse(line_of(&entry));
        ck_assert_str_eq(text_in(object, "time"), times[i].text);
        cJSON_Delete(object);
    }
}
END_TEST

static const char *const clients[][2] = {
    {"0.0.0.0", "0.0.0.0"},
    {"255.255.255.255", "255.255.255.255"},
    {"10.0.200.3", "10.0.200.3"},
    {"::1", "::1"},
    {"2001:db8::5", "2001:db8::5"},
    {"2001:db8:1111:2222:3333:4444:5555:6666", "2001:db8:1111:2222:3333:4444:5555:6666"},
    {"::ffff:192.0.2.1", "192.0.2.1"},
    {"neither", ""},
};

START_TEST(test_clients)
{
    for (int i = 0; i < ROWS(clients); i++) {
        struct access_entry entry = entry_of("/");
        struct sockaddr_storage client = address_of(clients[i][0]);
        entry.client = (struct sockaddr *)&client;
        cJSON *object = parse(line_of(&entry));
        ck_assert_str_eq(text_in(object, "client"), clients[i][1]);
        cJSON_Delete(object);
    }
}
END_TEST

/* A client's text, and its form in the line. */
static const char *const hostile[][2] = {
    {"", ""},
    {"a\"b\\c/d", "a\\\"b\\\\c/d"},
    {"\n\r\t\x01\x1f\x7f", "\\u000a\\u000d\\u0009\\u0001\\u001f\\u007f"},
    {"\x1b[31m", "\\u001b[31m"},
    {"h\xc3\xb6her \xe2\x82\xac \xf0\x9f\x97\xba", "h\xc3\xb6her \xe2\x82\xac \xf0\x9f\x97\xba"},
    {"h\xf6her", "h\\u00f6her"},
    {"\xc2\x9b"
     "31m",
     "\\u00c2\\u009b"
     "31m"}, /* a control character in UTF-8 */
    {"\xc2\xa0", "\xc2\xa0"},
    {"\xc0\xaf", "\\u00c0\\u00af"}, /* overlong */
    {"\xe0\x80\xaf", "\\u00e0\\u0080\\u00af"},
    {"\xf0\x80\x80\xaf", "\\u00f0\\u0080\\u0080\\u00af"},
    {"\xe0\xa0\x80", "\xe0\xa0\x80"},
    {"\xed\xa0\x80", "\\u00ed\\u00a0\\u0080"}, /* a surrogate */
    {"\xed\x9f\xbf", "\xed\x9f\xbf"},
    {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
    {"\xf4\x90\x80\x80", "\\u00f4\\u0090\\u0080\\u0080"}, /* beyond U+10FFFF */
    {"\xf5\x80\x80\x80", "\\u00f5\\u0080\\u0080\\u0080"},
    {"\xe2\x82", "\\u00e2\\u0082"}, /* truncated */
    {"\xe2\x82z", "\\u00e2\\u0082z"},
    {"\xc3", "\\u00c3"},
    {"\x80\xbf\xff", "\\u0080\\u00bf\\u00ff"},
};

START_TEST(test_hostile)
{
    char wanted[256];
    struct access_entry entry = entry_of("/");
    entry.user_agent = hostile[_i][0];
    const char *line = line_of(&entry);
    snprintf(wanted, sizeof wanted, ",\"user_agent\":\"%s\"}", hostile[_i][1]);
    must(strstr(line, wanted), "%s is not in %s", wanted, line);
    cJSON_Delete(parse(line));
}
END_TEST

/* Any line is JSON and fits; only texts that are too long are cut. */
START_TEST(test_long)
{
    enum { LONGEST = 9000 };
    static char texts[3][LONGEST + 1];
    static const struct {
        unsigned char byte;
        int escape; /* bytes per character in the line; a URI has up to 2048 */
    } fillings[] = {{'a', 1}, {'"', 2}, {1, 6}, {0xff, 6}, {0xc3, 6}};
    for (int length = 0; length <= LONGEST; length += length < 2200 ? 1 : 997)
        for (int i = 0; i < ROWS(fillings); i++) {
            for (int k = 0; k < 3; k++) {
                memset(texts[k], fillings[i].byte, (size_t)length);
                texts[k][length] = '\0';
            }
            struct access_entry entry = entry_of(texts[0]);
            entry.method = entry.referer = texts[1];
            entry.user_agent = texts[2];
            cJSON *object = parse(line_of(&entry));
            const char *uri = text_in(object, "uri"), *mark = strstr(uri, "\xe2\x80\xa6");
            size_t whole = (size_t)length * (fillings[i].byte > 127 ? 2 : 1); /* in UTF-8 */
            must(mark || strlen(uri) == whole, "%d: lost in %s", length, uri);
            int escaped = length * fillings[i].escape;
            must(!mark || (mark[3] == '\0' && escaped > 2030), "%d: cut already: %s", length, uri);
            must(mark || escaped <= 2046, "%d: not cut: %s", length, uri);
            cJSON_Delete(object);
        }
}
END_TEST

START_TEST(test_random)
{
    uint64_t state = 99;
    for (int i = 0; i < 20000; i++) {
        char texts[3][600];
        for (int k = 0; k < 3; k++) {
            int length = chance_below(&state, sizeof texts[k]);
            for (int n = 0; n < length; n++)
                texts[k][n] = (char)(1 + chance_below(&state, 255));
            texts[k][length] = '\0';
        }
        struct access_entry entry = entry_of(texts[0]);
        entry.user_agent = texts[1];
        entry.referer = texts[2];
        cJSON_Delete(parse(line_of(&entry)));
    }
}
END_TEST

static char directory[FOLDER_TEXT], path[FOLDER_TEXT + 16], moved[FOLDER_TEXT + 16];

static void set_up(void)
{
    folder_new(directory);
    snprintf(path, sizeof path, "%s/access.log", directory);
    snprintf(moved, sizeof moved, "%s/access.log.1", directory);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* Hide the log's warnings. */
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
}

static struct access_log *open_log(const char *where, unsigned rings)
{
    struct access_log *log;
    int err = access_log_open(&log, where, rings);
    ck_assert_msg(err == 0, "%s: %s", where, strerror(-err));
    return log;
}

/* Write line NUMBER of RING. Returns false if it was dropped. */
static bool write_line(struct access_log *log, unsigned ring, int number)
{
    char uri[200];
    /* Different lengths, so that lines wrap anywhere. */
    snprintf(uri, sizeof uri, "/%u/%d/%.*s", ring, number, number % 97,
             "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
             "aaaaaaaaaaaa");
    struct access_entry entry = entry_of(uri);
    return access_log_write(log, ring, &entry);
}

enum { RINGS_MAX = 4 };

/* The lines read per ring, and the number of the last one. */
struct tally {
    int count[RINGS_MAX], last[RINGS_MAX];
};

/* Add the lines of TEXT, in order per ring, to TALLY. Returns the text after the last line feed. */
static const char *read_lines(struct tally *tally, char *text)
{
    for (char *end; (end = strchr(text, '\n')); text = end + 1) {
        unsigned ring;
        int number;
        *end = '\0';
        cJSON *object = parse(text);
        must(sscanf(text_in(object, "uri"), "/%u/%d/", &ring, &number) == 2 && ring < RINGS_MAX,
             "%s", text);
        must(!tally->count[ring] || number > tally->last[ring], "%d after %d", number,
             tally->last[ring]);
        tally->count[ring]++;
        tally->last[ring] = number;
        cJSON_Delete(object);
    }
    return text;
}

/* Add the lines of FILE, which must end with a line feed. */
static void read_file(struct tally *tally, const char *file)
{
    struct blob *blob = file_read(file);
    ck_assert_msg(blob != NULL, "no %s", file);
    char *text = strndup((char *)blob->bytes, blob->length);
    const char *rest = read_lines(tally, text);
    must(!*rest, "%s ends with %s", file, rest);
    free(text);
    blob_release(blob);
}

static int line_feeds(const char *text, size_t length)
{
    int count = 0;
    for (size_t i = 0; i < length; i++)
        count += text[i] == '\n';
    return count;
}

/* Wait until the file has COUNT lines or more, and nothing behind them: a reader may see a write
 * before its incomplete line is cut off. */
static void until_lines(int count)
{
    for (bool done = false; !done; uv_sleep(1)) {
        struct blob *blob = file_read(path);
        const char *text = blob ? (const char *)blob->bytes : "";
        done = blob && blob->length > 0 && text[blob->length - 1] == '\n' &&
               line_feeds(text, blob->length) >= count;
        blob_release(blob);
    }
}

struct writer {
    struct access_log *log;
    unsigned ring;
    int taken, dropped;
};

static void *write_many(void *context)
{
    struct writer *writer = context;
    for (int i = 0; i < 20000; i++) {
        if (write_line(writer->log, writer->ring, i))
            writer->taken++;
        else
            writer->dropped++;
        if (i % 500 == 0)
            uv_sleep(1);
    }
    return NULL;
}

/* No line is lost or repeated, with several threads. */
START_TEST(test_rings)
{
    struct access_log *log = open_log(path, RINGS_MAX);
    struct writer writers[RINGS_MAX];
    pthread_t threads[RINGS_MAX];
    struct tally tally = {0};
    for (unsigned i = 0; i < RINGS_MAX; i++) {
        writers[i] = (struct writer){log, i, 0, 0};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
    }
    for (int i = 0; i < RINGS_MAX; i++)
        pthread_join(threads[i], NULL);
    access_log_close(log);
    read_file(&tally, path);
    for (int i = 0; i < RINGS_MAX; i++) {
        ck_assert_int_eq(tally.count[i], writers[i].taken);
        ck_assert_int_gt(writers[i].taken, 1000);
    }
}
END_TEST

/* The size of the file once it is more than BEFORE bytes. */
static off_t size_beyond(off_t before)
{
    struct stat status = {0};
    while (status.st_size <= before) {
        uv_sleep(1);
        ck_assert_int_eq(stat(path, &status), 0);
    }
    return status.st_size;
}

/* In ms, before a line. The log's thread sleeps when none has come for 100 ms. */
static const unsigned pauses[] = {0, 0, 50, 95, 100, 105, 195, 200, 205, 350, 0, 1000};

/* Lines are written soon, or on closing, and appended to the file. */
START_TEST(test_soon)
{
    static const char before[] = "before\n";
    off_t size = strlen(before);
    file_write(path, before, strlen(before));
    struct access_log *log = open_log(path, 1);
    for (int i = 0; i < ROWS(pauses); i++) {
        uv_sleep(pauses[i]);
        ck_assert(write_line(log, 0, i));
        size = size_beyond(size);
    }
    struct blob *blob = file_read(path);
    ck_assert_uint_gt(blob->length, strlen(before) + 50);
    ck_assert_mem_eq(blob->bytes, before, strlen(before));
    blob_release(blob);
    ck_assert(write_line(log, 0, 100));
    access_log_close(log);
    blob = file_read(path);
    ck_assert_uint_gt(blob->length, (size_t)size);
    blob_release(blob);
}
END_TEST

static const struct {
    mode_t mask, mode;
} modes[] = {{0, 0640}, {022, 0640}, {077, 0600}};

START_TEST(test_modes)
{
    struct stat status;
    umask(modes[_i].mask);
    access_log_close(open_log(path, 1));
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, modes[_i].mode);
}
END_TEST

START_TEST(test_errors)
{
    struct access_log *log;
    char missing[FOLDER_TEXT + 32];
    snprintf(missing, sizeof missing, "%s/none/access.log", directory);
    ck_assert_int_eq(access_log_open(&log, directory, 1), -EISDIR);
    ck_assert_int_eq(access_log_open(&log, missing, 1), -ENOENT);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(access_log_open(&log, path, 1), -ENXIO);
    access_log_close(NULL);
}
END_TEST

/* No line is lost or repeated by a rotation. */
START_TEST(test_reopen)
{
    struct access_log *log = open_log(path, 1);
    struct tally tally = {0};
    struct stat status;
    int number = 0, taken = 0;
    for (int i = 0; i < 100; i++, number++)
        taken += write_line(log, 0, number);
    ck_assert_int_eq(rename(path, moved), 0);
    access_log_reopen(log);
    while (stat(path, &status) < 0) {
        taken += write_line(log, 0, number++);
        uv_sleep(5);
    }
    for (int i = 0; i < 100; i++, number++)
        taken += write_line(log, 0, number);
    access_log_close(log);
    read_file(&tally, moved);
    read_file(&tally, path);
    ck_assert_int_eq(tally.count[0], taken);
    ck_assert_int_eq(tally.last[0], number - 1);
}
END_TEST

/* If reopening fails, the old file stays in use. */
START_TEST(test_reopen_fails)
{
    struct access_log *log = open_log(path, 1);
    struct tally tally = {0};
    ck_assert_int_eq(rename(path, moved), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    access_log_reopen(log);
    uv_sleep(200);
    ck_assert(write_line(log, 0, 1));
    access_log_close(log);
    read_file(&tally, moved);
    ck_assert_int_eq(tally.count[0], 1);
}
END_TEST

/* Check records each ck_assert in a file, which has this limit, too: so there are none below it. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    must(getrlimit(RLIMIT_FSIZE, &limit) == 0, "%d", errno);
    limit.rlim_cur = bytes;
    must(setrlimit(RLIMIT_FSIZE, &limit) == 0, "%d", errno);
}

/* A disk that is full, has space again, and is full when closing, simulated by RLIMIT_FSIZE. The
 * file has complete lines at all times. */
START_TEST(test_full)
{
    struct access_log *log = open_log(path, 2);
    struct rlimit unlimited;
    int taken = 0, dropped = 0, number = 0;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
    limit_files(10001);
    for (; number < 20000; number++)
        *(write_line(log, number % 2, number) ? &taken : &dropped) += 1;
    must(dropped > 1000, "%d were dropped", dropped);
    struct stat status;
    for (int i = 0; i < 3; i++) {
        until_lines(21);
        must(stat(path, &status) == 0 && status.st_size <= 10001, "%s: %jd bytes", path,
             (intmax_t)status.st_size);
        uv_sleep(110); /* it tries again every 100 ms */
    }
    limit_files(unlimited.rlim_cur);
    until_lines(taken);
    struct tally tally = {0};
    read_file(&tally, path);
    ck_assert_int_eq(tally.count[0] + tally.count[1], taken);
    ck_assert_int_eq(stat(path, &status), 0);

    limit_files((rlim_t)status.st_size + 1000);
    for (; number < 21000; number++)
        write_line(log, number % 2, number);
    access_log_close(log);
    tally = (struct tally){0};
    read_file(&tally, path);
    ck_assert_int_ge(tally.count[0] + tally.count[1], taken + 3);
    ck_assert_int_le(tally.count[0] + tally.count[1], taken + 20);
}
END_TEST

static int saved_stdout;

/* Replace stdout by a pipe or a socket until close_stdout. Returns the reading end. */
static int open_stdout(bool as_socket)
{
    int ends[2];
    ck_assert_int_eq(as_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends), 0);
    fflush(stdout);
    saved_stdout = dup(STDOUT_FILENO);
    int writing = as_socket ? 0 : 1;
    ck_assert_int_ge(dup2(ends[writing], STDOUT_FILENO), 0);
    close(ends[writing]);
    return ends[!writing];
}

static void close_stdout(void)
{
    dup2(saved_stdout, STDOUT_FILENO);
    close(saved_stdout);
}

/* stdout is not read for a while: lines are dropped without blocking, and the rest is complete. */
START_TEST(test_blocked)
{
    static char text[4 << 20];
    int fd = open_stdout(_i == 1);
    struct access_log *log = open_log("-", 2);
    int taken = 0, dropped = 0;
    size_t length = 0;
    for (int i = 0; i < 40000; i++)
        *(write_line(log, i % 2, i) ? &taken : &dropped) += 1;
    ck_assert_int_gt(dropped, 1000);
    ck_assert_int_eq(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK, 0); /* it is shared */
    access_log_reopen(log);
    /* Small reads with pauses cause partial writes. */
    for (int lines = 0; lines < taken;) {
        ssize_t got = read(fd, text + length, 4999);
        ck_assert_int_gt(got, 0);
        lines += line_feeds(text + length, (size_t)got);
        length += (size_t)got;
        ck_assert_uint_lt(length, sizeof text - 5000);
        if (length < 200000)
            uv_sleep(5);
    }
    close_stdout();
    access_log_close(log);
    struct tally tally = {0};
    text[length] = '\0';
    const char *rest = read_lines(&tally, text);
    ck_assert_str_eq(rest, "");
    ck_assert_int_eq(tally.count[0] + tally.count[1], taken);
}
END_TEST

/* Closing does not wait for a reader that does not read, or has closed. */
START_TEST(test_close_blocked)
{
    int fd = open_stdout(_i / 2);
    struct access_log *log = open_log("-", 1);
    for (int i = 0; i < 8000; i++)
        write_line(log, 0, i);
    if (_i % 2)
        close(fd);
    access_log_close(log);
    close_stdout();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("access_log");
    TCase *lines = suite_case(suite, "lines");
    tcase_add_test(lines, test_line);
    tcase_add_test(lines, test_times);
    tcase_add_test(lines, test_clients);
    tcase_add_loop_test(lines, test_hostile, 0, ROWS(hostile));
    tcase_add_test(lines, test_long);
    tcase_add_test(lines, test_random);
    TCase *logs = suite_case(suite, "logs");
    tcase_add_checked_fixture(logs, set_up, NULL);
    tcase_add_test(logs, test_rings);
    tcase_add_test(logs, test_soon);
    tcase_add_loop_test(logs, test_modes, 0, ROWS(modes));
    tcase_add_test(logs, test_errors);
    tcase_add_test(logs, test_reopen);
    tcase_add_test(logs, test_reopen_fails);
    tcase_add_test(logs, test_full);
    tcase_add_loop_test(logs, test_blocked, 0, 2);
    tcase_add_loop_test(logs, test_close_blocked, 0, 4);
    return suite_run(suite);
}
