/* The render threads: so many at once, the rest in order of rank, and no more than fit. */
#include "server/core/work_queue.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <uv.h>

#include "tests/unit/support/fixtures.h"

enum { POOL = 8, MOST = 512, PATIENT = 60 * 1000 };

/* What a job has to itself while it runs. */
struct bench {
    atomic_int users;
    int uses; /* no atomic: a thread's alone */
};

struct task {
    struct job job;
    int number;
    int again; /* how often it submits itself once more */
    int runs, cancellations, refusals;
};

static struct work_queue *workers;
static struct bench benches[POOL];
static void *stations[POOL];
static struct task tasks[MOST];

/* Jobs wait here while it is shut. */
static uv_sem_t gate;

static uv_thread_t main_thread;
static atomic_int running, most_running, started, done, faults;
static int order[MOST * 4];

static void must_not(bool fault)
{
    if (fault)
        atomic_fetch_add(&faults, 1);
}

static bool on_main_thread(void)
{
    uv_thread_t self = uv_thread_self();
    return uv_thread_equal(&self, &main_thread);
}

static void submit_again(struct task *task)
{
    if (task->again == 0)
        return;
    task->again--;
    int err = work_queue_submit(workers, &task->job);
    task->refusals += err == -ECANCELED;
    must_not(err != 0 && err != -ECANCELED);
}

static void run(struct job *job, void *thread_state)
{
    struct task *task = (struct task *)job;
    struct bench *bench = thread_state;
    must_not(on_main_thread() != !thread_state);
    if (!thread_state) {
        task->cancellations++;
        submit_again(task);
        atomic_fetch_add(&done, 1);
        return;
    }
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
    submit_again(task);
    atomic_fetch_add(&done, 1);
}

static void make(unsigned count, unsigned capacity, unsigned patience_ms)
{
    for (int i = 0; i < POOL; i++)
        stations[i] = &benches[i];
    for (int i = 0; i < MOST; i++)
        tasks[i] = (struct task){.job = {.run = run}, .number = i};
    main_thread = uv_thread_self();
    ck_assert_int_eq(uv_sem_init(&gate, 0), 0);
    ck_assert_int_eq(work_queue_new(&workers, stations, count, capacity, patience_ms), 0);
}

static int submit(int number)
{
    return work_queue_submit(workers, &tasks[number].job);
}

static void open_gate(int times)
{
    while (times-- > 0)
        uv_sem_post(&gate);
}

/* Until COUNT is NUMBER, which it must not exceed. */
static void await(atomic_int *count, int number)
{
    for (int i = 0; i < 20000 && atomic_load(count) < number; i++)
        usleep(1000);
    ck_assert_int_eq(atomic_load(count), number);
}

/* After NUMBER jobs have been done. */
static void finish(int number)
{
    await(&done, number);
    work_queue_free(workers);
    work_queue_free(NULL);
    ck_assert_int_eq(atomic_load(&done), number);
    ck_assert_int_eq(atomic_load(&faults), 0);
    uv_sem_destroy(&gate);
}

START_TEST(test_idle)
{
    make(POOL, 1, PATIENT);
    work_queue_cancel(workers);
    ck_assert_uint_eq(work_queue_running(workers), 0);
    ck_assert_uint_eq(work_queue_waiting(workers), 0);
    ck_assert_uint_eq(work_queue_longest_run_ms(workers), 0);
    work_queue_stop(workers);
    work_queue_stop(workers);
    finish(0);
}
END_TEST

