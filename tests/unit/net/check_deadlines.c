/* Deadlines: of heads from their first byte on, and of long responses by how far their client may
 * fall behind. And which connections are closed to make room for others. */
#include "server/net/deadlines.h"

#include <linux/sock_diag.h>
#include <poll.h>
#include <sys/socket.h>

#include "tests/unit/support/fixtures.h"

enum { BEGIN = 1000000 }; /* ms: the beginning of the response */

static struct clock time_held;
static struct deadlines deadlines = {.clock = &time_held, .idle_ms = 60000};
static struct deadline reader;
static int ends[2];

static void at_ms(uint64_t ms)
{
    time_held.ns = ms * NS_PER_MS;
}

static void set_up(void)
{
    at_ms(BEGIN);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    deadlines_add(&deadlines, &reader, ends[0], NULL);
    deadline_enter(&reader, DEADLINE_SENDING);
}

static void tear_down(void)
{
    deadlines_remove(&deadlines, &reader);
    ck_assert_uint_eq(deadlines.count, 0);
    close(ends[0]);
    close(ends[1]);
}

/* A round of checks. Returns the number of slow connections. */
static unsigned round_of(uint64_t now, bool draining)
{
    unsigned slow = 0;
    at_ms(now);
    deadlines.draining = draining;
    while (deadlines_expire(&deadlines, &slow))
        ;
    return slow;
}

static unsigned expire(int after)
{
    return round_of(BEGIN + (uint64_t)after, false);
}

static const struct {
    int every, bytes, until; /* the client takes BYTES every so many ms, until then */
    int closed;              /* the ms at which it is closed */
} paces[] = {
    {1000, 0, 60000, 30001},
    {1000, DEADLINE_PACE / 2, 90000, 59501}, /* falls behind by half of the time */
    {1000, DEADLINE_PACE, 600000, 630001},
    {100, DEADLINE_PACE, 600000, 630001}, /* earns no credit */
    {1, 1 << 20, 10000, 40001},
    {20000, 1 << 20, 600000, 630001},
    {31000, 1 << 30, 600000, 30001},
};

START_TEST(test_pace)
{
    for (int ms = 1; ms < paces[_i].closed; ms++) {
        at_ms(BEGIN + (uint64_t)ms);
        if (ms <= paces[_i].until && ms % paces[_i].every == 0)
            deadline_advance(&reader, (size_t)paces[_i].bytes);
        must(expire(ms) == 0, "row %d: closed at %d ms, not %d", _i, ms, paces[_i].closed);
    }
    ck_assert_uint_eq(expire(paces[_i].closed), 1);
    ck_assert_uint_eq(expire(paces[_i].closed + 1), 0); /* counted once */
    ck_assert_int_eq(recv(ends[1], &(char){0}, 1, 0), 0);
}
END_TEST

/* Waiting for the next part changes nothing about the client's delay. */
START_TEST(test_waiting)
{
    at_ms(BEGIN + 20000);
    deadline_wait(&reader);
    ck_assert_uint_eq(expire(1000000), 0);
    deadline_resume(&reader);
    ck_assert_uint_eq(expire(1010000), 0);
    ck_assert_uint_eq(expire(1010001), 1);
}
END_TEST

START_TEST(test_draining)
{
    deadline_wait(&reader);
    ck_assert_uint_eq(round_of(BEGIN + 100000, true), 0);
    ck_assert(!reader.overdue);
}
END_TEST

static const struct {
    enum deadline_phase phase;
    bool draining;
    unsigned step;
    uint64_t checked, due; /* ms from BEGIN; due 0: soon */
    uint64_t idle;         /* seconds */
} checks[] = {
    {DEADLINE_HEAD, false, 2000, 0, 10001, 60},
    {DEADLINE_HANDLED, false, 2000, 0, 0, 60},
    {DEADLINE_SENDING, false, 2000, 0, 0, 60},
    {DEADLINE_WAITING, false, 2000, 0, 0, 60},
    {DEADLINE_IDLE, false, 0, 0, 10001, 60},
    {DEADLINE_IDLE, false, 0, 10000, 10001, 60},
    {DEADLINE_IDLE, false, 0, 10001, 60001, 60},
    {DEADLINE_IDLE, false, 3000, 0, 11000, 60}, /* BEGIN is 1000 ms after a multiple of 3000 */
    {DEADLINE_IDLE, false, 3000, 11000, 62000, 60},
    {DEADLINE_IDLE, false, 0, 60001, 0, 60}, /* it is about to be closed */
    {DEADLINE_IDLE, true, 2000, 0, 0, 60},
    {DEADLINE_IDLE, false, 0, 10001, 75001, 75},
    {DEADLINE_IDLE, false, 0, 0, 10001, 86400},
    {DEADLINE_IDLE, false, 0, 10001, 86400001, 86400},
    {DEADLINE_IDLE, false, 0, 0, 10001, 11},
    {DEADLINE_IDLE, false, 0, 0, 10001, 10},
    {DEADLINE_IDLE, false, 0, 0, 1001, 1}, /* before what it has sent is checked */
    {DEADLINE_IDLE, false, 0, 1001, 0, 1},
    {DEADLINE_HEAD, false, 0, 0, 10001, 1},
};

