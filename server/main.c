/* The table of commands. */
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
    {"serve", "[--config FILE | --world FILE] [--watch] [--listen HOST:PORT] [--cache DIR]",
     "Serve until SIGTERM or SIGINT; SIGHUP reloads the configuration. Without one,\n"
     "serves the built-in worlds: default, archipelago, alps. Prints the URL when it is\n"
     "ready; logs to stderr.",
     TAKES(CONFIG) | TAKES(WORLD) | TAKES(LISTEN) | TAKES(CACHE) | TAKES(WATCH), NULL,
     command_serve},
    {"tile", "PATH [--config FILE] [-o FILE]",
     "Render one tile. PATH is as in a URL: default/relief/10/512/512.png, or with\n"
     "another seed default:42/relief/10/512/512.png; .webp, .r16, ... if the layer has\n"
     "them. Without -o, writes to stdout.",
     TAKES(CONFIG) | TAKES(OUTPUT), "a PATH such as default/relief/10/512/512.png", command_tile},
    {"render",
     "--world W --layer L[,L...] --zoom A[-B] [--bbox x0,y0,x1,y1] [--scale 1|2]\n"
     "[--format png|webp] [--shard I/N] [--dry-run | --list | --export FILE]\n"
     "[--threads N] [--config FILE] [--cache DIR]\n"
     "--tiles FILE|- [options]",
     "Render the tiles that are missing in the disk cache, also while a daemon runs.\n"
     "If interrupted, the same command continues.",
     TAKES(WORLD) | TAKES(LAYER) | TAKES(ZOOM) | TAKES(BBOX) | TAKES(SCALE) | TAKES(FORMAT) |
         TAKES(TILES) | TAKES(SHARD) | TAKES(DRY_RUN) | TAKES(LIST) | TAKES(EXPORT) |
         TAKES(THREADS) | TAKES(CONFIG) | TAKES(CACHE),
     NULL, command_render},
    {"describe",
     "[WORLD[:SEED]] [--bbox x0,y0,x1,y1] [--places N] [--seed N] [--json]\n"
     "[--threads N] [--config FILE]",
     "Measure a world: relief, slopes, walks, depressions, heights, times of tiles.\n"
     "Without WORLD, the first one.",
     TAKES(CONFIG) | TAKES(BBOX) | TAKES(PLACES) | TAKES(SEED) | TAKES(JSON) | TAKES(THREADS), "",
     command_describe},
    {"check-config", "FILE", "Check the configuration, or the saved /{world}.json, FILE.", 0,
     "a FILE", command_check_config},
    {"--version", "", NULL, 0, NULL, command_version},
    {0},
};

int main(int argc, char **argv)
{
    command_line_streams();
    return command_line_run(commands, argc, argv);
}