START_TEST(test_at_once)
{
    unsigned count = (unsigned)_i;
    make(count, MOST, PATIENT);
    for (unsigned i = 0; i < 64; i++) {
        ck_assert_int_eq(submit((int)i), 0);
        ck_assert_uint_eq(work_queue_running(workers), i < count ? i + 1 : count);
        ck_assert_uint_eq(work_queue_waiting(workers), i < count ? 0 : i + 1 - count);
    }
    await(&started, (int)count);
    usleep(20000);
    ck_assert_int_eq(atomic_load(&started), (int)count);
    open_gate(64);
    finish(64);
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
    make(1, MOST, PATIENT);
    for (int i = 0; i < MOST; i++)
        ck_assert_int_eq(submit(MOST - 1 - i), 0);
    open_gate(MOST);
    finish(MOST);
    for (int i = 0; i < MOST; i++)
        ck_assert_int_eq(order[i], MOST - 1 - i);
}
END_TEST

/* Interactive jobs first, but every 16th is of the background; both in order. */
START_TEST(test_ranks)
{
    enum { INTERACTIVE = 100, BACKGROUND = 20, ALL = INTERACTIVE + BACKGROUND };
    make(1, MOST, PATIENT);
    ck_assert_int_eq(submit(MOST - 1), 0);
    await(&started, 1);
    for (int i = INTERACTIVE; i < ALL; i++) {
        tasks[i].job.rank = JOB_BACKGROUND;
        ck_assert_int_eq(submit(i), 0);
    }
    for (int i = 0; i < INTERACTIVE; i++)
        ck_assert_int_eq(submit(i), 0);
    open_gate(1 + ALL);
    finish(1 + ALL);
    int next[JOB_RANKS] = {0, INTERACTIVE};
    for (int i = 0; i < ALL; i++) {
        bool background = i % 16 == 15 || next[JOB_INTERACTIVE] == INTERACTIVE;
        ck_assert_int_eq(order[1 + i], next[background]++);
    }
}
END_TEST

static bool is_number(const struct job *job, const void *number)
{
    return ((const struct task *)job)->number == *(const int *)number;
}

/* Those of the background that are promoted go to the end of the better line, and only they. */
START_TEST(test_promote)
{
    static const struct {
        int promoted[4], order[7];
    } rows[] = {
        {{0}, {1, 2, 10, 11, 12, 13, 14}},        {{10}, {1, 2, 10, 11, 12, 13, 14}},
        {{13}, {1, 2, 13, 10, 11, 12, 14}},       {{13, 12}, {1, 2, 13, 12, 10, 11, 14}},
        {{11}, {1, 2, 11, 10, 12, 13, 14}},       {{11, 11}, {1, 2, 11, 10, 12, 13, 14}},
        {{1, 2, 99}, {1, 2, 10, 11, 12, 13, 14}}, {{12, 10, 11, 13}, {1, 2, 12, 10, 11, 13, 14}},
    };
    make(1, MOST, PATIENT);
    ck_assert_int_eq(submit(MOST - 1), 0);
    await(&started, 1);
    for (int i = 10; i < 13; i++) {
        tasks[i].job.rank = JOB_BACKGROUND;
        ck_assert_int_eq(submit(i), 0);
    }
    ck_assert_int_eq(submit(1), 0);
    ck_assert_int_eq(submit(2), 0);
    tasks[13].job.rank = JOB_BACKGROUND;
    ck_assert_int_eq(submit(13), 0);
    for (int i = 0; i < 4 && rows[_i].promoted[i]; i++) {
        const int number = rows[_i].promoted[i];
        const bool waits = number >= 10 && number < 14 && tasks[number].job.rank == JOB_BACKGROUND;
        ck_assert_int_eq(work_queue_promote(workers, is_number, &number), waits);
    }
    tasks[14].job.rank = JOB_BACKGROUND;
    ck_assert_int_eq(submit(14), 0);
    ck_assert_uint_eq(work_queue_waiting(workers), 7);
    open_gate(8);
    finish(8);
    for (int i = 0; i < 7; i++)
        ck_assert_int_eq(order[1 + i], rows[_i].order[i]);
}
END_TEST

