#include "mailbox.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Messages per iteration: the loop's other work is delayed by a millisecond, not by a second. */
enum { BATCH = 64 };

/* The loop is woken through our own file, not by uv_async_send. In libuv 1.44 a woken loop spins if
 * it preempts the sender inside uv_async_send. */
struct mailbox {
    uv_mutex_t lock; /* guards the list */
    struct message *first, **last;
    unsigned posting; /* atomic: threads that are about to wake the loop */
    int wake;
    uv_poll_t poll;
};

static struct message *take(struct mailbox *mailbox)
{
    uv_mutex_lock(&mailbox->lock);
    struct message *message = mailbox->first;
    if (message) {
        mailbox->first = message->next;
        if (!mailbox->first)
            mailbox->last = &mailbox->first;
    }
    uv_mutex_unlock(&mailbox->lock);
    return message;
}

static void wake(struct mailbox *mailbox)
{
    const uint64_t one = 1;
    while (write(mailbox->wake, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

static void on_wake(uv_poll_t *poll, int status, int events)
{
    struct mailbox *mailbox = poll->data;
    struct message *message;
    uint64_t count;
    int delivered = 0;
    (void)status, (void)events;

    /* This loop has preempted a sender that is still in mailbox_post. Let the sender go on, once:
     * on busy cores the loop then finds several messages at a time. */
    if (__atomic_load_n(&mailbox->posting, __ATOMIC_RELAXED) > 0)
        sched_yield();
    while (read(mailbox->wake, &count, sizeof count) < 0 && errno == EINTR)
        ;
    while (delivered < BATCH && (message = take(mailbox))) {
        message->deliver(message);
        delivered++;
    }
    if (delivered == BATCH)
        wake(mailbox);
}

int mailbox_new(struct mailbox **out, uv_loop_t *loop)
{
    struct mailbox *mailbox = calloc(1, sizeof *mailbox);
    if (!mailbox)
        return UV_ENOMEM;
    mailbox->last = &mailbox->first;
    int err = uv_mutex_init(&mailbox->lock);
    if (err)
        goto fail_lock;
    mailbox->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    err = mailbox->wake < 0 ? -errno : 0;
    if (err)
        goto fail_wake;
    err = uv_poll_init(loop, &mailbox->poll, mailbox->wake);
    if (err)
        goto fail_poll;
    mailbox->poll.data = mailbox;
    uv_poll_start(&mailbox->poll, UV_READABLE, on_wake);
    *out = mailbox;
    return 0;

fail_poll:
    close(mailbox->wake);
fail_wake:
    uv_mutex_destroy(&mailbox->lock);
fail_lock:
    free(mailbox);
    return err;
}

void mailbox_post(struct mailbox *mailbox, struct message *message)
{
    message->next = NULL;
    __atomic_fetch_add(&mailbox->posting, 1, __ATOMIC_RELAXED);
    uv_mutex_lock(&mailbox->lock);
    const bool waking = mailbox->first == NULL;
    *mailbox->last = message;
    mailbox->last = &message->next;
    uv_mutex_unlock(&mailbox->lock);
    if (waking) /* without the lock, which the loop takes at once */
        wake(mailbox);
    __atomic_fetch_sub(&mailbox->posting, 1, __ATOMIC_RELEASE);
}

void mailbox_close(struct mailbox *mailbox)
{
    uv_poll_stop(&mailbox->poll);
    uv_close((uv_handle_t *)&mailbox->poll, NULL);
}

void mailbox_free(struct mailbox *mailbox)
{
    if (!mailbox)
        return;
    assert(!mailbox->first);
    /* The last message may be delivered before the sender has left mailbox_post. */
    while (__atomic_load_n(&mailbox->posting, __ATOMIC_ACQUIRE) > 0)
        sched_yield();
    close(mailbox->wake);
    uv_mutex_destroy(&mailbox->lock);
    free(mailbox);
}
