/* The work queue: a number of jobs at once, the others queued by rank, the excess refused. */
#include "server/core/work_queue.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <uv.h>

#include "tests/unit/support/fixtures.h"

enum { POOL = 8, MOST = 512, PATIENT = 60 * 1000 };

/* The state of a thread, which a job has to itself while it runs. */
struct state {
    atomic_int users;
    int uses; /* not atomic: one thread's */
};

struct task {
    struct job job;
    int number;
    int again; /* how often it submits itself again */
    int runs, cancellations, refusals;
};

static struct work_queue *queue;
static struct clock time_held = {.ns = 1}; /* moved by the tests alone */
static struct state states[POOL];
static void *thread_states[POOL];
static struct task tasks[MOST];

/* Jobs wait here until it is opened for them. */
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
    int err = work_queue_submit(queue, &task->job);
    task->refusals += err == -ECANCELED;
    must_not(err != 0 && err != -ECANCELED);
}

static void cancel(struct job *job)
{
    struct task *task = (struct task *)job;
    must_not(!on_main_thread());
    task->cancellations++;
    submit_again(task);
    atomic_fetch_add(&done, 1);
}

static void run(struct job *job, void *thread_state)
{
    struct task *task = (struct task *)job;
    struct state *state = thread_state;
    must_not(on_main_thread());
    must_not(atomic_fetch_add(&state->users, 1) != 0);
    state->uses++;
    int now = atomic_fetch_add(&running, 1) + 1;
    int most = atomic_load(&most_running);
    while (now > most && !atomic_compare_exchange_weak(&most_running, &most, now))
        ;
    order[atomic_fetch_add(&started, 1)] = task->number;
    task->runs++;
    uv_sem_wait(&gate);
    atomic_fetch_sub(&running, 1);
    must_not(atomic_fetch_sub(&state->users, 1) != 1);
    submit_again(task);
    atomic_fetch_add(&done, 1);
}

static void make_with(const struct work_queue_options *options)
{
    for (int i = 0; i < POOL; i++)
        thread_states[i] = &states[i];
    for (int i = 0; i < MOST; i++)
        tasks[i] = (struct task){.job = {.run = run, .cancel = cancel}, .number = i};
    main_thread = uv_thread_self();
    ck_assert_int_eq(uv_sem_init(&gate, 0), 0);
    ck_assert_int_eq(work_queue_new(&queue, options), 0);
}

static void make(unsigned threads, unsigned capacity, unsigned patience_ms)
{
    make_with(&(struct work_queue_options){.threads = threads,
                                           .thread_states = thread_states,
                                           .capacity = capacity,
                                           .patience_ms = patience_ms,
                                           .clock = &time_held});
}

static void pass_ms(unsigned ms)
{
    clock_advance(&time_held, ms * NS_PER_MS);
}

static int submit(int number)
{
    return work_queue_submit(queue, &tasks[number].job);
}

static void open_gate(int times)
{
    while (times-- > 0)
        uv_sem_post(&gate);
}

/* Wait until COUNT is NUMBER, which it must not exceed. */
static void await(atomic_int *count, int number)
{
    while (atomic_load(count) < number)
        usleep(100);
    ck_assert_int_eq(atomic_load(count), number);
}

/* Wait until the threads have charged the time of all jobs that are done. */
static void await_idle(void)
{
    while (work_queue_running(queue) > 0)
        usleep(100);
}

/* Free the queue after NUMBER jobs have been run or cancelled. */
static void finish(int number)
{
    await(&done, number);
    work_queue_free(queue);
    work_queue_free(NULL);
    ck_assert_int_eq(atomic_load(&done), number);
    ck_assert_int_eq(atomic_load(&faults), 0);
    uv_sem_destroy(&gate);
}

START_TEST(test_idle)
{
    make(POOL, 1, PATIENT);
    ck_assert_uint_eq(work_queue_running(queue), 0);
    ck_assert_uint_eq(work_queue_waiting(queue), 0);
    ck_assert_uint_eq(work_queue_longest_run_ms(queue), 0);
    work_queue_stop(queue);
    work_queue_stop(queue);
    finish(0);
}
END_TEST

