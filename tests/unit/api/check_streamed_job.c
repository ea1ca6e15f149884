/* Streamed jobs: what happens to pieces being made when nobody needs them any more. */
#include "server/api/streamed_job.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "server/api/service.h"
#include "server/world/request_price.h"
#include "tests/unit/support/fixtures.h"

enum { BYTES = 1 << 17, QUEUE = 64, PATIENT = 60 * 1000 };

static uv_loop_t loop;
static struct clock time_held; /* of pending requests; moved by the tests alone */
static bool time_stands, unchecked;
static struct metrics metrics;
static struct response_sinks sinks = {.metrics = &metrics};
static struct config *config;
static struct client_limits *clients;
static struct pending_requests pending;
static struct work_queue *renderers;
static struct mailbox *mailbox;
static struct streamed_jobs streamed_jobs;
static struct http *http;
static unsigned streams;
static unsigned closed, freed;
static uint64_t price;

/* The subject. Pieces from number HELD on wait at the gate; if MORE, the first is never done, if
 * ENDLESS it only asks whether to pause. */
static struct {
    unsigned pieces, held;
    bool more, endless;
    atomic_uint begun, faults;
    uv_sem_t gate;
} sum;

static uv_thread_t loop_thread;

static int work(void *subject, unsigned index, struct render_scratch *scratch, struct blob **out,
                void *turn)
{
    const uv_thread_t self = uv_thread_self();
    (void)subject, (void)scratch;
    atomic_fetch_add(&sum.begun, 1);
    if (uv_thread_equal(&self, &loop_thread))
        atomic_fetch_add(&sum.faults, 1);
    if (sum.endless) {
        int err;
        while ((err = streamed_job_pause(turn)) == 0)
            sched_yield();
        return err;
    }
    if (sum.more) {
        if (index >= sum.held)
            uv_sem_wait(&sum.gate);
        return STREAMED_JOB_MORE;
    }
    struct blob *blob = *out = blob_new(BYTES);
    if (index >= sum.held)
        uv_sem_wait(&sum.gate);
    /* *OUT belongs to the worker until it returns. */
    if (*out != blob)
        atomic_fetch_add(&sum.faults, 1);
    return 0;
}

static void respond(void *subject, struct request_context *context, struct http_response bytes)
{
    (void)subject;
    bytes.status = 200;
    http_respond(context->exchange, &bytes);
}

static void free_sum(void *subject)
{
    (void)subject;
    freed++;
}

static const struct streamed_job_kind kind = {
    .counter = METRIC_REGIONS, .work = work, .respond = respond, .free = free_sum};

static void handle(void *unused, struct http_exchange *exchange, const struct http_request *request)
{
    (void)unused;
    struct request_context *context = http_state(exchange);
    *context = (struct request_context){.sinks = &sinks, .exchange = exchange, .request = request};
    const struct streamed_job_spec spec = {.kind = &kind,
                                           .price = price,
                                           .subject = &sum,
                                           .pieces = sum.pieces,
                                           .memory = BYTES,
                                           .length = (int64_t)sum.pieces * BYTES};
    streamed_job_begin(&streamed_jobs, &spec, context, config);
}

static void on_completed(void *context, struct http_exchange *exchange, uint64_t sent)
{
    (void)context;
    response_completed(http_state(exchange), sent);
}

static void on_closed(void *context, const struct sockaddr *peer)
{
    (void)context, (void)peer;
    closed++;
}

static void set_up(void)
{
    static char scratch;
    void *thread_state = &scratch;
    const struct work_queue_options options = {
        .threads = 1, .thread_states = &thread_state, .capacity = QUEUE, .patience_ms = PATIENT};

    loop_thread = uv_thread_self();
    config = config_of(FRACTAL_WORLD);
    ck_assert_int_eq(uv_sem_init(&sum.gate, 0), 0);
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(mailbox_new(&mailbox, &loop), 0);
    ck_assert_int_eq(client_limits_new(&clients), 0);
    ck_assert_int_eq(work_queue_new(&renderers, &options), 0);
    pending = (struct pending_requests){.loop = &loop,
                                        .clients = clients,
                                        .renderers = renderers,
                                        .sinks = &sinks,
                                        .clock = &time_held};
    ck_assert_int_eq(pending_requests_init(&pending), 0);
    streamed_jobs = (struct streamed_jobs){
        .renderers = renderers, .mailbox = mailbox, .pending = &pending, .streams = &streams};
    const struct http_parts for_http = {.loop = &loop,
                                        .idle = 60,
                                        .connections = 16,
                                        .state_size = sizeof(struct request_context),
                                        .handler = handle,
                                        .completed = on_completed,
                                        .closed = on_closed};
    ck_assert_int_eq(http_new(&http, &for_http), 0);
}

