/* An allocator that fails as often as a test asks. Not under sanitizers, which bring their own
 * allocator. Include it once per program. */
#ifndef FARLANDS_REFUSALS_H
#define FARLANDS_REFUSALS_H

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_REFUSE

#include <stdbool.h>
#include <stddef.h>

/* This many allocations fail, after that many that succeed. One thread. */
static int refusals, grants_before;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);

static bool is_refused(void)
{
    if (refusals == 0 || grants_before-- > 0)
        return false;
    refusals--;
    return true;
}

void *malloc(size_t size)
{
    return is_refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return is_refused() ? NULL : __libc_calloc(count, size);
}

#endif
#endif