START_TEST(test_at_once)
{
    unsigned count = (unsigned)_i;
    make(count, MOST, PATIENT);
    for (unsigned i = 0; i < 64; i++) {
        ck_assert_int_eq(submit((int)i), 0);
        ck_assert_uint_eq(work_queue_running(queue), i < count ? i + 1 : count);
        ck_assert_uint_eq(work_queue_waiting(queue), i < count ? 0 : i + 1 - count);
    }
    await(&started, (int)count);
    usleep(1000); /* for any job that is started too early */
    ck_assert_int_eq(atomic_load(&started), (int)count);
    open_gate(64);
    finish(64);
    ck_assert_int_eq(atomic_load(&started), 64);
    ck_assert_int_eq(atomic_load(&most_running), (int)count);
    int uses = 0;
    for (int i = 0; i < POOL; i++) {
        uses += states[i].uses;
        if (i >= (int)count)
            ck_assert_int_eq(states[i].uses, 0);
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

/* Interactive jobs go first, but every 16th job is a background one; both ranks in order. */
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

/* A queued background job that an interactive one joins goes behind those of its new client. */
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
        ck_assert_int_eq(work_queue_join(queue, is_number, &number, JOB_INTERACTIVE, 0),
                         number < 14);
    }
    tasks[14].job.rank = JOB_BACKGROUND;
    ck_assert_int_eq(submit(14), 0);
    ck_assert_uint_eq(work_queue_waiting(queue), 7);
    open_gate(8);
    finish(8);
    for (int i = 0; i < 7; i++)
        ck_assert_int_eq(order[1 + i], rows[_i].order[i]);
}
END_TEST

/* A promoted job no longer counts as a background one that has waited too long: a queue that still
 * had it would refuse others after 20 rounds. */
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
        ck_assert(work_queue_join(queue, is_number, &number, JOB_INTERACTIVE, 0));
        pass_ms(JOB_MS);
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
    ck_assert_uint_eq(work_queue_waiting(queue), capacity);

    /* A finished job makes room for one more. */
    open_gate(1);
    await(&done, 1);
    while (work_queue_running(queue) + work_queue_waiting(queue) == (unsigned)fit)
        usleep(100);
    ck_assert_int_eq(submit(fit), 0);
    ck_assert_int_eq(submit(fit + 1), -EBUSY);
    open_gate(fit);
    finish(fit + 1);
    ck_assert_int_eq(atomic_load(&started), fit + 1);
}
END_TEST

/* An admitted job is never refused, and takes nobody's place. */
START_TEST(test_admitted)
{
    make(1, 1, PATIENT);
    ck_assert_int_eq(submit(0), 0);
    await(&started, 1);
    for (int i = 10; i < 20; i++) {
        tasks[i].job.admitted = true;
        tasks[i].job.rank = i % 2 ? JOB_BACKGROUND : JOB_INTERACTIVE;
        ck_assert_int_eq(submit(i), 0);
    }
    ck_assert_int_eq(submit(1), 0);
    ck_assert_int_eq(submit(2), -EBUSY);
    tasks[20].job.admitted = true;
    ck_assert_int_eq(submit(20), 0);
    ck_assert_uint_eq(work_queue_waiting(queue), 12);
    open_gate(13);
    finish(13);
}
END_TEST

/* A background job is accepted as long as at most half of the capacity is taken. Interactive ones
 * are accepted as if there were no others. */
