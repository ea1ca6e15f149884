#include "file_limit.h"

#include <sys/resource.h>

enum { OTHER_FILES = 320 }; /* cache files, event loops, logs */

unsigned file_limit_raise(unsigned connections)
{
    const rlim_t files = (rlim_t)connections + OTHER_FILES;
    struct rlimit limit = {0};

    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < files) {
        limit.rlim_cur = limit.rlim_max < files ? limit.rlim_max : files;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= files)
        return connections;
    return limit.rlim_cur > OTHER_FILES ? (unsigned)limit.rlim_cur - OTHER_FILES : 0;
}