/* Who was promoted does not stand in the line of the background any more. */
START_TEST(test_promote_often)
{
    enum { ROUNDS = 100, PATIENCE_MS = 20, JOB_MS = 1 };
    make(1, MOST, PATIENCE_MS);
    for (int i = 0; i < ROUNDS; i++) {
        const int number = 1;
        tasks[1].job.rank = JOB_BACKGROUND;
        ck_assert_int_eq(submit(0), 0);
        await(&started, 2 * i + 1);
        ck_assert_msg(submit(1) == 0, "round %d", i);
        ck_assert(work_queue_promote(workers, is_number, &number));
        usleep(JOB_MS * 1000);
        open_gate(2);
        await(&done, 2 * i + 2);
    }
    finish(2 * ROUNDS);
}
END_TEST

START_TEST(test_capacity)
{
    enum { COUNT = 2 };
    unsigned capacity = (unsigned)_i;
    make(COUNT, capacity, PATIENT);
    int fit = COUNT + (int)capacity;
    for (int i = 0; i < fit; i++)
        ck_assert_msg(submit(i) == 0, "job %d of %d", i, fit);
    ck_assert_int_eq(submit(fit), -EBUSY);
    ck_assert_int_eq(submit(fit), -EBUSY);
    ck_assert_uint_eq(work_queue_waiting(workers), capacity);

    /* There is room again where one is done. */
    open_gate(1);
    await(&done, 1);
    while (work_queue_running(workers) + work_queue_waiting(workers) == (unsigned)fit)
        usleep(1000);
    ck_assert_int_eq(submit(fit), 0);
    ck_assert_int_eq(submit(fit + 1), -EBUSY);
    open_gate(fit);
    finish(fit + 1);
    ck_assert_int_eq(atomic_load(&started), fit + 1);
}
END_TEST

/* What is owed is not refused, and counts. */
START_TEST(test_owed)
{
    make(1, 1, PATIENT);
    ck_assert_int_eq(submit(0), 0);
    await(&started, 1);
    ck_assert_int_eq(submit(1), 0);
    ck_assert_int_eq(submit(2), -EBUSY);
    tasks[3].job.owed = true;
    tasks[3].job.rank = JOB_BACKGROUND;
    ck_assert_int_eq(submit(3), 0);
    ck_assert_uint_eq(work_queue_waiting(workers), 2);
    ck_assert_int_eq(submit(2), -EBUSY);
    open_gate(3);
    finish(3);
}
END_TEST

/* The background finds a place while no more than half of them are taken. */
START_TEST(test_background_capacity)
{
    static const struct {
        unsigned capacity;
        int interactive, background; /* so many of either wait */
    } rows[] = {{0, 0, 0}, {1, 0, 1}, {1, 1, 0}, {2, 0, 2}, {2, 1, 1},
                {2, 2, 0}, {8, 0, 5}, {8, 4, 1}, {8, 5, 0}, {8, 2, 3}};
    const int worker = 1, all = rows[_i].interactive + rows[_i].background;
    make(1, rows[_i].capacity, PATIENT);
    for (int i = MOST / 2; i < MOST; i++)
        tasks[i].job.rank = JOB_BACKGROUND;
    /* A free worker takes either. */
    ck_assert_int_eq(submit(_i % 2 ? MOST - 1 : 0), 0);
    await(&started, 1);
    for (int i = 1; i <= rows[_i].interactive; i++)
        ck_assert_int_eq(submit(i), 0);
    for (int i = 0; i < rows[_i].background; i++)
        ck_assert_msg(submit(MOST / 2 + i) == 0, "row %d: job %d", _i, i);
    ck_assert_int_eq(submit(MOST - 2), -EBUSY);
    int more = (int)rows[_i].capacity - all;
    for (int i = 0; i < more; i++)
        ck_assert_int_eq(submit(100 + i), 0);
    ck_assert_int_eq(submit(200), -EBUSY);
    open_gate(worker + all + more);
    finish(worker + all + more);
}
END_TEST

