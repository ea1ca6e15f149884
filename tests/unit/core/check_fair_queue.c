/* Fair queueing: clients share time equally, whatever their jobs' number and size. */
#include "server/core/fair_queue.h"

#include "tests/unit/support/fixtures.h"

enum { MOST = 4096 };

static struct fair_queue queue;
static struct job jobs[MOST];
static int used;

static struct job *push(uint64_t client, uint32_t cost_us, bool admitted)
{
    struct job *job = &jobs[used++ % MOST];
    *job = (struct job){.client = client, .cost_us = cost_us, .admitted = admitted};
    fair_queue_push(&queue, job);
    return job;
}

static void start(void)
{
    fair_queue_init(&queue);
    used = 0;
}

START_TEST(test_one_client)
{
    start();
    ck_assert_ptr_null(fair_queue_pop(&queue));
    for (int i = 0; i < 100; i++)
        push(7, (uint32_t)i * 100, false);
    for (int i = 0; i < 100; i++)
        ck_assert_ptr_eq(fair_queue_pop(&queue), &jobs[i]);
    ck_assert_ptr_null(fair_queue_pop(&queue));
    ck_assert_uint_eq(queue.lines, 0);
    ck_assert_uint_eq(queue.backlog_us, 0);
}
END_TEST

/* Fresh jobs of a client go first, but one in 16 is an admitted one. */
START_TEST(test_admitted)
{
    start();
    for (int i = 0; i < 10; i++)
        push(1, 500, true);
    for (int i = 0; i < 60; i++)
        push(1, 500, false);
    ck_assert_uint_eq(queue.fresh, 60);
    ck_assert_uint_eq(queue.admitted, 10);
    ck_assert_uint_eq(queue.backlog_us, 30000);
    for (int i = 0; i < 70; i++) {
        const bool admitted = i < 60 ? i % 16 == 15 : i >= 63;
        ck_assert_msg(fair_queue_pop(&queue)->admitted == admitted, "job %d", i);
    }
}
END_TEST

/* The work of some clients: each has so many jobs waiting at any time. */
static const struct {
    int clients, waiting[5];
    uint32_t cost_us[5], took_us[5];
} loads[] = {
    {2, {1, 100}, {1000, 1000}, {1000, 1000}},
    {2, {1, 1}, {30000, 1000}, {30000, 1000}},
    {3, {4, 4, 400}, {100, 4000, 30000}, {100, 4000, 30000}},
    {5, {2, 200, 200, 200, 200}, {900, 4000, 900, 100, 50000}, {900, 4000, 900, 100, 50000}},
    /* Estimates are wrong in either direction. */
    {2, {8, 8}, {1, 1000}, {20000, 1000}},
    {3, {8, 8, 8}, {50000, 1000, 1}, {1000, 1000, 1000}},
};

/* Busy clients get the same time, to within the size of their jobs. */
START_TEST(test_shares)
{
    enum { SPAN_US = 10 * 1000 * 1000 };
    int64_t got[5] = {0}, total = 0, slack = 2000;

    start();
    for (int i = 0; i < loads[_i].clients; i++) {
        slack += 2 * (int64_t)loads[_i].took_us[i];
        for (int n = 0; n < loads[_i].waiting[i]; n++)
            push((uint64_t)i, loads[_i].cost_us[i], false);
    }
    while (total < SPAN_US) {
        struct job *job = fair_queue_pop(&queue);
        const uint64_t client = job->client;
        const uint32_t took = loads[_i].took_us[client];
        fair_queue_correct(&queue, client, (int64_t)took - job->cost_us);
        got[client] += took;
        total += took;
        fair_queue_push(&queue, job);
    }
    for (int i = 0; i < loads[_i].clients; i++)
        ck_assert_msg(llabs(got[i] - total / loads[_i].clients) <= slack,
                      "row %d: client %d got %ld of %ld us", _i, i, (long)got[i], (long)total);
}
END_TEST

/* A debt is not forgotten when the line is empty for a moment. */
START_TEST(test_debt)
{
    int64_t large = 0, small = 0;

    start();
    for (int i = 0; i < 10; i++)
        push(2, 1000, false);
    struct job *dear = push(1, 40000, false);
    while (large + small < 4000000) {
        struct job *job = fair_queue_pop(&queue);
        if (job == dear)
            large += job->cost_us;
        else
            small += job->cost_us;
        /* The large one comes back a moment later. */
        if (job == dear) {
            struct job *other = fair_queue_pop(&queue);
            small += other->cost_us;
            fair_queue_push(&queue, other);
        }
        fair_queue_push(&queue, job);
    }
    ck_assert_int_le(large, small + 2 * 40000);
}
END_TEST

static const struct {
    int mine, others[3];
    uint64_t ahead;
} aheads[] = {
    {0, {0, 0, 0}, 0},    {3, {0, 0, 0}, 3000},   {0, {5, 5, 0}, 0},      {1, {5, 5, 5}, 4000},
    {2, {1, 1, 0}, 4000}, {10, {1, 0, 0}, 11000}, {1, {100, 0, 0}, 2000},
};

