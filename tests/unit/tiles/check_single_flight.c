/* Single-flight: one leader; every waiter gets the result, in order, on its own thread. */
#include "server/tiles/single_flight.h"

#include <errno.h>

#include "tests/unit/support/fixtures.h"

enum { MOST = 64 };

static struct single_flight *flights;
static uv_loop_t loop;
static struct mailbox *mailbox;

/* The calls of completed, in order. */
static struct {
    int id;
    struct blob *blob;
    int err;
} told[MOST];
static int told_count;

struct test_waiter {
    struct waiter waiter;
    int id;
    /* Joins for KEY when this one is completed. */
    struct test_waiter *next;
    const char *key;
    struct flight *next_flight;
    bool next_leads;
};

static void on_completed(struct waiter *waiter, struct blob *blob, int err)
{
    struct test_waiter *test_waiter = (struct test_waiter *)waiter;
    ck_assert_int_lt(told_count, MOST);
    told[told_count].id = test_waiter->id;
    told[told_count].blob = blob;
    told[told_count++].err = err;
    if (test_waiter->next)
        test_waiter->next_flight = single_flight_join(
            flights, test_waiter->key, &test_waiter->next->waiter, &test_waiter->next_leads);
}

static struct test_waiter waiters[MOST];

static void set_up(void)
{
    ck_assert_int_eq(single_flight_new(&flights), 0);
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(mailbox_new(&mailbox, &loop), 0);
    for (int i = 0; i < MOST; i++)
        waiters[i] = (struct test_waiter){.waiter = {.mailbox = mailbox, .completed = on_completed},
                                          .id = i};
}

static void tear_down(void)
{
    single_flight_free(flights);
    single_flight_free(NULL);
    mailbox_close(mailbox);
    uv_run(&loop, UV_RUN_DEFAULT);
    mailbox_free(mailbox);
    mailbox_free(NULL);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}

/* Run the loop until all messages are delivered. */
static void settle(void)
{
    for (int i = 0; i < 4; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
}

static void complete(struct flight *flight, struct blob *blob, int err)
{
    single_flight_complete(flights, flight, blob, err);
    settle();
}

static struct flight *join(const char *key, int id, bool *leader)
{
    *leader = !*leader;
    struct flight *flight = single_flight_join(flights, key, &waiters[id].waiter, leader);
    ck_assert_ptr_nonnull(flight);
    return flight;
}

START_TEST(test_order)
{
    bool leader = false;
    struct flight *first = join("a", 0, &leader);
    ck_assert(leader);
    for (int i = 1; i < 10; i++) {
        leader = i & 1;
        ck_assert_ptr_eq(join("a", i, &leader), first);
        ck_assert(!leader);
    }
    ck_assert_int_eq(told_count, 0);

    struct blob *blob = blob_copy("tile", 4);
    complete(first, blob, 0);
    ck_assert_int_eq(told_count, 10);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(told[i].id, i);
        ck_assert_ptr_eq(told[i].blob, blob);
        ck_assert_int_eq(told[i].err, 0);
    }
    /* The reference is still the caller's. */
    ck_assert_uint_eq(blob->references, 1);
    blob_release(blob);
}
END_TEST

START_TEST(test_error)
{
    bool leader = false;
    struct flight *flight = join("a", 0, &leader);
    join("a", 1, &leader);
    complete(flight, NULL, -ENOSPC);
    ck_assert_int_eq(told_count, 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(told[i].id, i);
        ck_assert_ptr_null(told[i].blob);
        ck_assert_int_eq(told[i].err, -ENOSPC);
    }
    /* Neither results nor errors are kept. */
    leader = false;
    flight = join("a", 2, &leader);
    ck_assert(leader);
    complete(flight, NULL, -EBUSY);
    ck_assert_int_eq(told_count, 3);
    ck_assert_int_eq(told[2].err, -EBUSY);
}
END_TEST

