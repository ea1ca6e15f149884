/*
 * Letters to the thread of a loop, from any thread: delivered there in the
 * order in which they were posted, a batch a turn of the loop.
 */
#ifndef FARLANDS_CORE_MAILBOX_H
#define FARLANDS_CORE_MAILBOX_H

#include <uv.h>

/* Embed it in what is to be told; it must stay until it is delivered. */
struct message {
    /* On the loop's thread; the letter may be freed or posted again here. */
    void (*deliver)(struct message *message);
    struct message *next; /* private */
};

struct mailbox;

/* Returns 0 or a negative code. LOOP's thread, or before it runs. */
int mailbox_new(struct mailbox **out, uv_loop_t *loop);

/* Any thread, until mailbox_close is called. */
void mailbox_post(struct mailbox *mailbox, struct message *message);

/* On the loop's thread, when nobody will post any more and all is delivered. */
void mailbox_close(struct mailbox *mailbox);

/* Once the loop has run the close callback. */
void mailbox_free(struct mailbox *mailbox);

#endif
