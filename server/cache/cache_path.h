/* The path of the disk cache. */
#ifndef FARLANDS_CACHE_CACHE_PATH_H
#define FARLANDS_CACHE_CACHE_PATH_H

#include "config/config.h"

enum { CACHE_PATH_MAX = CONFIG_TEXT_MAX + 16 };

/* The path that CONFIG names, else $XDG_CACHE_HOME/farlands, else ~/.cache/farlands. Returns 0, or
 * -ENOENT and an empty path if none of them is set. No other thread may change the environment
 * meanwhile. */
int cache_path(const struct config *config, char out[CACHE_PATH_MAX]);

#endif
