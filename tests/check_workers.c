/* The waiting line: so many at once, the rest in order, and no more than fit. */
#include "server/workers.h"

#include <pthread.h>
#include <stdatomic.h>

#include "tests/fixtures.h"

enum { POOL = 8, MOST = 512 };

/* What a job has to itself while it runs. */
struct bench {
    atomic_int users;
    int uses; /* no atomic: a thread's alone */
};

struct task {
    struct job job;
    int number;
    int again; /* how often it submits itself once more */
    int runs, cancellations;
};

static uv_loop_t loop;
static pthread_t loop_thread;
static struct workers *workers;
static struct bench benches[POOL];
static void *stations[POOL];
static struct task tasks[MOST];

/* Jobs wait here while it is shut. */
static uv_sem_t gate;

static atomic_int running, most_running, started, faults;
static int order[MOST * 4], done_count;

static void must_not(bool fault)
{
    if (fault)
        atomic_fetch_add(&faults, 1);
}

static void run(struct job *job, void *station)
{
    struct task *task = (struct task *)job;
    struct bench *bench = station;
    must_not(pthread_equal(pthread_self(), loop_thread));
    must_not(atomic_fetch_add(&bench->users, 1) != 0);
    bench->uses++;
    int now = atomic_fetch_add(&running, 1) + 1;
    int most = atomic_load(&most_running);
    while (now > most && !atomic_compare_exchange_weak(&most_running, &most, now))
        ;
    order[atomic_fetch_add(&started, 1)] = task->number;
    task->runs++;
    uv_sem_wait(&gate);
    atomic_fetch_sub(&running, 1);
    must_not(atomic_fetch_sub(&bench->users, 1) != 1);
}

static void done(struct job *job)
{
    struct task *task = (struct task *)job;
    must_not(!pthread_equal(pthread_self(), loop_thread));
    done_count++;
    task->cancellations += job->cancelled;
    if (task->again > 0) {
        task->again--;
        must_not(workers_submit(workers, job) != 0);
    }
}

static void make(unsigned count, unsigned capacity)
{
    for (int i = 0; i < POOL; i++)
        stations[i] = &benches[i];
    for (int i = 0; i < MOST; i++)
        tasks[i] = (struct task){.job = {.run = run, .done = done}, .number = i};
    loop_thread = pthread_self();
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(uv_sem_init(&gate, 0), 0);
    ck_assert_int_eq(workers_new(&workers, &loop, stations, count, capacity), 0);
}

static void open_gate(int times)
{
    while (times-- > 0)
        uv_sem_post(&gate);
}

static void finish(void)
{
    ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    ck_assert_uint_eq(workers_running(workers), 0);
    ck_assert_uint_eq(workers_waiting(workers), 0);
    ck_assert_int_eq(atomic_load(&faults), 0);
    workers_free(workers);
    workers_free(NULL);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    uv_sem_destroy(&gate);
}

/* Until NUMBER jobs have begun. */
static void await_started(int number)
{
    for (int i = 0; i < 10000 && atomic_load(&started) < number; i++)
        usleep(1000);
    ck_assert_int_eq(atomic_load(&started), number);
}

START_TEST(test_idle)
{
    make(POOL, 1);
    finish();
}
END_TEST

START_TEST(test_at_once)
{
    unsigned count = (unsigned)_i;
    make(count, MOST);
    for (unsigned i = 0; i < 64; i++) {
        ck_assert_int_eq(workers_submit(workers, &tasks[i].job), 0);
        ck_assert_uint_eq(workers_running(workers), i < count ? i + 1 : count);
        ck_assert_uint_eq(workers_waiting(workers), i < count ? 0 : i + 1 - count);
    }
    await_started((int)count);
    usleep(20000);
    /* No more than there are stations, even though the pool has more threads. */
    ck_assert_int_eq(atomic_load(&started), (int)count);
    open_gate(64);
    finish();
    ck_assert_int_eq(done_count, 64);
    ck_assert_int_eq(atomic_load(&started), 64);
    ck_assert_int_eq(atomic_load(&most_running), (int)count);
    int uses = 0;
    for (int i = 0; i < POOL; i++) {
        uses += benches[i].uses;
        if (i >= (int)count)
            ck_assert_int_eq(benches[i].uses, 0);
    }
    ck_assert_int_eq(uses, 64);
}
END_TEST

START_TEST(test_order)
{
    make(1, MOST);
    for (int i = 0; i < MOST; i++)
        ck_assert_int_eq(workers_submit(workers, &tasks[MOST - 1 - i].job), 0);
    open_gate(MOST);
    finish();
    for (int i = 0; i < MOST; i++)
        ck_assert_int_eq(order[i], MOST - 1 - i);
}
END_TEST

START_TEST(test_capacity)
{
    enum { COUNT = 2 };
    unsigned capacity = (unsigned)_i;
    make(COUNT, capacity);
    int fit = COUNT + (int)capacity;
    for (int i = 0; i < fit; i++)
        ck_assert_msg(workers_submit(workers, &tasks[i].job) == 0, "job %d of %d", i, fit);
    struct task before = tasks[fit];
    ck_assert_int_eq(workers_submit(workers, &tasks[fit].job), UV_EBUSY);
    ck_assert_int_eq(workers_submit(workers, &tasks[fit].job), UV_EBUSY);
    /* Untouched. */
    ck_assert_mem_eq(&before, &tasks[fit], sizeof before);
    ck_assert_uint_eq(workers_waiting(workers), capacity);

    /* There is room again where one is done. */
    open_gate(1);
    while (done_count == 0)
        uv_run(&loop, UV_RUN_ONCE);
    ck_assert_int_eq(workers_submit(workers, &tasks[fit].job), 0);
    ck_assert_int_eq(workers_submit(workers, &tasks[fit + 1].job), UV_EBUSY);
    open_gate(fit);
    finish();
    ck_assert_int_eq(done_count, fit + 1);
    ck_assert_int_eq(atomic_load(&started), fit + 1);
}
END_TEST

