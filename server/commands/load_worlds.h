/* Loads the configuration of a command. Errors are printed to stderr. */
#ifndef FARLANDS_COMMANDS_LOAD_WORLDS_H
#define FARLANDS_COMMANDS_LOAD_WORLDS_H

#include "server/commands/command_line.h"
#include "server/world/world.h"

/* Read FILE; NULL: the built-in configuration. Returns EXIT_DONE, and the caller frees *CONFIG; or
 * another exit code. */
int load_config(struct config **config, const char *file);

/* Create CONFIG's worlds; the caller holds one reference. Returns an exit code. */
int load_worlds(struct worlds **worlds, const struct config *config);

/* Both. Returns an exit code. */
int load_worlds_of_file(struct worlds **worlds, const char *file);

#endif
