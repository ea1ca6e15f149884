/*
 * The command line: a table of commands, each with the options that it takes. What is
 * wrong is told on stderr here, and --help written from the tables.
 */
#ifndef FARLANDS_COMMANDS_COMMAND_LINE_H
#define FARLANDS_COMMANDS_COMMAND_LINE_H

#include <stdint.h>

/* The process's exit codes. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_WRONG_USAGE = 2 };

/* In the order in which --help lists them. */
enum command_option {
    ARG_CONFIG,
    ARG_LISTEN,
    ARG_CACHE,
    ARG_OUTPUT,
    ARG_WORLD,
    ARG_LAYER,
    ARG_ZOOM,
    ARG_BBOX,
    ARG_SCALE,
    ARG_TILES,
    ARG_SHARD,
    ARG_DRY_RUN,
    ARG_LIST,
    ARG_EXPORT,
    ARG_THREADS,
    ARG_COUNT,
};

/* What was given for a command that takes it. */
struct command_line {
    const char *command;
    const char *option[ARG_COUNT]; /* the value, "" of one that has none; NULL: not given */
    const char *argument;          /* the one that is not an option, or NULL */
};

struct command {
    const char *name;
    const char *synopsis; /* what follows the name; lines are divided by \n */
    const char *about;    /* the same; what --help says besides, or NULL */
    uint32_t options;     /* bit 1 << ARG_... for each that it takes */
    const char *argument; /* what it needs that is no option, such as "a FILE"; NULL: none */
    int (*run)(const struct command_line *line); /* returns the exit code */
};

/* Run what ARGV asks for of COMMANDS, which end with a NULL name. Returns the exit code. */
int command_line_run(const struct command *commands, int argc, char **argv);

/* To be called first: streams that are closed are opened on nothing, so that no file of ours gets
 * their numbers and what is told is written into it. They fail as before. */
void command_line_streams(void);

/* The end of what was printed on stdout. Returns EXIT_DONE; EXIT_FAILED where it could not be
 * written, and has told so. */
int command_line_flush(void);

/* Tell that WHAT is wrong, and with it, if it is not NULL, the ARGUMENT. Returns EXIT_WRONG_USAGE.
 */
int wrong_usage(const char *what, const char *argument);

#endif