/* No more join a line whose first has waited too long; those that are in it stay. */
START_TEST(test_patience)
{
    make(1, MOST, 50);
    tasks[10].job.rank = tasks[11].job.rank = JOB_BACKGROUND;
    ck_assert_int_eq(submit(0), 0);
    await(&started, 1);
    ck_assert_int_eq(submit(10), 0);
    usleep(60000);
    /* Of the background that is so, and of those that go before it not yet. */
    ck_assert_int_eq(submit(11), -EBUSY);
    ck_assert_int_eq(submit(1), 0);
    ck_assert_int_eq(submit(2), 0);
    usleep(60000);
    ck_assert_int_eq(submit(3), -EBUSY);
    work_queue_limit(workers, MOST, PATIENT);
    ck_assert_int_eq(submit(3), 0);
    ck_assert_int_eq(submit(11), 0);
    work_queue_limit(workers, 4, PATIENT);
    ck_assert_int_eq(submit(4), -EBUSY);
    ck_assert_uint_eq(work_queue_waiting(workers), 5);
    work_queue_limit(workers, MOST, 50);
    ck_assert_int_eq(submit(4), -EBUSY);
    open_gate(3);
    await(&started, 4);
    usleep(60000);
    /* Only the background waits. */
    ck_assert_int_eq(submit(11 + 1), 0);
    open_gate(4);
    finish(7);
}
END_TEST

/* Who rests after work does not let a job that comes out of the blue wait, and forgets none that
 * comes meanwhile. */
START_TEST(test_rest)
{
    make(1, MOST, PATIENT);
    work_queue_set_batch_delay(workers, 200000);
    const uint64_t begun = uv_hrtime();
    ck_assert_int_eq(submit(0), 0);
    await(&started, 1);
    ck_assert_uint_lt(uv_hrtime() - begun, 150000000);
    open_gate(1);
    await(&done, 1);
    ck_assert_int_eq(submit(1), 0);
    ck_assert_int_eq(submit(2), 0);
    open_gate(2);
    await(&done, 3);
    finish(3);
}
END_TEST

/* A crowd that comes at once: those who would have to wait for far too long are told so now. */
START_TEST(test_pace)
{
    int accepted = 0;
    make(1, MOST, 20);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(submit(i), 0);
        await(&started, i + 1);
        usleep(20000);
        open_gate(1);
        await(&done, i + 1);
    }
    ck_assert_int_eq(submit(4), 0);
    await(&started, 5);
    while (submit(5 + accepted) == 0 && 5 + accepted < MOST - 2)
        accepted++;
    /* 60 ms, three times the patience, at 20 ms a job or somewhat more. */
    ck_assert_int_ge(accepted, 1);
    ck_assert_int_le(accepted, 4);
    work_queue_limit(workers, MOST, PATIENT);
    ck_assert_int_eq(submit(MOST - 1), 0);
    open_gate(2 + accepted);
    finish(6 + accepted);
}
END_TEST

/* The background does not join behind interactive jobs that have waited too long. */
START_TEST(test_patience_of_better)
{
    make(1, MOST, 50);
    tasks[10].job.rank = JOB_BACKGROUND;
    ck_assert_int_eq(submit(0), 0);
    await(&started, 1);
    ck_assert_int_eq(submit(1), 0);
    ck_assert_int_eq(submit(10), 0);
    work_queue_cancel(workers);
    ck_assert_int_eq(submit(1), 0);
    usleep(60000);
    ck_assert_int_eq(submit(10), -EBUSY);
    open_gate(2);
    finish(4);
}
END_TEST

START_TEST(test_longest_run)
{
    make(2, MOST, PATIENT);
    ck_assert_int_eq(submit(0), 0);
    await(&started, 1);
    usleep(50000);
    ck_assert_int_eq(submit(1), 0);
    await(&started, 2);
    ck_assert_uint_ge(work_queue_longest_run_ms(workers), 50);
    ck_assert_uint_lt(work_queue_longest_run_ms(workers), PATIENT);
    open_gate(2);
    await(&done, 2);
    while (work_queue_running(workers))
        usleep(1000);
    ck_assert_uint_eq(work_queue_longest_run_ms(workers), 0);
    finish(2);
}
END_TEST