START_TEST(test_background_capacity)
{
    static const struct {
        unsigned capacity;
        int interactive, background; /* queued jobs */
    } rows[] = {{0, 0, 0}, {1, 0, 1}, {1, 1, 0}, {2, 0, 2}, {2, 1, 1},
                {2, 2, 0}, {8, 0, 5}, {8, 4, 1}, {8, 5, 0}, {8, 2, 3}};
    const int worker = 1, all = rows[_i].interactive + rows[_i].background;
    make(1, rows[_i].capacity, PATIENT);
    for (int i = MOST / 2; i < MOST; i++)
        tasks[i].job.rank = JOB_BACKGROUND;
    /* An idle thread takes either rank. */
    ck_assert_int_eq(submit(_i % 2 ? MOST - 1 : 0), 0);
    await(&started, 1);
    for (int i = 1; i <= rows[_i].interactive; i++)
        ck_assert_int_eq(submit(i), 0);
    for (int i = 0; i < rows[_i].background; i++)
        ck_assert_msg(submit(MOST / 2 + i) == 0, "row %d: job %d", _i, i);
    ck_assert_int_eq(submit(MOST - 2), -EBUSY);
    int more = (int)rows[_i].capacity - rows[_i].interactive;
    for (int i = 0; i < more; i++)
        ck_assert_int_eq(submit(100 + i), 0);
    ck_assert_int_eq(submit(200), -EBUSY);
    open_gate(worker + all + more);
    finish(worker + all + more);
}
END_TEST

/* If the oldest job has waited too long, new jobs are refused; queued ones stay. */
START_TEST(test_patience)
{
    make(1, MOST, 50);
    tasks[10].job.rank = tasks[11].job.rank = tasks[12].job.rank = JOB_BACKGROUND;
    ck_assert_int_eq(submit(0), 0);
    await(&started, 1);
    ck_assert_int_eq(submit(10), 0);
    pass_ms(50);
    ck_assert_int_eq(submit(11), 0);
    pass_ms(1);
    /* That is so for background jobs, not yet for interactive ones. */
    ck_assert_int_eq(submit(12), -EBUSY);
    ck_assert_int_eq(submit(1), 0);
    pass_ms(50);
    ck_assert_int_eq(submit(2), 0);
    pass_ms(1);
    ck_assert_int_eq(submit(3), -EBUSY);
    work_queue_limit(queue, MOST, PATIENT);
    ck_assert_int_eq(submit(3), 0);
    ck_assert_int_eq(submit(12), 0);
    work_queue_limit(queue, 3, PATIENT);
    ck_assert_int_eq(submit(4), -EBUSY);
    ck_assert_uint_eq(work_queue_waiting(queue), 6);
    work_queue_limit(queue, MOST, 50);
    ck_assert_int_eq(submit(4), -EBUSY);
    open_gate(3);
    await(&started, 4);
    /* Only background jobs are queued. */
    ck_assert_int_eq(submit(4), 0);
    open_gate(5);
    finish(8);
}
END_TEST

/* A full queue sheds the last job of the client with the most work. */
START_TEST(test_shed)
{
    make(1, 4, PATIENT);
    ck_assert_int_eq(submit(0), 0);
    await(&started, 1);
    for (int i = 1; i < 5; i++) {
        tasks[i].job.client = 1;
        ck_assert_int_eq(submit(i), 0);
    }
    tasks[5].job.client = 1;
    ck_assert_int_eq(submit(5), -EBUSY);
    for (int i = 6; i < 8; i++) {
        tasks[i].job.client = 2;
        ck_assert_int_eq(submit(i), 0);
    }
    ck_assert_int_eq(tasks[4].cancellations, 1);
    ck_assert_int_eq(tasks[3].cancellations, 1);
    tasks[8].job.client = 2; /* has as much work by now */
    ck_assert_int_eq(submit(8), -EBUSY);
    ck_assert_uint_eq(work_queue_waiting(queue), 4);
    open_gate(5);
    finish(7);
}
END_TEST

