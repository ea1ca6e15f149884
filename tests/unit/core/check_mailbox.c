/* Messages between threads: each is delivered once, in its sender's order, on the loop's thread. */
#include "server/core/mailbox.h"

#include "tests/unit/support/fixtures.h"

enum { SENDERS = 4, EACH = 5000 };

static uv_loop_t loop;
static struct mailbox *mailbox;
static uv_thread_t loop_thread;
static int delivered, wrong, turns;

struct test_message {
    struct message message;
    int sender, number;
};

static struct test_message all[SENDERS][EACH];
static int next_of[SENDERS];

static void deliver(struct message *message)
{
    struct test_message *sent = (struct test_message *)message;
    uv_thread_t here = uv_thread_self();
    wrong += sent->number != next_of[sent->sender]++ || !uv_thread_equal(&here, &loop_thread);
    if (++delivered == SENDERS * EACH)
        mailbox_close(mailbox);
}

static void on_turn(uv_check_t *check)
{
    (void)check;
    turns++;
}

static void send_all(void *context)
{
    struct test_message *mine = context;
    for (int i = 0; i < EACH; i++) {
        mine[i].message.deliver = deliver;
        mine[i].number = i;
        mine[i].sender = (int)(mine - all[0]) / EACH;
        mailbox_post(mailbox, &mine[i].message);
    }
}

START_TEST(test_senders)
{
    uv_thread_t threads[SENDERS];
    loop_thread = uv_thread_self();
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(mailbox_new(&mailbox, &loop), 0);
    for (int i = 0; i < SENDERS; i++)
        uv_thread_create(&threads[i], send_all, all[i]);
    uv_run(&loop, UV_RUN_DEFAULT);
    for (int i = 0; i < SENDERS; i++)
        uv_thread_join(&threads[i]);
    ck_assert_int_eq(delivered, SENDERS * EACH);
    ck_assert_int_eq(wrong, 0);
    mailbox_free(mailbox);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}
END_TEST

/* However many messages are queued, the loop's other work runs between batches. */
START_TEST(test_batches)
{
    uv_check_t check;
    loop_thread = uv_thread_self();
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(mailbox_new(&mailbox, &loop), 0);
    uv_check_init(&loop, &check);
    uv_check_start(&check, on_turn);
    uv_unref((uv_handle_t *)&check);
    for (int i = 0; i < SENDERS; i++)
        send_all(all[i]);
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(delivered, SENDERS * EACH);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_ge(turns, SENDERS * EACH / 100);
    uv_close((uv_handle_t *)&check, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    mailbox_free(mailbox);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mailbox");
    TCase *tcase = suite_case(suite, "messages");
    tcase_add_test(tcase, test_senders);
    tcase_add_test(tcase, test_batches);
    return suite_run(suite);
}