/* Nothing is looked at before it may have changed. */
START_TEST(test_due)
{
    deadlines.step = checks[_i].step;
    deadlines.idle_ms = checks[_i].idle * 1000;
    deadline_enter(&reader, checks[_i].phase);
    round_of(BEGIN + checks[_i].checked, checks[_i].draining);
    const uint64_t due = deadlines.due ? deadlines.due - BEGIN : 0;
    must(due == checks[_i].due, "row %d: %llu", _i, (unsigned long long)due);
    deadlines.step = 0;
    deadlines.idle_ms = 60000;
}
END_TEST

/* Of several connections the first one counts. */
START_TEST(test_first_due)
{
    struct deadline other;
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    deadlines_add(&deadlines, &other, pair[0], NULL);
    at_ms(BEGIN + 5000);
    deadline_enter(&reader, DEADLINE_IDLE);
    round_of(BEGIN + 6000, false);
    ck_assert_uint_eq(deadlines.due, BEGIN + 10001);
    deadlines_remove(&deadlines, &other);
    round_of(BEGIN + 7000, false);
    ck_assert_uint_eq(deadlines.due, BEGIN + 15001);
    deadlines_remove(&deadlines, &reader);
    round_of(BEGIN + 8000, false);
    ck_assert_uint_eq(deadlines.due, UINT64_MAX);
    deadlines_add(&deadlines, &reader, ends[0], NULL);
    close(pair[0]);
    close(pair[1]);
}
END_TEST

enum { ROUND = 250 }; /* ms */

static const struct {
    const char *what;
    enum deadline_phase phase;
    int bytes, every; /* the client reads BYTES every so many ms; 0: never */
    int closed;       /* the ms of the round in which it is closed; 0: not before 29 s */
    bool many;        /* its responses follow each other, one a second */
} readers[] = {
    {"a stalled reader", DEADLINE_SENDING, 0, 0, 20000, false},
    {"8 KiB/s", DEADLINE_SENDING, 8 << 10, 1000, 20000, false},
    {"8 KiB/s, of many responses", DEADLINE_SENDING, 8 << 10, 1000, 20000, true},
    {"24 KiB/s", DEADLINE_SENDING, 24 << 10, 1000, 0, false},
    {"24 KiB/s, of many responses", DEADLINE_SENDING, 24 << 10, 1000, 0, true},
    {"much every 9 s", DEADLINE_SENDING, 256 << 10, 9000, 0, false},
    {"a response that is not there yet", DEADLINE_WAITING, 0, 0, 0, false},
    {"a response that its client does not take", DEADLINE_IDLE, 0, 0, 10250, false},
    {"a response that its client takes late", DEADLINE_IDLE, 1 << 20, 9000, 0, false},
};

/* Read BYTES, or less if there are no more for a while, and send as many as may be sent. */
static void take(const int pair[2], int bytes, bool more)
{
    static char buffer[1 << 16];
    struct pollfd readable = {.fd = pair[1], .events = POLLIN};
    const int patience = more ? 20000 : 500; /* ms: what is sent arrives some time */

    while (bytes > 0 && poll(&readable, 1, patience) == 1) {
        const size_t most = bytes < (int)sizeof buffer ? (size_t)bytes : sizeof buffer;
        bytes -= (int)recv(pair[1], buffer, most, 0);
        while (more && send(pair[0], buffer, sizeof buffer, MSG_DONTWAIT) > 0)
            ;
    }
}