/* Clients take turns, and one that joins another's job makes it its own if that is sooner. */
START_TEST(test_clients)
{
    int place[MOST];
    make(1, MOST, PATIENT);
    ck_assert_int_eq(submit(0), 0);
    await(&started, 1);
    for (int i = 1; i < 5; i++) {
        tasks[i].job.client = 1;
        tasks[i + 10].job.client = 2;
        ck_assert_int_eq(submit(i), 0);
        if (i < 3)
            ck_assert_int_eq(submit(i + 10), 0);
    }
    tasks[20].job.client = 1;
    ck_assert_int_eq(submit(20), 0);
    const int number = 20, none = 99;
    ck_assert(work_queue_join(queue, is_number, &number, JOB_BACKGROUND, 3)); /* stays */
    ck_assert_uint_eq(tasks[20].job.client, 1);
    ck_assert(work_queue_join(queue, is_number, &number, JOB_INTERACTIVE, 3));
    ck_assert(work_queue_join(queue, is_number, &number, JOB_INTERACTIVE, 1)); /* stays */
    ck_assert_uint_eq(tasks[20].job.client, 3);
    ck_assert(!work_queue_join(queue, is_number, &none, JOB_INTERACTIVE, 3));
    for (int i = 1; i <= 8; i++) { /* each takes the time that was estimated */
        pass_ms(10);
        open_gate(1);
        await(&started, i < 8 ? i + 1 : i);
    }
    finish(8);
    for (int i = 0; i < 8; i++)
        place[order[i]] = i;
    ck_assert_int_le(place[20], 3);
    ck_assert_int_lt(place[11], place[2]);
    ck_assert_int_lt(place[1], place[12]);
    ck_assert_int_lt(place[12], place[3]);
    ck_assert_int_eq(place[4], 7);
}
END_TEST

/* Run task NUMBER, alone, for MS. */
static void run_for(int number, unsigned ms)
{
    const int before = atomic_load(&done);
    ck_assert_int_eq(submit(number), 0);
    await(&started, before + 1);
    pass_ms(ms);
    open_gate(1);
    await(&done, before + 1);
    await_idle();
}

/* A client is told to retry after its own backlog; likewise how long a new job would wait. */
START_TEST(test_retry_after)
{
    enum { LONG = 1, SHORT };
    make(1, MOST, PATIENT);
    ck_assert_uint_eq(work_queue_wait_ms(queue, JOB_INTERACTIVE, 1), 0); /* a thread is idle */
    tasks[9].job.kind.kind = LONG;
    run_for(9, 2000);
    for (int i = 0; i < 100; i++) {
        tasks[10].job.kind.kind = SHORT;
        run_for(10, 20);
    }
    for (int i = 4; i < 9; i++)
        tasks[i].job.kind.kind = i < 8 && i > 4 ? LONG : SHORT;
    const int begun = atomic_load(&started);
    ck_assert_int_eq(submit(4), 0);
    await(&started, begun + 1);
    for (int i = 5; i < 8; i++) {
        tasks[i].job.client = 1;
        ck_assert_int_eq(submit(i), 0);
    }
    tasks[8].job.client = 2;
    ck_assert_int_eq(submit(8), 0);
    ck_assert_uint_eq(work_queue_retry_after(queue, 1), 7);
    ck_assert_uint_eq(work_queue_retry_after(queue, 2), 1);
    ck_assert_uint_eq(work_queue_retry_after(queue, 3), 1);
    /* Three of 2 s, one of 20 ms before them, and as long as the mean of those before, 24 ms. */
    ck_assert_uint_eq(work_queue_wait_ms(queue, JOB_INTERACTIVE, 1), 6044);
    ck_assert_uint_eq(work_queue_wait_ms(queue, JOB_INTERACTIVE, 3), 24);
    open_gate(5);
    finish(begun + 5);
}
END_TEST

/* A job that has run for a slice goes on if no other client waits, and is charged then. */
static const struct {
    unsigned ms;           /* that it has run */
    int own, others, late; /* jobs of its client, of another, of another that are background ones */
    bool asks_own;
    bool goes_on;
} slices[] = {
    {3, 1, 1, 1, true, true},  {4, 0, 0, 0, true, true},   {4, 1, 0, 0, false, true},
    {4, 1, 0, 0, true, false}, {4, 0, 1, 0, false, false}, {4, 0, 1, 0, true, false},
    {4, 0, 0, 1, false, true}, {4, 0, 0, 1, true, true},   {99, 1, 0, 1, false, true},
};

