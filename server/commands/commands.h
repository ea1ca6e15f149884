/* The commands of farlands, and how they are run. A table of commands and one of options serve both
 * to parse the command line and to write --help. Errors are printed to stderr here. */
#ifndef FARLANDS_COMMANDS_COMMANDS_H
#define FARLANDS_COMMANDS_COMMANDS_H

#include "server/world/world.h"

/* The process's exit codes. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_WRONG_USAGE = 2 };

/* In the order of --help. */
enum command_option {
    ARG_CONFIG,
    ARG_LISTEN,
    ARG_CACHE,
    ARG_WATCH,
    ARG_OUTPUT,
    ARG_WORLD,
    ARG_LAYER,
    ARG_ZOOM,
    ARG_BBOX,
    ARG_SCALE,
    ARG_FORMAT,
    ARG_TILES,
    ARG_SHARD,
    ARG_DRY_RUN,
    ARG_LIST,
    ARG_EXPORT,
    ARG_THREADS,
    ARG_PLACES,
    ARG_SEED,
    ARG_JSON,
    ARG_COUNT,
};

struct command_line {
    const char *option[ARG_COUNT]; /* the value, "" for a flag; NULL: not given */
    const char *argument;          /* the argument that is not an option, or NULL */
};

struct command {
    const char *name;
    const char *synopsis; /* for --help; lines are separated by \n */
    const char *about;    /* for --help; NULL: not listed */
    uint32_t options;     /* bits 1 << ARG_... */
    const char *argument; /* required, such as "a FILE"; "": optional; NULL: none */
    int (*run)(const struct command_line *line); /* returns the exit code */
};

int command_serve(const struct command_line *line);
int command_tile(const struct command_line *line);
int command_render(const struct command_line *line);
int command_describe(const struct command_line *line);
int command_check_config(const struct command_line *line);

/* Run the command that ARGV names; COMMANDS ends with a NULL name. Returns the exit code. */
int command_line_run(const struct command *commands, int argc, char **argv);

/* Call it first: opens closed standard streams on /dev/null, because otherwise one of our files
 * would get such a number. Reading and writing these streams still fails. */
void command_line_streams(void);

/* Flush stdout. Returns EXIT_DONE, or EXIT_FAILED after printing an error. */
int command_line_flush(void);

/* OPTION as in --help, such as --config. */
const char *option_shown(enum command_option option);

/* Print an error. Returns EXIT_FAILED. */
__attribute__((format(printf, 1, 2))) int failed(const char *format, ...);

/* Print a usage error. Returns EXIT_WRONG_USAGE. */
__attribute__((format(printf, 1, 2))) int wrong_usage(const char *format, ...);

/* Check the environment variable FARLANDS_KERNEL. Returns EXIT_DONE, or EXIT_WRONG_USAGE after
 * printing an error. */
int check_kernel(void);

/* Read FILE; NULL: the built-in configuration. Also checks the kernel. Returns EXIT_DONE, and the
 * caller frees *CONFIG; or another exit code. */
int load_config(struct config **config, const char *file);

/* Create CONFIG's worlds; the caller gets a reference. Returns an exit code. */
int load_worlds(struct worlds **worlds, const struct config *config);

/* Read FILE and create its worlds. Returns an exit code. */
int load_worlds_of_file(struct worlds **worlds, const char *file);

/* Hold the world NAME or NAME:SEED for the caller. Errors begin with OPTION, as in --help. Returns
 * an exit code. */
int hold_world(const struct world **out, const struct worlds *worlds, const char *option,
               const char *name);

#endif
