/*
 * Linked into programs under ThreadSanitizer. libuv closes descriptors by syscall(SYS_close),
 * which the sanitizer does not see: a file that then gets the same number in another thread would
 * be reported as a race with the closed one.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long system_call(long number, ...);

/* In place of libc's, with the six arguments that a system call can have. */
long syscall(long number, ...)
{
    static system_call *next; /* atomic */
    system_call *call = __atomic_load_n(&next, __ATOMIC_RELAXED);
    long argument[6];
    va_list arguments;

    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        argument[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_close)
        return close((int)argument[0]);
    if (!call) {
        call = (system_call *)dlsym(RTLD_NEXT, "syscall");
        __atomic_store_n(&next, call, __ATOMIC_RELAXED);
    }
    return call(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                argument[5]);
}
