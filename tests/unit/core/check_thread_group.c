/* Thread groups: each number runs once, with signals blocked, and waiting has a limit. */
#include "server/core/thread_group.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <uv.h>

#include "tests/unit/support/fixtures.h"

enum { MOST = 16, A_MOMENT_MS = 20, FOREVER_MS = 60000 };

static uv_sem_t gate;
static atomic_int runs[MOST], unblocked;

static void work(void *context, unsigned number)
{
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (context != runs || !sigismember(&blocked, SIGTERM))
        atomic_fetch_add(&unblocked, 1);
    uv_sem_wait(&gate);
    atomic_fetch_add(&runs[number], 1);
}

START_TEST(test_group)
{
    struct thread_group *group;
    sigset_t blocked;
    ck_assert_int_eq(uv_sem_init(&gate, 0), 0);
    ck_assert_int_eq(thread_group_start(&group, (unsigned)_i, work, runs), 0);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    ck_assert(!sigismember(&blocked, SIGTERM)); /* of the caller */
    ck_assert(!thread_group_wait(group, A_MOMENT_MS));
    for (int i = 1; i < _i; i++)
        uv_sem_post(&gate);
    ck_assert(!thread_group_wait(group, A_MOMENT_MS));
    uv_sem_post(&gate);
    ck_assert(thread_group_wait(group, FOREVER_MS));
    ck_assert(thread_group_wait(group, 0));
    thread_group_free(group);
    for (int i = 0; i < MOST; i++)
        ck_assert_int_eq(atomic_load(&runs[i]), i < _i);
    ck_assert_int_eq(atomic_load(&unblocked), 0);
    uv_sem_destroy(&gate);
    thread_group_free(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("thread group");
    TCase *tcase = suite_case(suite, "threads");
    tcase_add_loop_test(tcase, test_group, 1, MOST + 1);
    return suite_run(suite);
}