/* The least pace, by what the client's system has acknowledged. */
START_TEST(test_readers)
{
    struct deadline client;
    unsigned memory[SK_MEMINFO_VARS];
    socklen_t size = sizeof memory;
    int pair[2], ms = 0;

    tcp_pair(pair);
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &(int){1 << 16}, sizeof(int));
    /* A buffer that grows tells of what was read only now and then. */
    setsockopt(pair[1], SOL_SOCKET, SO_RCVBUF, &(int){1 << 15}, sizeof(int));
    deadlines_add(&deadlines, &client, pair[0], NULL);
    while (send(pair[0], (char[4096]){0}, 4096, MSG_DONTWAIT) > 0)
        ;
    at_ms(BEGIN);
    deadline_enter(&client, readers[_i].phase);
    for (; !client.overdue && ms < 29000; ms += ROUND) {
        if (readers[_i].every && ms % readers[_i].every == 0)
            take(pair, readers[_i].bytes, readers[_i].phase == DEADLINE_SENDING);
        if (readers[_i].many && ms % 1000 == 0) {
            deadline_enter(&client, DEADLINE_IDLE);
            deadline_enter(&client, DEADLINE_SENDING);
        }
        ck_assert_uint_eq(round_of(BEGIN + (uint64_t)ms, false), client.overdue);
    }
    const int closed = client.overdue ? ms - ROUND : 0;
    must(closed == readers[_i].closed, "%s: closed at %d ms, not %d", readers[_i].what, closed,
         readers[_i].closed);
    if (closed) { /* the system has freed its bytes */
        ck_assert_int_eq(getsockopt(pair[0], SOL_SOCKET, SO_MEMINFO, memory, &size), 0);
        ck_assert_uint_eq(memory[SK_MEMINFO_WMEM_QUEUED], 0);
    }
    deadlines_remove(&deadlines, &client);
    close(pair[0]);
    close(pair[1]);
}
END_TEST

/* --- Heads ----------------------------------------------------------------- */

static const struct {
    const char *what;
    bool kept;  /* the connection had a request before, of 7 bytes */
    int first;  /* ms at which the first part of a head arrives after that, or -1 */
    int every;  /* ms between further parts, or 0 */
    int closed; /* ms of the round in which it is closed */
    bool slow;
} heads[] = {
    {"a silent connection", false, -1, 0, 10250, true},
    {"one part", false, 5000, 0, 10250, true},
    {"a part now and then", false, 0, 1000, 10250, true},
    {"a connection that idles", true, -1, 0, 60250, false},
    {"one part after idling", true, 20100, 0, 30500, true},
    {"a part now and then after idling", true, 20100, 1000, 30500, true},
    {"a part at once", true, 0, 0, 10250, true},
    {"a part at once, and more", true, 0, 1000, 10250, true},
};

/* Slow heads of which a part has arrived get a 408. Nothing reads from the connection. */
START_TEST(test_head)
{
    struct deadline client;
    char received[512];
    int pair[2], ms = 0;

    tcp_pair(pair);
    deadlines_add(&deadlines, &client, pair[0], NULL);
    if (heads[_i].kept) {
        ck_assert_int_eq(send(pair[1], "request", 7, 0), 7);
        deadline_head_ends(&client, 7);
        deadline_enter(&client, DEADLINE_IDLE);
    }
    for (; !client.overdue && ms < 100000; ms++) {
        const int since = ms - heads[_i].first;
        if (heads[_i].first >= 0 && since >= 0 &&
            (heads[_i].every ? since % heads[_i].every == 0 : since == 0))
            ck_assert_int_eq(send(pair[1], "G", 1, 0), 1);
        if (ms % ROUND == 0)
            ck_assert_uint_eq(round_of((uint64_t)ms, false),
                              ms == heads[_i].closed && heads[_i].slow);
    }
    must(ms - 1 == heads[_i].closed, "%s: closed at %d ms, not %d", heads[_i].what, ms - 1,
         heads[_i].closed);
    ck_assert_int_eq(client.got_408, heads[_i].slow && heads[_i].first >= 0);
    const ssize_t got = recv(pair[1], received, sizeof received - 1, MSG_DONTWAIT);
    received[got < 0 ? 0 : got] = '\0';
    ck_assert_int_eq(strncmp(received, "HTTP/1.1 408 ", 13) == 0, client.got_408);
    deadlines_remove(&deadlines, &client);
    close(pair[0]);
    close(pair[1]);
}
END_TEST

/* A connection whose reader does not notice its end is reset in the next round. */
START_TEST(test_forgotten)
{
    struct deadline client;
    struct pollfd peer = {.events = POLLHUP};
    int pair[2];

    tcp_pair(pair);
    peer.fd = pair[0];
    deadlines_add(&deadlines, &client, pair[0], NULL);
    ck_assert_uint_eq(round_of(10001, false), 1);
    ck_assert_int_eq(poll(&peer, 1, 0), 0);
    ck_assert_uint_eq(round_of(10251, false), 0);
    ck_assert_int_eq(poll(&peer, 1, 0), 1);
    deadlines_remove(&deadlines, &client);
    close(pair[0]);
    close(pair[1]);
}
END_TEST

