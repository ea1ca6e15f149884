/* Option values that several commands have. Pure. */
#ifndef FARLANDS_COMMANDS_OPTION_VALUES_H
#define FARLANDS_COMMANDS_OPTION_VALUES_H

#include "server/commands/commands.h"

enum { OPTION_WHY = 512, THREADS_MAX = 1024 };

/* Write a message to WHY. Returns -EINVAL. */
__attribute__((format(printf, 2, 3))) int option_refuse(char why[OPTION_WHY], const char *format,
                                                        ...);

/* Parse TEXT, a whole number from 1 to MAX. Returns 0, or -EINVAL with a message in WHY that names
 * OPTION. */
int option_count(enum command_option option, const char *text, unsigned max, unsigned *out,
                 char why[OPTION_WHY]);

/* Parse TEXT, x0,y0,x1,y1 in blocks, to units: LEAST is x0 and y0, BEYOND x1 and y1, each within
 * FARLANDS_LIMIT. The box may be empty. Returns like option_count. */
int option_box(enum command_option option, const char *text, int64_t least[2], int64_t beyond[2],
               char why[OPTION_WHY]);

#endif