START_TEST(test_keys)
{
    bool leaders[3] = {false, false, false};
    char key[] = "a/1";
    struct flight *one = join(key, 0, &leaders[0]);
    /* The key is copied. */
    key[2] = '2';
    struct flight *two = join(key, 1, &leaders[1]), *empty = join("", 2, &leaders[2]);
    ck_assert(leaders[0] && leaders[1] && leaders[2]);
    ck_assert_ptr_ne(one, two);
    leaders[0] = true;
    ck_assert_ptr_eq(join("a/2", 3, &leaders[0]), two);
    ck_assert(!leaders[0]);

    complete(two, NULL, -2);
    ck_assert_int_eq(told_count, 2);
    ck_assert_int_eq(told[0].id, 1);
    ck_assert_int_eq(told[1].id, 3);
    complete(empty, NULL, -3);
    complete(one, NULL, -1);
    ck_assert_int_eq(told_count, 4);
    ck_assert_int_eq(told[2].id, 2);
    ck_assert_int_eq(told[3].id, 0);
}
END_TEST

/* A waiter that joins again in completed starts a new flight, and leads. */
START_TEST(test_join_in_completed)
{
    bool leader = false;
    struct flight *flight = join("a", 0, &leader);
    join("a", 1, &leader);
    join("a", 2, &leader);
    waiters[0].next = &waiters[10];
    waiters[1].next = &waiters[11];
    waiters[2].next = &waiters[12];
    waiters[0].key = waiters[1].key = "a";
    waiters[2].key = "b";

    complete(flight, NULL, -EIO);
    ck_assert_int_eq(told_count, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(told[i].id, i);
    ck_assert(waiters[0].next_leads);
    ck_assert(!waiters[1].next_leads);
    ck_assert(waiters[2].next_leads);
    ck_assert_ptr_eq(waiters[0].next_flight, waiters[1].next_flight);
    ck_assert_ptr_ne(waiters[0].next_flight, waiters[2].next_flight);

    struct blob *blob = blob_copy("tile", 4);
    complete(waiters[0].next_flight, blob, 0);
    ck_assert_int_eq(told_count, 5);
    ck_assert_int_eq(told[3].id, 10);
    ck_assert_int_eq(told[4].id, 11);
    ck_assert_ptr_eq(told[4].blob, blob);
    complete(waiters[2].next_flight, NULL, -EIO);
    ck_assert_int_eq(told_count, 6);
    blob_release(blob);
}
END_TEST

/* A completed waiter joins again: its links are not used any more. */
START_TEST(test_same_waiter_again)
{
    bool leader = false;
    struct flight *flight = join("a", 0, &leader);
    join("a", 1, &leader);
    waiters[0].next = &waiters[0];
    waiters[0].key = "a";
    complete(flight, NULL, -1);
    ck_assert_int_eq(told_count, 2);
    ck_assert_int_eq(told[1].id, 1);
    ck_assert(waiters[0].next_leads);
    waiters[0].next = NULL;
    complete(waiters[0].next_flight, NULL, -2);
    ck_assert_int_eq(told_count, 3);
    ck_assert_int_eq(told[2].id, 0);
    ck_assert_int_eq(told[2].err, -2);
}
END_TEST

/* A waiter that has left is not called; the others are, in order. */
START_TEST(test_leave)
{
    bool leader = false;
    struct flight *flight = join("a", 0, &leader);
    for (int i = 1; i < 5; i++) {
        leader = true;
        join("a", i, &leader);
    }
    ck_assert(
        single_flight_leave(flights, &waiters[4].waiter)); /* the last, a middle one, the first */
    ck_assert(single_flight_leave(flights, &waiters[2].waiter));
    ck_assert(single_flight_leave(flights, &waiters[0].waiter));
    ck_assert(!single_flight_leave(flights, &waiters[0].waiter));
    leader = true;
    join("a", 5, &leader);
    ck_assert(single_flight_is_wanted(flights, flight));
    complete(flight, NULL, -EIO);
    ck_assert_int_eq(told_count, 3);
    ck_assert_int_eq(told[0].id, 1);
    ck_assert_int_eq(told[1].id, 3);
    ck_assert_int_eq(told[2].id, 5);
}
END_TEST

/* After single_flight_complete a waiter cannot leave, and is called. */
START_TEST(test_leave_too_late)
{
    bool leader = false;
    struct flight *flight = join("a", 0, &leader);
    single_flight_complete(flights, flight, NULL, -EIO);
    ck_assert_int_eq(told_count, 0);
    ck_assert(!single_flight_leave(flights, &waiters[0].waiter));
    settle();
    ck_assert_int_eq(told_count, 1);
}
END_TEST

/* When the last waiter has left, the next one starts a new flight. */
START_TEST(test_unwanted)
{
    bool leader = false;
    struct flight *flight = join("a", 0, &leader);
    ck_assert(single_flight_leave(flights, &waiters[0].waiter));
    leader = true;
    ck_assert_ptr_eq(join("a", 1, &leader), flight); /* before is_wanted was called: it goes on */
    ck_assert(!leader);
    ck_assert(single_flight_is_wanted(flights, flight));
    ck_assert(single_flight_leave(flights, &waiters[1].waiter));
    ck_assert(!single_flight_is_wanted(flights, flight));
    leader = false;
    flight = join("a", 2, &leader);
    ck_assert(leader);
    complete(flight, NULL, -EIO);
    ck_assert_int_eq(told_count, 1);
    ck_assert_int_eq(told[0].id, 2);
}
END_TEST

/* Blobs are valid until delivered, though the leader has released them, and are freed then. */
START_TEST(test_blob_references)
{
    bool leader = false;
    struct flight *flight = join("a", 0, &leader);
    join("a", 1, &(bool){true});
    struct blob *blob = blob_copy("tile", 4);
    single_flight_complete(flights, flight, blob, 0);
    ck_assert_uint_eq(blob->references, 3);
    blob_release(blob);
    ck_assert_mem_eq(blob->bytes, "tile", 4);
    blob_hold(blob);
    settle();
    ck_assert_int_eq(told_count, 2);
    ck_assert_uint_eq(blob->references, 1);
    blob_release(blob);
}
END_TEST

static int many_told[4096], many_wrong;

struct numbered_waiter {
    struct waiter waiter;
    int key, ticket;
};

static void on_numbered(struct waiter *waiter, struct blob *blob, int err)
{
    struct numbered_waiter *numbered = (struct numbered_waiter *)waiter;
    (void)blob;
    many_wrong += err != -1 - numbered->key || numbered->ticket != many_told[numbered->key]++;
    free(numbered);
}

/* Many keys at once, completed in any order. */
START_TEST(test_many)
{
    enum { KEYS = 500, STEPS = 20000 };
    static struct flight *open[KEYS];
    static int tickets[KEYS];
    uint64_t state = 13;
    for (int i = 0; i < STEPS; i++) {
        int key = chance_below(&state, KEYS);
        char name[16];
        snprintf(name, sizeof name, "%d", key);
        if (open[key] && chance_below(&state, 4) == 0) {
            struct flight *flight = open[key];
            open[key] = NULL;
            complete(flight, NULL, -1 - key);
            must(many_told[key] == tickets[key], "%d of %d told", many_told[key], tickets[key]);
            continue;
        }
        struct numbered_waiter *numbered = malloc(sizeof *numbered);
        *numbered = (struct numbered_waiter){
            {.mailbox = mailbox, .completed = on_numbered}, key, tickets[key]++};
        bool leader = open[key] != NULL;
        struct flight *flight = single_flight_join(flights, name, &numbered->waiter, &leader);
        must(leader == !open[key], "%s: leader %d", name, leader);
        must(!open[key] || flight == open[key], "%s: another flight", name);
        open[key] = flight;
    }
    for (int key = 0; key < KEYS; key++)
        if (open[key])
            complete(open[key], NULL, -1 - key);
    ck_assert_int_eq(many_wrong, 0);
    for (int key = 0; key < KEYS; key++)
        must(many_told[key] == tickets[key], "%d: %d of %d told", key, many_told[key],
             tickets[key]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("single_flight");
    TCase *tcase = suite_case(suite, "single_flight");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_order);
    tcase_add_test(tcase, test_error);
    tcase_add_test(tcase, test_keys);
    tcase_add_test(tcase, test_join_in_completed);
    tcase_add_test(tcase, test_same_waiter_again);
    tcase_add_test(tcase, test_leave);
    tcase_add_test(tcase, test_leave_too_late);
    tcase_add_test(tcase, test_unwanted);
    tcase_add_test(tcase, test_blob_references);
    tcase_add_test(tcase, test_many);
    return suite_run(suite);
}
