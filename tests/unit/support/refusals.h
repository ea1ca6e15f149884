/* An allocator that refuses as often as a test says. Only where it is this program's to choose:
 * sanitizers bring their own. Include it once a program. */
#ifndef FARLANDS_REFUSALS_H
#define FARLANDS_REFUSALS_H

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_REFUSE

#include <stdbool.h>
#include <stddef.h>

/* So many allocations fail, after so many that do not. One thread. */
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
