#include "mailbox.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

/* Messages per iteration: the loop's other work is delayed by a millisecond, not by a second. */
enum { BATCH = 64 };

struct mailbox {
    uv_mutex_t lock; /* guards the list */
    struct message *first, **last;
    uv_async_t wake;
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

static void on_wake(uv_async_t *wake)
{
    struct mailbox *mailbox = wake->data;
    struct message *message;
    int delivered = 0;

    while (delivered < BATCH && (message = take(mailbox))) {
        message->deliver(message);
        delivered++;
    }
    if (delivered == BATCH)
        uv_async_send(wake);
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
    err = uv_async_init(loop, &mailbox->wake, on_wake);
    if (err)
        goto fail_wake;
    mailbox->wake.data = mailbox;
    *out = mailbox;
    return 0;

fail_wake:
    uv_mutex_destroy(&mailbox->lock);
fail_lock:
    free(mailbox);
    return err;
}

void mailbox_post(struct mailbox *mailbox, struct message *message)
{
    message->next = NULL;
    uv_mutex_lock(&mailbox->lock);
    const bool waking = mailbox->first == NULL;
    *mailbox->last = message;
    mailbox->last = &message->next;
    /* Under the lock, so that no thread is in here once the last message has been delivered. */
    if (waking)
        uv_async_send(&mailbox->wake);
    uv_mutex_unlock(&mailbox->lock);
}

void mailbox_close(struct mailbox *mailbox)
{
    uv_close((uv_handle_t *)&mailbox->wake, NULL);
}

void mailbox_free(struct mailbox *mailbox)
{
    if (!mailbox)
        return;
    assert(!mailbox->first);
    uv_mutex_destroy(&mailbox->lock);
    free(mailbox);
}
