/* Where the disk cache is. */
#ifndef FARLANDS_CACHE_CACHE_PATH_H
#define FARLANDS_CACHE_CACHE_PATH_H

#include "config/config.h"

enum { CACHE_PATH_MAX = CONFIG_TEXT_MAX + 16 };

/* The folder that CONFIG names, or else that of the XDG base directories. Returns 0; -ENOENT, and
 * an empty text, where neither it nor HOME is set. Not while others change the environment. */
int cache_path(const struct config *config, char out[CACHE_PATH_MAX]);

#endif