static bool went_on;

static void ask(struct job *job, void *thread_state)
{
    const int row = ((struct task *)job)->number - 100;
    (void)thread_state;
    atomic_fetch_add(&started, 1);
    uv_sem_wait(&gate);
    went_on = work_queue_go_on(queue, job, slices[row].asks_own);
    atomic_fetch_add(&done, 1);
}

START_TEST(test_go_on)
{
    const int own = slices[_i].own, others = slices[_i].others, late = slices[_i].late;
    make(1, MOST, PATIENT);
    tasks[100 + _i].job.run = ask;
    ck_assert_int_eq(submit(100 + _i), 0);
    await(&started, 1);
    for (int i = 0; i < own + others + late; i++) {
        tasks[i].job.client = i < own ? 0 : 1;
        tasks[i].job.rank = i < own + others ? JOB_INTERACTIVE : JOB_BACKGROUND;
        ck_assert_int_eq(submit(i), 0);
    }
    pass_ms(slices[_i].ms);
    open_gate(1 + own + others + late);
    finish(1 + own + others + late);
    ck_assert_int_eq(went_on, slices[_i].goes_on);
}
END_TEST

/* A client that was alone for long is not behind one that comes then: both take turns. */
static void go_on_for_long(struct job *job, void *thread_state)
{
    (void)thread_state;
    for (int i = 0; i < 100; i++) {
        pass_ms(10);
        must_not(!work_queue_go_on(queue, job, false));
    }
    atomic_fetch_add(&started, 1);
    uv_sem_wait(&gate);
    atomic_fetch_add(&done, 1);
}

START_TEST(test_alone_for_long)
{
    make(1, MOST, PATIENT);
    tasks[100].job.run = go_on_for_long;
    ck_assert_int_eq(submit(100), 0);
    await(&started, 1);
    ck_assert_uint_eq(work_queue_longest_slice_us(queue), 10000);
    ck_assert_uint_eq(work_queue_longest_run_ms(queue), 0);
    for (int i = 0; i < 8; i++) {
        tasks[i].job.client = (uint64_t)i % 2;
        ck_assert_int_eq(submit(i), 0);
    }
    for (int i = 0; i < 9; i++) {
        open_gate(1);
        await(&done, i + 1);
        pass_ms(10);
    }
    int of_other = 0; /* of the first four that follow */
    for (int i = 1; i < 5; i++)
        of_other += order[i] % 2;
    ck_assert_int_eq(of_other, 2);
    finish(9);
}
END_TEST

static int resumes;

static void run_in_two(struct job *job, void *thread_state)
{
    (void)thread_state;
    order[atomic_fetch_add(&started, 1)] = ((struct task *)job)->number;
    uv_sem_wait(&gate);
    if (resumes-- > 0)
        must_not(work_queue_resume(queue, job) != 0);
    atomic_fetch_add(&done, 1);
}

/* A job that goes on later is the next of its client, whose limits do not matter; what its kind
 * takes is the sum. */
START_TEST(test_resume)
{
    static const int expected[] = {100, 5, 100, 0, 1};
    resumes = 1;
    make(1, 3, PATIENT);
    tasks[100].job.run = run_in_two;
    tasks[100].job.kind.kind = tasks[2].job.kind.kind = 7;
    tasks[5].job.client = 1;
    ck_assert_int_eq(submit(100), 0);
    await(&started, 1);
    ck_assert_int_eq(submit(0), 0);
    ck_assert_int_eq(submit(1), 0);
    ck_assert_int_eq(submit(5), 0); /* the queue is full */
    pass_ms(300);
    for (int i = 1; i < 5; i++) {
        open_gate(1);
        await(&started, i + 1);
        if (i == 2)
            pass_ms(700);
    }
    open_gate(1);
    await(&done, 5);
    await_idle();
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(order[i], expected[i]);
    ck_assert_int_eq(submit(3), 0);
    await(&started, 6);
    ck_assert_int_eq(submit(2), 0);
    ck_assert_int_eq(tasks[2].job.cost_us, 1000000);
    open_gate(2);
    finish(7);
}
END_TEST

