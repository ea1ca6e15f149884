/* farlands: argv -> one command. */
#include <stdio.h>

#include "server/commands.h"

#define TAKES(option) (1u << OPTION_##option)

static int command_version(const struct command_line *line)
{
    (void)line;
    puts("farlands " FARLANDS_VERSION);
    return fflush(stdout) ? EXIT_FAILED : EXIT_DONE;
}

static const struct command commands[] = {
    {"serve", "[--config FILE] [--listen HOST:PORT] [--cache DIR]",
     "Serves until SIGTERM or SIGINT; reads its configuration again on SIGHUP.\n"
     "Needs none: a world named default is built in. Prints its URL when it is\n"
     "ready; logs to stderr.",
     TAKES(CONFIG) | TAKES(LISTEN) | TAKES(CACHE), NULL, command_serve},
    {"tile", "PATH [--config FILE] [-o FILE]",
     "Renders one tile; PATH is as in a URL, such as\n"
     "default/relief/10/512/512.png or default:42/relief/10/512/512.png, a world of\n"
     "another seed. Without -o it goes to stdout.",
     TAKES(CONFIG) | TAKES(OUTPUT), "a PATH such as default/relief/10/512/512.png", command_tile},
    {"check-config", "FILE",
     "Says whether FILE is a good configuration, and what is wrong with it.", 0, "a FILE",
     command_check_config},
    {"--version", "", NULL, 0, NULL, command_version},
    {0},
};

int main(int argc, char **argv)
{
    return command_line_run(commands, argc, argv);
}