static void tear_down(void)
{
    ck_assert_uint_eq(atomic_load(&sum.faults), 0);
    ck_assert_uint_eq(freed, 1);
    ck_assert_uint_eq(client_limits_count(clients), 0);
    mailbox_close(mailbox);
    uv_run(&loop, UV_RUN_DEFAULT);
    http_free(http);
    work_queue_free(renderers);
    pending_requests_close(&pending);
    mailbox_free(mailbox);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    client_limits_free(clients);
    uv_sem_destroy(&sum.gate);
    config_free(config);
}

/* A client that has sent its request. Returns its end of the connection. */
static int request_with(const char *headers)
{
    char text[128];
    const int length = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: a\r\n%s\r\n", headers);
    const struct sockaddr_in peer = {.sin_family = AF_INET,
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    http_adopt(http, ends[0], (const struct sockaddr *)&peer, sizeof peer);
    ck_assert_int_eq(write(ends[1], text, (size_t)length), length);
    return ends[1];
}

static int request(void)
{
    return request_with("");
}

/* A millisecond passes, unless time stands. */
static void turn(void)
{
    if (!time_stands)
        clock_advance(&time_held, NS_PER_MS);
    uv_run(&loop, UV_RUN_NOWAIT);
    http_expire(http, &(unsigned){0});
    if (!unchecked)
        pending_requests_expire(&pending);
    usleep(100);
}

/* Until a piece is held, and the pieces before it have been read at FD. */
static void until_held(int fd)
{
    static char waste[1 << 16];
    size_t got = 0;
    while (atomic_load(&sum.begun) <= sum.held || got < (size_t)sum.held * BYTES) {
        turn();
        for (ssize_t more; (more = read(fd, waste, sizeof waste)) > 0;)
            got += (size_t)more;
    }
}

static void stop(void)
{
    while (!pending_requests_cancel(&pending) || !streamed_jobs_cancel(&streamed_jobs))
        turn();
    http_close(http);
}

/* The number of pieces, and of those already made when the client leaves. */
static const struct {
    unsigned pieces, held;
} left[] = {{1, 0}, {2, 0}, {2, 1}, {5, 0}, {5, 1}, {5, 2}, {9, 5}};

START_TEST(test_left)
{
    sum.pieces = left[_i].pieces;
    sum.held = left[_i].held;
    int fd = request();
    until_held(fd);
    close(fd);
    while (closed == 0)
        turn();
    for (unsigned i = 0; i < sum.pieces; i++)
        uv_sem_post(&sum.gate);
    while (freed == 0)
        turn();
    ck_assert_uint_eq(atomic_load(&sum.begun), sum.held + 1);
    stop();
}
END_TEST

/* A job that is never done ends when its client leaves. */
START_TEST(test_left_without_end)
{
    sum.pieces = sum.held = 1;
    sum.more = true;
    int fd = request();
    while (atomic_load(&sum.begun) < 3)
        turn();
    close(fd);
    while (freed == 0)
        turn();
    stop();
}
END_TEST

/* What happens to a job that asks whether to pause: it gives its thread back though nobody else
 * waits for the thread. */
enum event { LEAVES, LEAVES_UNCHECKED, ENDS, DRAINS };
static const struct {
    enum event event;
    unsigned abandoned;
    const char *response;
} endless[] = {
    [LEAVES] = {LEAVES, 1, ""},
    [LEAVES_UNCHECKED] = {LEAVES_UNCHECKED, 1, ""},
    [ENDS] = {ENDS, 0, "HTTP/1.1 503 "},
    [DRAINS] = {DRAINS, 0, "HTTP/1.1 503 "},
};

START_TEST(test_endless)
{
    const enum event event = endless[_i].event;
    char response[2048] = "";
    sum.pieces = sum.held = 1;
    sum.endless = true;
    price = 2 * PRICE_SECOND;
    int fd = request();
    while (atomic_load(&sum.begun) < 1)
        turn();
    unchecked = event == LEAVES_UNCHECKED;
    if (event == LEAVES || event == LEAVES_UNCHECKED)
        close(fd);
    else if (event == ENDS)
        streamed_jobs_cancel(&streamed_jobs);
    else
        streamed_jobs_drain(&streamed_jobs, 1);
    while (work_queue_running(renderers) > 0)
        turn();
    ck_assert_uint_eq(atomic_load(&sum.begun), 1);
    while (freed == 0)
        turn();
    if (endless[_i].response[0]) {
        while (read(fd, response, sizeof response - 1) < 0)
            turn();
        ck_assert_ptr_nonnull(strstr(response, "server is shutting down"));
        close(fd);
    }
    ck_assert_int_eq(strncmp(response, endless[_i].response, strlen(endless[_i].response)), 0);
    ck_assert_uint_eq(metrics.count[METRIC_ABANDONED], endless[_i].abandoned);
    stop();
}
END_TEST

/* What is left of a response decides whether it is still made when the server drains: the pieces,
 * those that are made before, the price of all, the seconds left, and the pieces begun in the end.
 */
static const struct {
    unsigned pieces, held;
    uint64_t price;
    unsigned seconds, begun;
} drains[] = {
    {1, 0, 2 * PRICE_SECOND, 2, 1},  {9, 0, 0, 1, 9},
    {9, 5, 9 * PRICE_SECOND, 4, 9},  {9, 5, 18 * PRICE_SECOND, 1, 6},
    {9, 0, 18 * PRICE_SECOND, 9, 1},
};

START_TEST(test_drains)
{
    static char waste[1 << 16];
    sum.pieces = drains[_i].pieces;
    sum.held = drains[_i].held;
    price = drains[_i].price;
    int fd = request();
    until_held(fd);
    streamed_jobs_drain(&streamed_jobs, drains[_i].seconds);
    for (unsigned i = 0; i < sum.pieces; i++)
        uv_sem_post(&sum.gate);
    while (freed == 0) {
        turn();
        while (read(fd, waste, sizeof waste) > 0)
            ;
    }
    ck_assert_uint_eq(atomic_load(&sum.begun), drains[_i].begun);
    close(fd);
    stop();
}
END_TEST

/* The price, the time that has passed, and whether the request has timed out. */
static const struct {
    uint64_t price;
    unsigned passed_ms;
    bool late;
} timeouts[] = {{0, 9999, false},
                {0, 10000, true},
                {PRICE_SECOND - 1, 10000, true},
                {PRICE_SECOND, 10000, false},
                {PRICE_SECOND, 59999, false},
                {PRICE_SECOND, 60000, true}};

START_TEST(test_late)
{
    char response[2048] = "";
    price = timeouts[_i].price;
    sum.pieces = sum.held = 1;
    sum.more = true;
    time_stands = true;
    int fd = request();
    while (atomic_load(&sum.begun) < 2)
        turn();
    clock_advance(&time_held, timeouts[_i].passed_ms * NS_PER_MS);
    for (int i = 0; i < 50; i++)
        turn();
    ck_assert_int_eq(read(fd, response, sizeof response - 1) > 0, timeouts[_i].late);
    ck_assert_int_eq(strncmp(response, "HTTP/1.1 503 ", 13) == 0, timeouts[_i].late);
    time_stands = false;
    close(fd);
    while (freed == 0)
        turn();
    stop();
}
END_TEST

/* Another job of the queue. It waits at its gate, and notes how many pieces were begun before it.
 */
static struct other {
    struct job job;
    uv_sem_t gate;
    atomic_uint begun; /* plus one; 0: not run yet */
} others[2];

static void on_other(struct job *job, void *thread_state)
{
    struct other *other = (struct other *)job;
    (void)thread_state;
    atomic_store(&other->begun, atomic_load(&sum.begun) + 1);
    uv_sem_wait(&other->gate);
}

static void submit_other(struct other *other)
{
    other->job.run = on_other;
    other->job.client = client_limits_hash(clients, NULL); /* the same as the request's */
    ck_assert_int_eq(uv_sem_init(&other->gate, 0), 0);
    ck_assert_int_eq(work_queue_submit(renderers, &other->job), 0);
}

static void until_run(struct other *other)
{
    while (atomic_load(&other->begun) == 0)
        turn();
}

/* A job that takes longer goes on after other jobs, including later ones, have had their turn. */
START_TEST(test_turns)
{
    sum.pieces = 1;
    sum.more = true;
    int fd = request();
    while (atomic_load(&sum.begun) < 1)
        turn();
    submit_other(&others[0]);
    uv_sem_post(&sum.gate);
    until_run(&others[0]);
    while (work_queue_waiting(renderers) == 0) /* it is queued again */
        turn();
    submit_other(&others[1]);
    uv_sem_post(&others[0].gate);
    uv_sem_post(&others[1].gate);
    uv_sem_post(&sum.gate);
    until_run(&others[1]);
    ck_assert_uint_eq(atomic_load(&others[1].begun), 1 + 1);
    close(fd);
    while (freed == 0) {
        uv_sem_post(&sum.gate);
        turn();
    }
    stop();
}
END_TEST

static const struct {
    const char *headers;
    unsigned begun; /* when a later, interactive job is run */
} ranks[] = {
    {"", 1}, {"Priority: u=6\r\n", 1}, {"Priority: u=7\r\n", 0}, {"Priority: u=7, i\r\n", 0}};

/* Background requests wait behind interactive ones. */
START_TEST(test_rank)
{
    sum.pieces = sum.held = 1;
    submit_other(&others[0]);
    until_run(&others[0]);
    int fd = request_with(ranks[_i].headers);
    while (work_queue_waiting(renderers) == 0)
        turn();
    submit_other(&others[1]);
    uv_sem_post(&others[0].gate);
    until_run(&others[1]);
    ck_assert_uint_eq(atomic_load(&others[1].begun), ranks[_i].begun + 1);
    uv_sem_post(&others[1].gate);
    while (freed == 0)
        turn();
    close(fd);
    stop();
}
END_TEST

/* The limit of bytes that wait for readers, or 0: none; the jobs that are queued behind a piece
 * once the reader had to wait for it, and the bytes that are then held. */
static const struct {
    unsigned pieces;
    uint64_t limit;
    bool refused;
    unsigned queued;
    uint64_t held;
} memories[] = {
    {9, 0, false, 3, 0},
    {9, 10 * BYTES, false, 3, 4 * BYTES + HTTP_SOURCE_BUFFER},
    {9, 5 * BYTES, false, 1, 2 * BYTES + HTTP_SOURCE_BUFFER},
    {9, 2 * BYTES, true, 0, 0},
    {1, 2 * BYTES, false, 0, BYTES},
    {1, BYTES, false, 0, BYTES},
    {1, BYTES - 1, true, 0, 0},
};

START_TEST(test_memory)
{
    char response[2048] = "";
    sinks.clients = memories[_i].limit ? clients : NULL;
    sinks.memory = memories[_i].limit;
    sum.pieces = memories[_i].pieces;
    sum.held = sum.pieces > 1;
    int fd = request();
    if (memories[_i].refused) {
        while (read(fd, response, sizeof response - 1) < 0)
            turn();
        ck_assert_int_eq(strncmp(response, "HTTP/1.1 503 ", 13), 0);
        ck_assert_uint_eq(metrics.count[METRIC_RESPONSES_REFUSED], 1);
        ck_assert_uint_eq(atomic_load(&sum.begun), 0);
    } else {
        until_held(fd);
        for (int i = 0; i < 20; i++)
            turn();
        ck_assert_uint_eq(work_queue_waiting(renderers), memories[_i].queued);
        ck_assert_uint_eq(client_limits_held(clients), memories[_i].held);
    }
    close(fd);
    for (unsigned i = 0; i < sum.pieces; i++)
        uv_sem_post(&sum.gate);
    while (freed == 0)
        turn();
    stop();
    ck_assert_uint_eq(client_limits_held(clients), 0);
}
END_TEST

/* Pieces that are queued when all jobs are cancelled are not made. */
START_TEST(test_cancelled)
{
    sum.pieces = left[_i].pieces;
    sum.held = left[_i].held;
    int fd = request();
    until_held(fd);
    pending_requests_cancel(&pending);
    ck_assert(!streamed_jobs_cancel(&streamed_jobs));
    for (unsigned i = 0; i < sum.pieces; i++)
        uv_sem_post(&sum.gate);
    stop();
    ck_assert_uint_eq(atomic_load(&sum.begun), sum.held + 1);
    ck_assert_uint_eq(closed, 1);
    close(fd);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("streamed job");
    TCase *tcase = suite_case(suite, "unwanted");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_left, 0, ROWS(left));
    tcase_add_test(tcase, test_left_without_end);
    tcase_add_loop_test(tcase, test_endless, 0, ROWS(endless));
    tcase_add_loop_test(tcase, test_drains, 0, ROWS(drains));
    tcase_add_loop_test(tcase, test_late, 0, ROWS(timeouts));
    tcase_add_test(tcase, test_turns);
    tcase_add_loop_test(tcase, test_rank, 0, ROWS(ranks));
    tcase_add_loop_test(tcase, test_memory, 0, ROWS(memories));
    tcase_add_loop_test(tcase, test_cancelled, 0, ROWS(left));
    return suite_run(suite);
}