START_TEST(test_ahead)
{
    start();
    for (int i = 0; i < 3; i++)
        for (int n = 0; n < aheads[_i].others[i]; n++)
            push(10 + (uint64_t)i, 1000, false);
    for (int n = 0; n < aheads[_i].mine; n++)
        push(1, 1000, false);
    push(1, 9999, true); /* does not count */
    ck_assert_uint_eq(fair_queue_ahead_us(&queue, 1), aheads[_i].ahead);
}
END_TEST

START_TEST(test_longest)
{
    start();
    push(1, 1000, false);
    struct job *first = push(2, 500, false), *last = push(2, 600, false);
    push(3, 5000, true);
    ck_assert_ptr_eq(fair_queue_longest(&queue, 4, 1), last);
    ck_assert_ptr_eq(fair_queue_longest(&queue, 1, 99), last);
    ck_assert_ptr_null(fair_queue_longest(&queue, 1, 100));
    ck_assert_ptr_null(fair_queue_longest(&queue, 2, 1));
    fair_queue_remove(&queue, last);
    ck_assert_ptr_eq(fair_queue_longest(&queue, 4, 1), &jobs[0]);
    ck_assert_ptr_null(fair_queue_longest(&queue, 4, 1000));
    ck_assert_ptr_eq(fair_queue_first(&queue, 2), first);
    fair_queue_remove(&queue, first);
    ck_assert_ptr_null(fair_queue_first(&queue, 2));
    jobs[0].queued_at = 5;
    push(5, 1, false)->queued_at = 3;
    ck_assert_uint_eq(fair_queue_oldest(&queue)->client, 5);
}
END_TEST

static bool is(const struct job *job, const void *key)
{
    return job == key;
}

/* Whatever is done, the sums are right, and each job comes out once. */
START_TEST(test_random)
{
    static bool queued[MOST];
    unsigned random = (unsigned)_i + 1, fresh = 0, admitted = 0;
    uint64_t backlog = 0;

    start();
    for (int step = 0; step < 100000; step++) {
        random = random * 1664525 + 1013904223;
        const unsigned n = (random >> 8) % MOST;
        struct job *job = &jobs[n];
        if (random >> 30 == 0) {
            job = fair_queue_pop(&queue);
            if (!job)
                continue;
        } else if (queued[n]) {
            if (!job->admitted)
                ck_assert_ptr_eq(fair_queue_find(&queue, is, job), job);
            fair_queue_remove(&queue, job);
        } else {
            *job = (struct job){
                .client = random % 2048, .cost_us = random % 5000, .admitted = random % 3 == 0};
            fair_queue_push(&queue, job);
        }
        bool *is_queued = &queued[job - jobs];
        const int change = *is_queued ? -1 : 1;
        *is_queued = !*is_queued;
        if (job->admitted)
            admitted += (unsigned)change;
        else {
            fresh += (unsigned)change;
            backlog += (uint64_t)((int64_t)change * fair_queue_cost_us(job));
        }
        ck_assert_uint_eq(queue.fresh, fresh);
        ck_assert_uint_eq(queue.admitted, admitted);
        ck_assert_uint_eq(queue.backlog_us, backlog);
    }
    while (fair_queue_pop(&queue))
        ck_assert_uint_eq(queue.fresh + queue.admitted, --fresh + admitted);
}
END_TEST

/* Clients of one set have lines of their own, until there are too many. */
START_TEST(test_sets)
{
    enum { CLIENTS = FAIR_QUEUE_WAYS + 2 };
    start();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < CLIENTS; i++)
            push(5 + (uint64_t)i * FAIR_QUEUE_SETS, 1000, false);
        ck_assert_uint_eq(queue.lines, FAIR_QUEUE_WAYS);
        for (int i = 0; i < FAIR_QUEUE_WAYS; i++)
            ck_assert_uint_ge(fair_queue_ahead_us(&queue, 5 + (uint64_t)i * FAIR_QUEUE_SETS), 8000);
        ck_assert_ptr_null(fair_queue_first(&queue, 5 + CLIENTS * FAIR_QUEUE_SETS));
        for (int i = 0; i < CLIENTS; i++)
            ck_assert_ptr_nonnull(fair_queue_pop(&queue));
        ck_assert_uint_eq(queue.lines, 0);
        fair_queue_correct(&queue, 5 + CLIENTS * FAIR_QUEUE_SETS, 1); /* has no line */
    }
    /* Lines that have paid are free for others. */
    queue.now_us += 100000;
    push(99 * FAIR_QUEUE_SETS + 5, 7, false);
    ck_assert_uint_eq(fair_queue_ahead_us(&queue, 99 * FAIR_QUEUE_SETS + 5), 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fair queue");
    TCase *tcase = suite_case(suite, "lines");
    tcase_add_test(tcase, test_one_client);
    tcase_add_test(tcase, test_admitted);
    tcase_add_loop_test(tcase, test_shares, 0, ROWS(loads));
    tcase_add_test(tcase, test_debt);
    tcase_add_loop_test(tcase, test_ahead, 0, ROWS(aheads));
    tcase_add_test(tcase, test_longest);
    tcase_add_test(tcase, test_sets);
    tcase_add_loop_test(tcase, test_random, 0, 3);
    return suite_run(suite);
}
