/* Single-flight: one leader, every waiter in order and at home, and then it is over. */
#include "server/tiles/single_flight.h"

#include <errno.h>

#include "tests/unit/support/fixtures.h"

enum { MOST = 64 };

static struct single_flight *flights;
static uv_loop_t loop;
static struct mailbox *mailbox;

/* What was told to whom, in order. */
static struct {
    int who;
    struct blob *blob;
    int err;
} told[MOST];
static int told_count;

struct passenger {
    struct waiter waiter;
    int who;
    /* Another who joins as soon as this one has landed, for KEY. */
    struct passenger *next;
    const char *key;
    struct flight *next_flight;
    bool next_leads;
};

static void landed(struct waiter *waiter, struct blob *blob, int err)
{
    struct passenger *passenger = (struct passenger *)waiter;
    ck_assert_int_lt(told_count, MOST);
    told[told_count].who = passenger->who;
    told[told_count].blob = blob;
    told[told_count++].err = err;
    if (passenger->next)
        passenger->next_flight = single_flight_join(
            flights, passenger->key, &passenger->next->waiter, &passenger->next_leads);
}

static struct passenger passengers[MOST];

static void set_up(void)
{
    ck_assert_int_eq(single_flight_new(&flights), 0);
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(mailbox_new(&mailbox, &loop), 0);
    for (int i = 0; i < MOST; i++)
        passengers[i] = (struct passenger){.waiter = {.mailbox = mailbox, .completed = landed}, .who = i};
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

/* Let the loop turn until all letters of a landing are delivered. */
static void settle(void)
{
    for (int i = 0; i < 4; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
}

static void land(struct flight *flight, struct blob *blob, int err)
{
    single_flight_complete(flights, flight, blob, err);
    settle();
}

static struct flight *join(const char *key, int who, bool *leader)
{
    *leader = !*leader;
    struct flight *flight = single_flight_join(flights, key, &passengers[who].waiter, leader);
    ck_assert_ptr_nonnull(flight);
    ck_assert_str_eq(single_flight_key(flight), key);
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
    land(first, blob, 0);
    ck_assert_int_eq(told_count, 10);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(told[i].who, i);
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
    land(flight, NULL, -ENOSPC);
    ck_assert_int_eq(told_count, 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(told[i].who, i);
        ck_assert_ptr_null(told[i].blob);
        ck_assert_int_eq(told[i].err, -ENOSPC);
    }
    /* Neither an outcome nor an error is remembered. */
    leader = false;
    flight = join("a", 2, &leader);
    ck_assert(leader);
    land(flight, NULL, -EBUSY);
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
    ck_assert_str_eq(single_flight_key(one), "a/1");
    struct flight *two = join(key, 1, &leaders[1]), *empty = join("", 2, &leaders[2]);
    ck_assert(leaders[0] && leaders[1] && leaders[2]);
    ck_assert_ptr_ne(one, two);
    leaders[0] = true;
    ck_assert_ptr_eq(join("a/2", 3, &leaders[0]), two);
    ck_assert(!leaders[0]);

    land(two, NULL, -2);
    ck_assert_int_eq(told_count, 2);
    ck_assert_int_eq(told[0].who, 1);
    ck_assert_int_eq(told[1].who, 3);
    land(empty, NULL, -3);
    land(one, NULL, -1);
    ck_assert_int_eq(told_count, 4);
    ck_assert_int_eq(told[2].who, 2);
    ck_assert_int_eq(told[3].who, 0);
}
END_TEST

/* Whoever asks again from inside landed wants a new outcome, and leads. */
START_TEST(test_join_when_landed)
{
    bool leader = false;
    struct flight *flight = join("a", 0, &leader);
    join("a", 1, &leader);
    join("a", 2, &leader);
    passengers[0].next = &passengers[10];
    passengers[1].next = &passengers[11];
    passengers[2].next = &passengers[12];
    passengers[0].key = passengers[1].key = "a";
    passengers[2].key = "b";

    land(flight, NULL, -EIO);
    ck_assert_int_eq(told_count, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(told[i].who, i);
    ck_assert(passengers[0].next_leads);
    ck_assert(!passengers[1].next_leads);
    ck_assert(passengers[2].next_leads);
    ck_assert_ptr_eq(passengers[0].next_flight, passengers[1].next_flight);
    ck_assert_ptr_ne(passengers[0].next_flight, passengers[2].next_flight);

    struct blob *blob = blob_copy("tile", 4);
    land(passengers[0].next_flight, blob, 0);
    ck_assert_int_eq(told_count, 5);
    ck_assert_int_eq(told[3].who, 10);
    ck_assert_int_eq(told[4].who, 11);
    ck_assert_ptr_eq(told[4].blob, blob);
    land(passengers[2].next_flight, NULL, -EIO);
    ck_assert_int_eq(told_count, 6);
    blob_release(blob);
}
END_TEST

/* The same waiter boards again: its place in the old line is no longer needed. */
START_TEST(test_same_waiter_again)
{
    bool leader = false;
    struct flight *flight = join("a", 0, &leader);
    join("a", 1, &leader);
    passengers[0].next = &passengers[0];
    passengers[0].key = "a";
    land(flight, NULL, -1);
    ck_assert_int_eq(told_count, 2);
    ck_assert_int_eq(told[1].who, 1);
    ck_assert(passengers[0].next_leads);
    passengers[0].next = NULL;
    land(passengers[0].next_flight, NULL, -2);
    ck_assert_int_eq(told_count, 3);
    ck_assert_int_eq(told[2].who, 0);
    ck_assert_int_eq(told[2].err, -2);
}
END_TEST

/* Who has left is not told, and the others are, in order. */
START_TEST(test_leave)
{
    bool leader = false;
    struct flight *flight = join("a", 0, &leader);
    for (int i = 1; i < 5; i++) {
        leader = true;
        join("a", i, &leader);
    }
    ck_assert(single_flight_leave(flights,
                                  &passengers[4].waiter)); /* the last, a middle one, the first */
    ck_assert(single_flight_leave(flights, &passengers[2].waiter));
    ck_assert(single_flight_leave(flights, &passengers[0].waiter));
    ck_assert(!single_flight_leave(flights, &passengers[0].waiter));
    leader = true;
    join("a", 5, &leader);
    ck_assert(single_flight_is_wanted(flights, flight));
    land(flight, NULL, -EIO);
    ck_assert_int_eq(told_count, 3);
    ck_assert_int_eq(told[0].who, 1);
    ck_assert_int_eq(told[1].who, 3);
    ck_assert_int_eq(told[2].who, 5);
}
END_TEST

/* Once landed the outcome is on its way: it cannot be left, and comes. */
START_TEST(test_leave_too_late)
{
    bool leader = false;
    struct flight *flight = join("a", 0, &leader);
    single_flight_complete(flights, flight, NULL, -EIO);
    ck_assert_int_eq(told_count, 0);
    ck_assert(!single_flight_leave(flights, &passengers[0].waiter));
    settle();
    ck_assert_int_eq(told_count, 1);
}
END_TEST

/* The last one out: whoever then asks begins a flight of their own. */
START_TEST(test_unwanted)
{
    bool leader = false;
    struct flight *flight = join("a", 0, &leader);
    ck_assert(single_flight_leave(flights, &passengers[0].waiter));
    leader = true;
    ck_assert_ptr_eq(join("a", 1, &leader), flight); /* before anyone looked: it goes on */
    ck_assert(!leader);
    ck_assert(single_flight_is_wanted(flights, flight));
    ck_assert(single_flight_leave(flights, &passengers[1].waiter));
    ck_assert(!single_flight_is_wanted(flights, flight));
    leader = false;
    flight = join("a", 2, &leader);
    ck_assert(leader);
    land(flight, NULL, -EIO);
    ck_assert_int_eq(told_count, 1);
    ck_assert_int_eq(told[0].who, 2);
}
END_TEST

/* Blobs come home alive, though who landed has let go of them, and are freed afterwards. */
START_TEST(test_blob_at_home)
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

static int crowd_told[4096], crowd_late;

struct traveller {
    struct waiter waiter;
    int key, ticket;
};

static void arrived(struct waiter *waiter, struct blob *blob, int err)
{
    struct traveller *traveller = (struct traveller *)waiter;
    (void)blob;
    crowd_late += err != -1 - traveller->key || traveller->ticket != crowd_told[traveller->key]++;
    free(traveller);
}

/* Many keys at once, landing in any order. */
START_TEST(test_crowd)
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
            must(strcmp(single_flight_key(flight), name) == 0, "%s is %s", name,
                 single_flight_key(flight));
            open[key] = NULL;
            land(flight, NULL, -1 - key);
            must(crowd_told[key] == tickets[key], "%d of %d told", crowd_told[key], tickets[key]);
            continue;
        }
        struct traveller *traveller = malloc(sizeof *traveller);
        *traveller = (struct traveller){{.mailbox = mailbox, .completed = arrived}, key, tickets[key]++};
        bool leader = open[key] != NULL;
        struct flight *flight = single_flight_join(flights, name, &traveller->waiter, &leader);
        must(leader == !open[key], "%s: leader %d", name, leader);
        must(!open[key] || flight == open[key], "%s: another flight", name);
        open[key] = flight;
    }
    for (int key = 0; key < KEYS; key++)
        if (open[key])
            land(open[key], NULL, -1 - key);
    ck_assert_int_eq(crowd_late, 0);
    for (int key = 0; key < KEYS; key++)
        must(crowd_told[key] == tickets[key], "%d: %d of %d told", key, crowd_told[key],
             tickets[key]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flight");
    TCase *tcase = suite_case(suite, "flights");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_order);
    tcase_add_test(tcase, test_error);
    tcase_add_test(tcase, test_keys);
    tcase_add_test(tcase, test_join_when_landed);
    tcase_add_test(tcase, test_same_waiter_again);
    tcase_add_test(tcase, test_leave);
    tcase_add_test(tcase, test_leave_too_late);
    tcase_add_test(tcase, test_unwanted);
    tcase_add_test(tcase, test_blob_at_home);
    tcase_add_test(tcase, test_crowd);
    return suite_run(suite);
}
