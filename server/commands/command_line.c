#include "command_line.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Values of getopt's that are no letters: FIRST + OPTION_... */
enum { FIRST = 256, HELP = 'h', SHOW_HELP = -1 };

/* --help's columns. */
enum { NAME_WIDTH = 13, OPTION_WIDTH = 19, HELP_MARGIN = 4 };

static const struct {
    const char *name;
    char message;      /* by which people know it rather than by its name, or 0 */
    const char *value; /* NULL: it has none */
    const char *about; /* lines divided by \n */
} known[ARG_COUNT] = {
    [ARG_CONFIG] = {"config", 0, "FILE", "YAML; config/farlands.yaml documents every key."},
    [ARG_LISTEN] = {"listen", 0, "HOST:PORT",
                    "Instead of the configuration's; port 0 picks a free one."},
    [ARG_CACHE] = {"cache", 0, "DIR",
                   "Instead of the configuration's; the folder for rendered tiles."},
    [ARG_OUTPUT] = {"output", 'o', "FILE", "Where the tile goes."},
    [ARG_WORLD] = {"world", 0, "NAME", "Whose tiles: a name, or name:seed."},
    [ARG_LAYER] = {"layer", 0, "NAME,...", "One layer or several."},
    [ARG_ZOOM] = {"zoom", 0, "A[-B]", "One zoom, or all from A to B."},
    [ARG_BBOX] = {"bbox", 0, "x0,y0,x1,y1",
                  "Blocks, x0 <= x < x1 and y0 <= y < y1: the tiles that touch it. Without it\n"
                  "the window of web maps, 0 <= x, y < 2^zoom."},
    [ARG_SCALE] = {"scale", 0, "1|2", "2: the tiles @2x."},
    [ARG_TILES] = {"tiles", 0, "FILE", "Instead: paths as in URLs, one a line; - is stdin."},
    [ARG_SHARD] = {"shard", 0, "I/N", "Every Nth tile alone, I from 0 to N - 1."},
    [ARG_DRY_RUN] = {"dry-run", 0, NULL,
                     "Only tell how many tiles, bytes and seconds it would be."},
    [ARG_LIST] = {"list", 0, NULL, "Only print the tiles' paths, one a line."},
    [ARG_EXPORT] =
        {"export", 0, "FILE",
         "An archive of them besides, MBTiles: of one layer, in the window of web maps."},
    [ARG_THREADS] = {"threads", 0, "N", "Instead of one a core."},
};

void command_line_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            /* The lowest number that is free: FD. In the mode in which nobody uses it. */
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int command_line_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    fprintf(stderr, "farlands: stdout: %s\n", strerror(errno ? errno : EIO));
    return EXIT_FAILED;
}

int wrong_usage(const char *what, const char *argument)
{
    fprintf(stderr, "farlands: %s%s%s; see farlands --help\n", what, argument ? ": " : "",
            argument ? argument : "");
    return EXIT_WRONG_USAGE;
}

/* --- Help ---------------------------------------------------------------------- */

/* The lines of TEXT behind HEAD, which is WIDTH wide and stands before the first alone. */
static void print_lines(const char *head, int width, const char *text)
{
    for (;; head = "") {
        const int length = (int)strcspn(text, "\n");
        printf("%-*s %.*s\n", width, head, length, text);
        if (!text[length])
            return;
        text += length + 1;
    }
}

/* As people write it. */
static const char *option_shown(int option, char buffer[64])
{
    if (known[option].message)
        snprintf(buffer, 64, "-%c", known[option].message);
    else
        snprintf(buffer, 64, "--%s", known[option].name);
    return buffer;
}

