/* Parses the command line by a table of commands and one of options, from which --help is written,
 * too. Usage errors are printed to stderr here. */
#ifndef FARLANDS_COMMANDS_COMMAND_LINE_H
#define FARLANDS_COMMANDS_COMMAND_LINE_H

#include <stdint.h>

/* The process's exit codes. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_WRONG_USAGE = 2 };

/* In the order of --help. */
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

struct command_line {
    const char *command;
    const char *option[ARG_COUNT]; /* the value, "" for a flag; NULL: not given */
    const char *argument;          /* that is not an option, or NULL */
};

struct command {
    const char *name;
    const char *synopsis; /* for --help; lines are separated by \n */
    const char *about;    /* for --help; NULL: not listed */
    uint32_t options;     /* bits 1 << ARG_... */
    const char *argument; /* the required argument, such as "a FILE"; NULL: none */
    int (*run)(const struct command_line *line); /* returns the exit code */
};

/* Run the command of ARGV; COMMANDS ends with a NULL name. Returns the exit code. */
int command_line_run(const struct command *commands, int argc, char **argv);

/* Call it first: opens closed standard streams on /dev/null, so that no file of ours gets their
 * numbers. Reading and writing them still fails. */
void command_line_streams(void);

/* Flush stdout. Returns EXIT_DONE; EXIT_FAILED after printing an error. */
int command_line_flush(void);

/* Print a usage error: PROBLEM, and ARGUMENT if not NULL. Returns EXIT_WRONG_USAGE. */
int wrong_usage(const char *problem, const char *argument);

#endif