/* A job that submits itself goes to the end of the line. */
START_TEST(test_again)
{
    make(1, 8);
    for (int i = 0; i < 3; i++) {
        tasks[i].again = 2;
        ck_assert_int_eq(workers_submit(workers, &tasks[i].job), 0);
    }
    open_gate(9);
    finish();
    ck_assert_int_eq(done_count, 9);
    for (int i = 0; i < 9; i++)
        ck_assert_int_eq(order[i], i % 3);
}
END_TEST

/* Alone, with no room to wait: its own station is free when done is called. */
START_TEST(test_again_at_once)
{
    make(1, (unsigned)_i);
    tasks[0].again = 100;
    ck_assert_int_eq(workers_submit(workers, &tasks[0].job), 0);
    open_gate(101);
    finish();
    ck_assert_int_eq(done_count, 101);
}
END_TEST

static void free_job(struct job *job)
{
    must_not(pthread_equal(pthread_self(), loop_thread) == 0);
    done_count++;
    free(job);
}

/* Jobs that do not outlive their done. */
START_TEST(test_free)
{
    make(3, MOST);
    for (int i = 0; i < 200; i++) {
        struct task *task = calloc(1, sizeof *task);
        *task = (struct task){.job = {.run = run, .done = free_job}, .number = i};
        ck_assert_int_eq(workers_submit(workers, &task->job), 0);
    }
    open_gate(100);
    while (done_count < 100)
        uv_run(&loop, UV_RUN_ONCE);
    workers_cancel(workers);
    open_gate(100);
    finish();
    ck_assert_int_eq(done_count, 200);
}
END_TEST

/* Those that wait are told so, in order; those that run come to their end. */
START_TEST(test_cancel)
{
    make(2, MOST);
    workers_cancel(workers);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(workers_submit(workers, &tasks[i].job), 0);
    await_started(2);
    workers_cancel(workers);
    ck_assert_int_eq(done_count, 8);
    ck_assert_uint_eq(workers_waiting(workers), 0);
    ck_assert_uint_eq(workers_running(workers), 2);
    workers_cancel(workers);
    ck_assert_int_eq(done_count, 8);
    /* The line is open again. */
    ck_assert_int_eq(workers_submit(workers, &tasks[5].job), 0);
    open_gate(3);
    finish();
    ck_assert_int_eq(done_count, 11);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(tasks[i].runs, i < 2 || i == 5);
        ck_assert_int_eq(tasks[i].cancellations, i >= 2);
    }
}
END_TEST

/* Who submits again when cancelled waits again, and is not cancelled without end. */
START_TEST(test_cancel_again)
{
    make(1, 3);
    for (int i = 0; i < 4; i++) {
        tasks[i].again = i > 0;
        ck_assert_int_eq(workers_submit(workers, &tasks[i].job), 0);
    }
    await_started(1);
    workers_cancel(workers);
    ck_assert_int_eq(done_count, 3);
    ck_assert_uint_eq(workers_waiting(workers), 3);
    open_gate(4);
    finish();
    ck_assert_int_eq(done_count, 7);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(order[i], i);
        ck_assert_int_eq(tasks[i].runs, 1);
        ck_assert_int_eq(tasks[i].cancellations, i > 0);
        ck_assert(!tasks[i].job.cancelled);
    }
}
END_TEST

/* Many short jobs on all stations, each several times over. */
START_TEST(test_crowd)
{
    make(POOL, MOST);
    for (int i = 0; i < MOST; i++) {
        tasks[i].again = 3;
        ck_assert_int_eq(workers_submit(workers, &tasks[i].job), 0);
    }
    open_gate(MOST * 4);
    finish();
    ck_assert_int_eq(done_count, MOST * 4);
    ck_assert_int_le(atomic_load(&most_running), POOL);
    int uses = 0;
    for (int i = 0; i < POOL; i++)
        uses += benches[i].uses;
    ck_assert_int_eq(uses, MOST * 4);
}
END_TEST

int main(void)
{
    setenv("UV_THREADPOOL_SIZE", "8", 1); /* POOL, and before libuv's first use */
    Suite *suite = suite_create("workers");
    TCase *tcase = suite_case(suite, "line");
    tcase_add_test(tcase, test_idle);
    tcase_add_loop_test(tcase, test_at_once, 1, 5);
    tcase_add_test(tcase, test_order);
    tcase_add_loop_test(tcase, test_capacity, 0, 5);
    tcase_add_test(tcase, test_again);
    tcase_add_loop_test(tcase, test_again_at_once, 0, 3);
    tcase_add_test(tcase, test_cancel);
    tcase_add_test(tcase, test_cancel_again);
    tcase_add_test(tcase, test_free);
    tcase_add_test(tcase, test_crowd);
    return suite_run(suite);
}