/* The batch delay does not delay a job submitted to an idle queue, and loses no job. */
START_TEST(test_batch_delay)
{
    make_with(&(struct work_queue_options){.threads = 1,
                                           .thread_states = thread_states,
                                           .capacity = MOST,
                                           .patience_ms = PATIENT,
                                           .batch_delay_us = 200000,
                                           .clock = &time_held});
    ck_assert_int_eq(submit(0), 0);
    await(&started, 1); /* for ever if the thread slept first: time stands */
    open_gate(1);
    await(&done, 1);
    ck_assert_int_eq(submit(1), 0);
    ck_assert_int_eq(submit(2), 0);
    open_gate(2);
    for (int jobs = 3; atomic_load(&done) < jobs; usleep(100))
        pass_ms(200);
    pass_ms(200); /* the thread sleeps once more */
    finish(3);
}
END_TEST

/* In a burst, jobs that would wait for far too long are refused at once. */
START_TEST(test_burst)
{
    int accepted = 0;
    make(1, MOST, 20);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(submit(i), 0);
        await(&started, i + 1);
        pass_ms(20);
        open_gate(1);
        await(&done, i + 1);
        await_idle();
    }
    ck_assert_int_eq(submit(4), 0);
    await(&started, 5);
    while (submit(5 + accepted) == 0 && 5 + accepted < MOST - 2)
        accepted++;
    /* 60 ms, three times the patience, at 20 ms per job: the fourth is estimated to wait for them.
     */
    ck_assert_int_eq(accepted, 4);
    work_queue_limit(queue, MOST, PATIENT);
    ck_assert_int_eq(submit(MOST - 1), 0);
    open_gate(2 + accepted);
    finish(6 + accepted);
}
END_TEST

/* Background jobs are refused if an interactive one has waited too long. */
START_TEST(test_patience_of_better)
{
    make(1, MOST, 50);
    tasks[10].job.rank = JOB_BACKGROUND;
    ck_assert_int_eq(submit(0), 0);
    await(&started, 1);
    ck_assert_int_eq(submit(1), 0);
    pass_ms(51);
    ck_assert_int_eq(submit(10), -EBUSY);
    open_gate(2);
    finish(2);
}
END_TEST

START_TEST(test_longest_run)
{
    make(2, MOST, PATIENT);
    ck_assert_int_eq(submit(0), 0);
    await(&started, 1);
    pass_ms(50);
    ck_assert_int_eq(submit(1), 0);
    await(&started, 2);
    ck_assert_uint_eq(work_queue_longest_run_ms(queue), 50);
    open_gate(2);
    await(&done, 2);
    await_idle();
    ck_assert_uint_eq(work_queue_longest_run_ms(queue), 0);
    finish(2);
}
END_TEST

/* A job that submits itself again goes to the end of the queue. */
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

static void free_when_run(struct job *job, void *thread_state)
{
    (void)thread_state;
    free(job);
    uv_sem_wait(&gate);
    atomic_fetch_add(&done, 1);
}

static void free_when_cancelled(struct job *job)
{
    free(job);
    atomic_fetch_add(&done, 1);
}

static void open_later(void *argument)
{
    (void)argument;
    usleep(50000);
    open_gate(3);
}

/* Jobs that their callbacks free. */
START_TEST(test_free)
{
    uv_thread_t opener;
    make(3, MOST, PATIENT);
    for (int i = 0; i < 200; i++) {
        struct task *task = calloc(1, sizeof *task);
        task->job = (struct job){.run = free_when_run, .cancel = free_when_cancelled};
        ck_assert_int_eq(work_queue_submit(queue, &task->job), 0);
    }
    open_gate(100);
    await(&done, 100);
    ck_assert_int_eq(uv_thread_create(&opener, open_later, NULL), 0);
    work_queue_stop(queue);
    uv_thread_join(&opener);
    finish(200);
}
END_TEST

