/* The log's levels. A header apart from config.h, because logging needs no configuration. */
#ifndef FARLANDS_CONFIG_LOG_LEVEL_H
#define FARLANDS_CONFIG_LOG_LEVEL_H

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

#endif
