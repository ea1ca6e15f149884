/*
 * A token bucket (Turner, "New directions in communications", IEEE Communications Magazine, 1986):
 * lets some kind of work take a share of a thread's time, and a little more for a moment. Tokens
 * are nanoseconds. Zeros at first. One thread.
 */
#ifndef FARLANDS_CORE_TOKEN_BUCKET_H
#define FARLANDS_CORE_TOKEN_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TOKEN_BUCKET_SHARE = 10,      /* a tenth of the time */
    TOKEN_BUCKET_DEPTH = 5000000, /* the most that is saved */
};

struct token_bucket {
    uint64_t filled_at; /* ns; 0: never, and full */
    int64_t tokens;     /* below zero if work took longer than expected */
};

/* Take COST at NOW, a time in ns that never decreases. Returns false if too few tokens are left. */
static inline bool token_bucket_take(struct token_bucket *bucket, uint64_t now, int64_t cost)
{
    const uint64_t earned = (now - bucket->filled_at) / TOKEN_BUCKET_SHARE;

    if (earned >= (uint64_t)(TOKEN_BUCKET_DEPTH - bucket->tokens))
        bucket->tokens = TOKEN_BUCKET_DEPTH;
    else
        bucket->tokens += (int64_t)earned;
    bucket->filled_at = now;
    if (bucket->tokens < cost)
        return false;
    bucket->tokens -= cost;
    return true;
}

/* The work took MORE nanoseconds than its cost; less, if negative. */
static inline void token_bucket_correct(struct token_bucket *bucket, int64_t more)
{
    bucket->tokens -= more;
}

#endif