/* Stopping cancels queued jobs once, waits for running ones, and refuses what either submits. */
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
    work_queue_stop(queue);
    uv_thread_join(&opener);
    ck_assert_int_eq(atomic_load(&done), 10);
    ck_assert_uint_eq(work_queue_running(queue), 0);
    ck_assert_uint_eq(work_queue_waiting(queue), 0);
    ck_assert_int_eq(submit(0), -ECANCELED);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(tasks[i].runs, i < 2);
        ck_assert_int_eq(tasks[i].cancellations, i >= 2);
        ck_assert_int_eq(tasks[i].refusals, 1);
    }
    finish(10);
}
END_TEST

/* If not all threads can be created, there are none, and no crash. */
START_TEST(test_no_threads)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they need more memory */
    enum { MANY = 4096 };
    static void *many[MANY];
    const struct rlimit little = {UINT64_C(1) << 30, UINT64_C(1) << 30};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &little), 0);
    const struct work_queue_options options = {.threads = MANY, .thread_states = many};
    ck_assert_int_eq(work_queue_new(&queue, &options), -EAGAIN);
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
        uint64_t sum; /* written by both threads: the lock hands it over */
        struct shard *shard;
    } jobs[JOBS];
    atomic_int runs;
};

static void count_run(struct job *job, void *thread_state)
{
    struct shard_job *mine = (struct shard_job *)job;
    must_not(mine->sum != 1);
    mine->sum++;
    ((struct state *)thread_state)->uses++;
    atomic_fetch_add(&mine->shard->runs, 1);
}

static void submit_many(void *argument)
{
    struct shard *shard = argument;
    int taken = 0;
    for (int i = 0; i < JOBS; i++) {
        shard->jobs[i] = (struct shard_job){{.run = count_run, .rank = i % JOB_RANKS}, 1, shard};
        taken += work_queue_submit(queue, &shard->jobs[i].job) == 0;
        must_not(work_queue_waiting(queue) > MOST + MOST / 2);
        must_not(work_queue_running(queue) > POOL / 2);
    }
    while (atomic_load(&shard->runs) < taken)
        usleep(100);
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
        uses += states[i].uses;
    ck_assert_int_eq(uses, runs);
    ck_assert_int_gt(runs, MOST / 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("work queue");
    TCase *tcase = suite_case(suite, "queue");
    tcase_add_test(tcase, test_idle);
    tcase_add_loop_test(tcase, test_at_once, 1, 5);
    tcase_add_test(tcase, test_order);
    tcase_add_test(tcase, test_ranks);
    tcase_add_loop_test(tcase, test_promote, 0, 8);
    tcase_add_test(tcase, test_promote_often);
    tcase_add_loop_test(tcase, test_capacity, 0, 5);
    tcase_add_test(tcase, test_admitted);
    tcase_add_loop_test(tcase, test_background_capacity, 0, 10);
    tcase_add_test(tcase, test_patience);
    tcase_add_test(tcase, test_patience_of_better);
    tcase_add_test(tcase, test_shed);
    tcase_add_test(tcase, test_clients);
    tcase_add_test(tcase, test_retry_after);
    tcase_add_loop_test(tcase, test_go_on, 0, ROWS(slices));
    tcase_add_test(tcase, test_alone_for_long);
    tcase_add_test(tcase, test_resume);
    tcase_add_test(tcase, test_batch_delay);
    tcase_add_test(tcase, test_burst);
    tcase_add_test(tcase, test_longest_run);
    tcase_add_test(tcase, test_again);
    tcase_add_test(tcase, test_free);
    tcase_add_test(tcase, test_stop);
    tcase_add_test(tcase, test_no_threads);
    tcase_add_test(tcase, test_shards);
    return suite_run(suite);
}
