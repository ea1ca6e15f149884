/* The keys of a configuration file: the daemon's, and the list of worlds. */
#ifndef FARLANDS_CONFIG_DAEMON_OPTIONS_H
#define FARLANDS_CONFIG_DAEMON_OPTIONS_H

#include "config/values/option.h"

/* Offsets are in struct config. */
extern const struct option daemon_options[];

#endif
