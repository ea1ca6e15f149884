/* Messages from any thread to a loop's thread, delivered in the order of posting, a batch per
 * iteration. */
#ifndef FARLANDS_CORE_MAILBOX_H
#define FARLANDS_CORE_MAILBOX_H

#include <uv.h>

/* Embedded in the sender's struct, which must last until delivery. */
struct message {
    /* On the loop's thread. May free the message or post it again. */
    void (*deliver)(struct message *message);
    struct message *next; /* private */
};

struct mailbox;

/* Returns 0 or a negative code. On LOOP's thread, or before it runs. */
int mailbox_new(struct mailbox **out, uv_loop_t *loop);

/* Any thread, until mailbox_close is called. */
void mailbox_post(struct mailbox *mailbox, struct message *message);

/* On the loop's thread, once all messages are delivered and no thread will post another. */
void mailbox_close(struct mailbox *mailbox);

/* After the loop has run its closing handles. */
void mailbox_free(struct mailbox *mailbox);

#endif
