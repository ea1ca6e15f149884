#include "cache_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int cache_path(const struct config *config, char out[CACHE_PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    snprintf(out, CACHE_PATH_MAX, "%s", config->cache.path);
    if (out[0])
        return 0;
    if (cache && cache[0] == '/')
        snprintf(out, CACHE_PATH_MAX, "%s/farlands", cache);
    else if (home && home[0] == '/')
        snprintf(out, CACHE_PATH_MAX, "%s/.cache/farlands", home);
    else
        return -ENOENT;
    return 0;
}