/* A job that submits itself goes to the end of the line. */
START_TEST(test_again)
{
    make(1, 8, PATIENT);
    for (int i = 0; i < 3; i++) {
        tasks[i].again = 2;
        ck_assert_int_eq(submit(i), 0);
    }
    open_gate(9);
    finish(9);
    for (int i = 0; i < 9; i++)
        ck_assert_int_eq(order[i], i % 3);
}
END_TEST

static void free_job(struct job *job, void *thread_state)
{
    must_not(!thread_state != on_main_thread());
    free(job);
    if (thread_state)
        uv_sem_wait(&gate);
    atomic_fetch_add(&done, 1);
}

/* Jobs that do not outlive their run. */
START_TEST(test_free)
{
    make(3, MOST, PATIENT);
    for (int i = 0; i < 200; i++) {
        struct task *task = calloc(1, sizeof *task);
        task->job.run = free_job;
        ck_assert_int_eq(work_queue_submit(workers, &task->job), 0);
    }
    open_gate(100);
    await(&done, 100);
    work_queue_cancel(workers);
    open_gate(3);
    finish(200);
}
END_TEST

/* Those that wait are told so, by rank and in order; those that run come to their end. */
START_TEST(test_cancel)
{
    make(2, MOST, PATIENT);
    tasks[4].job.rank = JOB_BACKGROUND;
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(submit(i), 0);
    await(&started, 2);
    work_queue_cancel(workers);
    ck_assert_int_eq(atomic_load(&done), 8);
    ck_assert_uint_eq(work_queue_waiting(workers), 0);
    ck_assert_uint_eq(work_queue_running(workers), 2);
    work_queue_cancel(workers);
    ck_assert_int_eq(atomic_load(&done), 8);
    /* The line is open again. */
    ck_assert_int_eq(submit(4), 0);
    ck_assert_int_eq(submit(5), 0);
    open_gate(4);
    finish(12);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(tasks[i].runs, i < 2 || i == 4 || i == 5);
        ck_assert_int_eq(tasks[i].cancellations, i >= 2);
    }
}
END_TEST

/* Who submits again when cancelled waits again, and is not cancelled without end. */
START_TEST(test_cancel_again)
{
    make(1, 3, PATIENT);
    for (int i = 0; i < 4; i++) {
        tasks[i].again = i > 0;
        ck_assert_int_eq(submit(i), 0);
    }
    await(&started, 1);
    work_queue_cancel(workers);
    ck_assert_int_eq(atomic_load(&done), 3);
    ck_assert_uint_eq(work_queue_waiting(workers), 3);
    open_gate(4);
    finish(7);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(order[i], i);
        ck_assert_int_eq(tasks[i].runs, 1);
        ck_assert_int_eq(tasks[i].cancellations, i > 0);
    }
}
END_TEST

static void open_later(void *argument)
{
    (void)argument;
    usleep(50000);
    open_gate(2);
}

/* Stopping waits for those that run, and lets nobody in, those neither that run. */
START_TEST(test_stop)
{
    uv_thread_t opener;
    make(2, MOST, PATIENT);
    for (int i = 0; i < 10; i++) {
        tasks[i].again = 1;
        ck_assert_int_eq(submit(i), 0);
    }
    await(&started, 2);
    ck_assert_int_eq(uv_thread_create(&opener, open_later, NULL), 0);
    work_queue_stop(workers);
    uv_thread_join(&opener);
    ck_assert_int_eq(atomic_load(&done), 10);
    ck_assert_uint_eq(work_queue_running(workers), 0);
    ck_assert_uint_eq(work_queue_waiting(workers), 0);
    ck_assert_int_eq(submit(0), -ECANCELED);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(tasks[i].runs, i < 2);
        ck_assert_int_eq(tasks[i].cancellations, i >= 2);
        ck_assert_int_eq(tasks[i].refusals, 1);
    }
    finish(10);
}
END_TEST

