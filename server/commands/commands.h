/* The commands of farlands. Each returns the exit code. */
#ifndef FARLANDS_COMMANDS_COMMANDS_H
#define FARLANDS_COMMANDS_COMMANDS_H

#include "server/commands/command_line.h"

int command_serve(const struct command_line *line);
int command_tile(const struct command_line *line);
int command_render(const struct command_line *line);
int command_check_config(const struct command_line *line);

#endif
