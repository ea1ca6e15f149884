#include "cache_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int cache_folder(const struct config *config, char out[CACHE_FOLDER_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    snprintf(out, CACHE_FOLDER_MAX, "%s", config->cache.path);
    if (out[0])
        return 0;
    if (cache && cache[0] == '/')
        snprintf(out, CACHE_FOLDER_MAX, "%s/farlands", cache);
    else if (home && home[0] == '/')
        snprintf(out, CACHE_FOLDER_MAX, "%s/.cache/farlands", home);
    else
        return -ENOENT;
    return 0;
}