/* Where threads cannot be had there are none, and no crash. */
START_TEST(test_no_threads)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* neither fits in so little \
                                                                     */
    enum { MANY = 4096 };
    static void *many[MANY];
    const struct rlimit little = {UINT64_C(1) << 30, UINT64_C(1) << 30};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &little), 0);
    ck_assert_int_eq(work_queue_new(&workers, many, MANY, 1, PATIENT), -EAGAIN);
    make(1, 1, PATIENT);
    ck_assert_int_eq(submit(0), 0);
    open_gate(1);
    finish(1);
#endif
}
END_TEST

enum { SHARDS = 4, JOBS = 2000 };

struct shard {
    uv_thread_t thread;
    struct shard_job {
        struct job job;
        uint64_t sum; /* written here and there: the lock hands it over */
        struct shard *shard;
    } jobs[JOBS];
    atomic_int runs;
};

static void count_run(struct job *job, void *thread_state)
{
    struct shard_job *mine = (struct shard_job *)job;
    must_not(mine->sum != 1);
    mine->sum++;
    ((struct bench *)thread_state)->uses++;
    atomic_fetch_add(&mine->shard->runs, 1);
}

static void submit_many(void *argument)
{
    struct shard *shard = argument;
    int taken = 0;
    for (int i = 0; i < JOBS; i++) {
        shard->jobs[i] = (struct shard_job){{.run = count_run, .rank = i % JOB_RANKS}, 1, shard};
        taken += work_queue_submit(workers, &shard->jobs[i].job) == 0;
        must_not(work_queue_waiting(workers) > MOST);
        must_not(work_queue_running(workers) > POOL / 2);
    }
    for (int i = 0; i < 20000 && atomic_load(&shard->runs) < taken; i++)
        usleep(1000);
    must_not(atomic_load(&shard->runs) != taken);
}

/* Several threads submit at once. */
START_TEST(test_shards)
{
    static struct shard shards[SHARDS];
    make(POOL / 2, MOST, PATIENT);
    for (int i = 0; i < SHARDS; i++)
        ck_assert_int_eq(uv_thread_create(&shards[i].thread, submit_many, &shards[i]), 0);
    int runs = 0, uses = 0;
    for (int i = 0; i < SHARDS; i++) {
        uv_thread_join(&shards[i].thread);
        runs += atomic_load(&shards[i].runs);
    }
    finish(0);
    for (int i = 0; i < POOL; i++)
        uses += benches[i].uses;
    ck_assert_int_eq(uses, runs);
    ck_assert_int_gt(runs, MOST / 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("workers");
    TCase *tcase = suite_case(suite, "line");
    tcase_add_test(tcase, test_idle);
    tcase_add_loop_test(tcase, test_at_once, 1, 5);
    tcase_add_test(tcase, test_order);
    tcase_add_test(tcase, test_ranks);
    tcase_add_loop_test(tcase, test_promote, 0, 8);
    tcase_add_test(tcase, test_promote_often);
    tcase_add_loop_test(tcase, test_capacity, 0, 5);
    tcase_add_test(tcase, test_owed);
    tcase_add_loop_test(tcase, test_background_capacity, 0, 10);
    tcase_add_test(tcase, test_patience);
    tcase_add_test(tcase, test_patience_of_better);
    tcase_add_test(tcase, test_rest);
    tcase_add_test(tcase, test_pace);
    tcase_add_test(tcase, test_longest_run);
    tcase_add_test(tcase, test_again);
    tcase_add_test(tcase, test_free);
    tcase_add_test(tcase, test_cancel);
    tcase_add_test(tcase, test_cancel_again);
    tcase_add_test(tcase, test_stop);
    tcase_add_test(tcase, test_no_threads);
    tcase_add_test(tcase, test_shards);
    return suite_run(suite);
}