static int print_help(const struct command *commands)
{
    char head[128], shown[64];

    puts("farlands: serves the tiles of an infinite, seeded terrain\n");
    for (const struct command *command = commands; command->name; command++) {
        snprintf(head, sizeof head, "%*sfarlands %s", HELP_MARGIN, "", command->name);
        if (command->about)
            print_lines(head, HELP_MARGIN + (int)strlen("farlands ") + NAME_WIDTH - 1,
                        command->synopsis);
    }
    puts("    farlands --version | --help\n");
    for (const struct command *command = commands; command->name; command++)
        if (command->about)
            print_lines(command->name, NAME_WIDTH, command->about);
    putchar('\n');
    for (int i = 0; i < ARG_COUNT; i++) {
        snprintf(head, sizeof head, "%s%s%s", option_shown(i, shown), known[i].value ? " " : "",
                 known[i].value ? known[i].value : "");
        print_lines(head, OPTION_WIDTH, known[i].about);
    }
    puts("\nExit codes: 0 done, 1 failed at run time, 2 wrong usage or configuration.");
    return command_line_flush();
}

/* --- Parsing ------------------------------------------------------------------- */

static void list_for_getopt(struct option options[ARG_COUNT + 2])
{
    memset(options, 0, (ARG_COUNT + 2) * sizeof *options);
    for (int i = 0; i < ARG_COUNT; i++)
        options[i] =
            (struct option){known[i].name, known[i].value ? required_argument : no_argument, NULL,
                            known[i].message ? known[i].message : FIRST + i};
    options[ARG_COUNT] = (struct option){"help", no_argument, NULL, HELP};
}

/* The option that getopt's VALUE stands for, or -1. */
static int option_of(int value)
{
    for (int i = 0; i < ARG_COUNT; i++)
        if (value == FIRST + i || (known[i].message && value == known[i].message))
            return i;
    return -1;
}

/* What getopt could not make sense of, as VALUE ':' or '?' says. */
static int refuse(int value, char **argv)
{
    char shown[64];
    const int option = option_of(optopt);
    if (value == ':')
        return wrong_usage("a value is missing after",
                           option < 0 ? "the last option" : option_shown(option, shown));
    if (option >= 0)
        return wrong_usage("no value is accepted after", option_shown(option, shown));
    return wrong_usage("unknown option",
                       optopt ? (char[]){'-', (char)optopt, '\0'} : argv[optind - 1]);
}

static int parse(struct command_line *line, const struct command *command, int argc, char **argv)
{
    struct option options[ARG_COUNT + 2];
    char what[64], shown[64];
    int value;

    *line = (struct command_line){.command = command->name};
    list_for_getopt(options);
    opterr = optind = 0; /* 0: begin anew */
    while ((value = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
        if (value == HELP)
            return SHOW_HELP;
        if (value == ':' || value == '?')
            return refuse(value, argv);
        const int option = option_of(value);
        if (!(command->options & 1u << option)) {
            snprintf(what, sizeof what, "%s does not take", command->name);
            return wrong_usage(what, option_shown(option, shown));
        }
        line->option[option] = optarg ? optarg : "";
    }
    if (optind < argc)
        line->argument = argv[optind++];
    if (optind < argc)
        return wrong_usage("one argument too many", argv[optind]);
    snprintf(what, sizeof what, "%s %s%s", command->name,
             command->argument ? "needs " : "takes no argument",
             command->argument ? command->argument : "");
    if (!command->argument != !line->argument)
        return wrong_usage(what, line->argument);
    return EXIT_DONE;
}

static int which_command(const struct command *commands)
{
    char what[256] = "which command?";
    for (const struct command *command = commands; command->name; command++)
        if (command->about) {
            const size_t length = strlen(what);
            snprintf(what + length, sizeof what - length, "%s %s", command == commands ? "" : ",",
                     command->name);
        }
    return wrong_usage(what, NULL);
}

int command_line_run(const struct command *commands, int argc, char **argv)
{
    struct command_line line;

    if (argc < 2)
        return which_command(commands);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help(commands);
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(argv[1], command->name) == 0) {
            int code = parse(&line, command, argc - 1, argv + 1);
            return code == SHOW_HELP ? print_help(commands) : code ? code : command->run(&line);
        }
    return wrong_usage("unknown command", argv[1]);
}
