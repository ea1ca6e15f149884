/* farlands: argv -> one command. */
#include <stdio.h>

#include "server/commands/commands.h"

#define TAKES(option) (1u << ARG_##option)

static int command_version(const struct command_line *line)
{
    (void)line;
    puts("farlands " FARLANDS_VERSION);
    return command_line_flush();
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
    {"render",
     "--world W --layer L[,L...] --zoom A[-B] [--bbox x0,y0,x1,y1] [--scale 1|2]\n"
     "[--shard I/N] [--dry-run | --list | --export FILE] [--threads N]\n"
     "[--config FILE] [--cache DIR]\n"
     "--tiles FILE|- [the same options]",
     "Renders ahead of time what the disk cache lacks, beside a daemon or without one;\n"
     "interrupted, the same command goes on where it was.",
     TAKES(WORLD) | TAKES(LAYER) | TAKES(ZOOM) | TAKES(BBOX) | TAKES(SCALE) | TAKES(TILES) |
         TAKES(SHARD) | TAKES(DRY_RUN) | TAKES(LIST) | TAKES(EXPORT) | TAKES(THREADS) |
         TAKES(CONFIG) | TAKES(CACHE),
     NULL, command_render},
    {"check-config", "FILE",
     "Says whether FILE is a good configuration, and what is wrong with it.", 0, "a FILE",
     command_check_config},
    {"--version", "", NULL, 0, NULL, command_version},
    {0},
};

int main(int argc, char **argv)
{
    command_line_streams();
    return command_line_run(commands, argc, argv);
}