/* The client of an idle connection has left, which libmicrohttpd may not have noticed. */
START_TEST(test_left)
{
    struct deadline client;
    int pair[2];

    tcp_pair(pair);
    deadlines_add(&deadlines, &client, pair[0], NULL);
    deadline_enter(&client, DEADLINE_IDLE);
    shutdown(pair[1], SHUT_WR);
    ck_assert_uint_eq(round_of(250, false), 0);
    ck_assert(client.overdue);
    deadlines_remove(&deadlines, &client);
    close(pair[0]);
    close(pair[1]);
}
END_TEST

/* Rounds in slices check every connection but those that are removed meanwhile. */
START_TEST(test_slices)
{
    enum { MANY = 5 * DEADLINES_SLICE / 2 };
    static struct deadline many[MANY], later;
    unsigned slow = 0, removed = 0;
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    for (int i = 0; i < MANY; i++)
        deadlines_add(&deadlines, &many[i], pair[0], NULL);
    at_ms(20000);
    while (deadlines_expire(&deadlines, &slow)) {
        struct deadline *next = deadlines.next;
        deadlines_remove(&deadlines, next);
        ck_assert(!next->overdue);
        removed++;
    }
    ck_assert_uint_eq(removed, 2);
    ck_assert_uint_eq(slow, MANY - removed);
    /* The next round begins with the first. */
    ck_assert_uint_eq(round_of(20000, false), 0);
    at_ms(0);
    deadlines_add(&deadlines, &later, pair[0], NULL);
    ck_assert_uint_eq(round_of(20000, false), 1);
}
END_TEST

/* --- Room ------------------------------------------------------------------ */

enum { NOW = 100000, CLIENTS = 4 };

/* Connections: a letter for the client, A to D, or a dash if it is not known; what it does; and
 * for how many ms. */
static const struct {
    const char *connections;
    unsigned counts[CLIENTS]; /* of the clients, also on other threads */
    const char *closed;       /* the numbers of those that are closed in each call, 0 to 9 */
} rooms[] = {
    {"", {0}, ""},
    /* Responses are not interrupted. */
    {"A handled 5000, A sending 1000, A waiting 5000", {3}, ""},
    {"A handled 5000, B idle 100", {900, 1}, "1"},
    /* The client with the most connections, and of those the one that has been idle the longest. */
    {"A idle 100, B idle 200, B idle 300, A idle 50", {3, 2}, "0 3 2 1"},
    {"A idle 100, A idle 300, A idle 200", {3}, "1 2 0"},
    {"A idle 100, B idle 200, C idle 300, D idle 400", {1, 1, 1, 1}, "3 2 1 0"},
    {"A idle 100, - idle 900", {1}, "0 1"},
    /* If it has none that is idle, the next one's. */
    {"A handled 100, B idle 10, C idle 20", {9, 3, 2}, "1 2"},
    /* An eighth of its connections at once. */
    {"A idle 1, A idle 2, A idle 3, A idle 4, A idle 5, B idle 9", {16, 8}, "43 21 0 5"},
    {"A idle 1, A idle 2, A idle 3, A idle 4, A idle 5, B idle 9", {40, 8}, "43210 5"},
    {"A idle 1, B idle 2, B idle 3", {800, 23}, "02 1"},
    /* Incomplete heads, after a grace. */
    {"A head 400", {1}, ""},
    {"A head 501, A idle 500, A head 499", {3}, "0 1"},
    {"A head 499, A idle 10, B idle 500, A handled 600", {3, 2}, "1"},
    {"A head 501, A idle 10, B head 499, B idle 50, C idle 500", {3, 2, 1}, "0 1 3"},
    /* Slow readers, but only if none is idle, or will be. */
    {"A sending 5000, B idle 100", {900, 1}, "1 0"},
    {"A sending 5000, B head 100", {900, 1}, ""},
    {"B sending 9000, A sending 1001, A sending 1002, A sending 1000, A handled 2000",
     {4, 1},
     "2 1 0"},
    /* A request that has just arrived. */
    {"A arrived 900, A idle 10", {2}, "1"},
};

