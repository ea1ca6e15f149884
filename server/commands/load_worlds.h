/* What commands make of a configuration. What is wrong with it is told on stderr here. */
#ifndef FARLANDS_COMMANDS_LOAD_WORLDS_H
#define FARLANDS_COMMANDS_LOAD_WORLDS_H

#include "server/commands/command_line.h"
#include "server/world/world.h"

/* Read FILE, or the built-in configuration where it is NULL. Returns EXIT_DONE with *CONFIG, to be
 * freed; or an exit code. */
int load_config(struct config **config, const char *file);

/* Its worlds, with one reference. Returns EXIT_DONE or an exit code. */
int load_worlds(struct worlds **worlds, const struct config *config);

/* Both, for who needs the worlds alone. */
int load_load(struct worlds **worlds, const char *file);

#endif
