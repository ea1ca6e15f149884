/* The deadline of a long response: how far its client may fall behind. */
#include "server/net/deadlines.h"

#include <sys/socket.h>

#include "tests/unit/support/fixtures.h"

enum { BEGIN = 1000000 }; /* ms: the beginning of the response */

static struct deadlines deadlines;
static struct deadline reader;
static int ends[2];

static void set_up(void)
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    deadlines_add(&deadlines, &reader, ends[0], 0);
    deadline_enter(&reader, DEADLINE_SENDING, BEGIN);
}

static void tear_down(void)
{
    deadlines_remove(&deadlines, &reader);
    ck_assert_uint_eq(deadlines.count, 0);
    close(ends[0]);
    close(ends[1]);
}

static unsigned expire(int after)
{
    return deadlines_expire(&deadlines, BEGIN + (uint64_t)after, false);
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
        if (ms <= paces[_i].until && ms % paces[_i].every == 0)
            deadline_advance(&reader, (size_t)paces[_i].bytes, BEGIN + (uint64_t)ms);
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
    deadline_wait(&reader, BEGIN + 20000);
    ck_assert_uint_eq(expire(1000000), 0);
    deadline_resume(&reader, BEGIN + 1000000);
    ck_assert_uint_eq(expire(1010000), 0);
    ck_assert_uint_eq(expire(1010001), 1);
}
END_TEST

START_TEST(test_draining)
{
    deadline_wait(&reader, BEGIN);
    ck_assert_uint_eq(deadlines_expire(&deadlines, BEGIN + 100000, true), 0);
    ck_assert(!deadline_has_left(&reader));
    shutdown(ends[1], SHUT_WR);
    ck_assert(deadline_has_left(&reader));
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
    return suite_run(suite);
}