static enum deadline_phase phase_of(const char *name)
{
    static const char *const names[] = {"head", "handled", "sending", "waiting", "idle", "arrived"};
    int i = 0;
    while (strcmp(names[i], name) != 0)
        i++;
    return names[i][0] == 'a' ? DEADLINE_IDLE : (enum deadline_phase)i;
}

START_TEST(test_room)
{
    enum { MOST = 10 };
    struct deadline many[MOST];
    int pairs[MOST][2], count = 0;
    const char *expected = rooms[_i].closed;

    for (const char *at = rooms[_i].connections; *at; at += strcspn(at, ","), at += *at ? 2 : 0) {
        char client, phase[16];
        int ms;
        ck_assert_int_eq(sscanf(at, "%c %15s %d", &client, phase, &ms), 3);
        tcp_pair(pairs[count]);
        deadlines_add(&deadlines, &many[count], pairs[count][0],
                      client == '-' ? NULL : &rooms[_i].counts[client - 'A']);
        at_ms(NOW - (uint64_t)ms);
        deadline_enter(&many[count], phase_of(phase));
        if (strcmp(phase, "arrived") == 0)
            ck_assert_int_eq(send(pairs[count][1], "G", 1, 0), 1);
        count++;
    }
    at_ms(NOW);
    do {
        unsigned closed = deadlines_make_room(&deadlines);
        must(closed == strcspn(expected, " "), "row %d: %u are closed, not %s", _i, closed,
             expected);
        for (; *expected && *expected != ' '; expected++) {
            must(many[*expected - '0'].overdue, "row %d: not %s", _i, expected);
            ck_assert_int_le(recv(pairs[*expected - '0'][0], &(char){0}, 1, 0), 0);
        }
        int evicted = 0;
        for (int i = 0; i < count; i++)
            evicted += many[i].overdue;
        for (const char *at = rooms[_i].closed; at < expected; at++)
            evicted -= *at != ' ';
        must(evicted == 0, "row %d: others are closed, before \"%s\"", _i, expected);
    } while (*expected++);
    ck_assert_uint_eq(deadlines_make_room(&deadlines), 0);
    ck_assert_uint_eq(round_of(NOW, false), 0); /* they are not counted as slow */
    for (int i = 0; i < count; i++) {
        close(pairs[i][0]);
        close(pairs[i][1]);
    }
}
END_TEST

/* Of many connections, the ones that have been idle the longest, whatever their order. */
START_TEST(test_much_room)
{
    enum { MANY = 500, TAKEN = 32 };
    static struct deadline many[MANY];
    static const unsigned connections = MANY;
    uint64_t state = (uint64_t)_i;
    int pair[2];

    tcp_pair(pair);
    for (int i = 0; i < MANY; i++) {
        const int ms = _i == 0 ? i : _i == 1 ? MANY - i : chance_below(&state, 1000);
        deadlines_add(&deadlines, &many[i], pair[0], &connections);
        at_ms(NOW - (uint64_t)ms);
        deadline_enter(&many[i], DEADLINE_IDLE);
    }
    at_ms(NOW);
    for (int round = 1; round <= 3; round++) {
        uint64_t youngest = 0, oldest = NOW;
        int evicted = 0;
        ck_assert_uint_eq(deadlines_make_room(&deadlines), TAKEN);
        for (int i = 0; i < MANY; i++) {
            if (many[i].overdue && many[i].since > youngest)
                youngest = many[i].since;
            if (!many[i].overdue && many[i].since < oldest)
                oldest = many[i].since;
            evicted += many[i].overdue;
        }
        ck_assert_int_eq(evicted, round * TAKEN);
        ck_assert_uint_le(youngest, oldest);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("deadlines");
    TCase *tcase = suite_case(suite, "deadlines");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_pace, 0, ROWS(paces));
    tcase_add_test(tcase, test_waiting);
    tcase_add_test(tcase, test_draining);
    tcase_add_loop_test(tcase, test_due, 0, ROWS(checks));
    tcase_add_test(tcase, test_first_due);
    tcase_add_loop_test(tcase, test_readers, 0, ROWS(readers));
    tcase = suite_case(suite, "heads");
    tcase_add_loop_test(tcase, test_head, 0, ROWS(heads));
    tcase_add_test(tcase, test_forgotten);
    tcase_add_test(tcase, test_left);
    tcase_add_test(tcase, test_slices);
    tcase = suite_case(suite, "room");
    tcase_add_loop_test(tcase, test_room, 0, ROWS(rooms));
    tcase_add_loop_test(tcase, test_much_room, 0, 4);
    return suite_run(suite);
}
