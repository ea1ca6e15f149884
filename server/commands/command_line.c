#include "command_line.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* LONG_OPTION + ARG_... is getopt's value of an option without a letter. */
enum { LONG_OPTION = 256, HELP = 'h', SHOW_HELP = -1 };

/* Columns of --help. */
enum { NAME_WIDTH = 13, OPTION_WIDTH = 19, HELP_MARGIN = 4 };

static const struct {
    const char *name;
    char letter;       /* shown instead of the name, or 0 */
    const char *value; /* NULL: a flag */
    const char *about; /* lines are separated by \n */
} options[ARG_COUNT] = {
    [ARG_CONFIG] = {"config", 0, "FILE",
                    "Configuration in YAML; config/farlands.yaml documents every key."},
    [ARG_LISTEN] = {"listen", 0, "HOST:PORT",
                    "Listen address, overrides the configuration; port 0 picks a free one."},
    [ARG_CACHE] = {"cache", 0, "DIR", "Directory of rendered tiles, overrides the configuration."},
    [ARG_OUTPUT] = {"output", 'o', "FILE", "Output file."},
    [ARG_WORLD] = {"world", 0, "NAME", "World: a name, or name:seed."},
    [ARG_LAYER] = {"layer", 0, "NAME,...", "One or more layers."},
    [ARG_ZOOM] = {"zoom", 0, "A[-B]", "One zoom, or the zooms from A to B."},
    [ARG_BBOX] = {"bbox", 0, "x0,y0,x1,y1",
                  "The tiles that touch the box x0 <= x < x1, y0 <= y < y1, in blocks. Without it\n"
                  "the tiles of web maps, 0 <= x, y < 2^zoom."},
    [ARG_SCALE] = {"scale", 0, "1|2", "Pixels per tile side: 1: 256; 2: 512, as @2x."},
    [ARG_TILES] = {"tiles", 0, "FILE",
                   "A list of tiles instead: one path per line, as in URLs; - is stdin."},
    [ARG_SHARD] = {"shard", 0, "I/N", "Only every Nth tile; I from 0 to N - 1."},
    [ARG_DRY_RUN] = {"dry-run", 0, NULL, "Only estimate the tiles, bytes and time."},
    [ARG_LIST] = {"list", 0, NULL, "Only print the paths of the tiles, one per line."},
    [ARG_EXPORT] = {"export", 0, "FILE",
                    "Also write an MBTiles archive; one layer, tiles of web maps only."},
    [ARG_THREADS] = {"threads", 0, "N", "Render threads; default: one per core."},
};

void command_line_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            /* open returns the lowest free number, FD. The mode is the opposite of its use. */
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int command_line_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    fprintf(stderr, "farlands: stdout: %s\n", strerror(errno ? errno : EIO));
    return EXIT_FAILED;
}

int wrong_usage(const char *problem, const char *argument)
{
    fprintf(stderr, "farlands: %s%s%s; see farlands --help\n", problem, argument ? ": " : "",
            argument ? argument : "");
    return EXIT_WRONG_USAGE;
}

/* Print the lines of TEXT as a column; HEAD precedes the first line in WIDTH characters. */
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

static const char *option_shown(int option, char buffer[64])
{
    if (options[option].letter)
        snprintf(buffer, 64, "-%c", options[option].letter);
    else
        snprintf(buffer, 64, "--%s", options[option].name);
    return buffer;
}

static int print_help(const struct command *commands)
{
    char head[128], shown[64];

    puts("farlands: serve the tiles of an infinite, seeded terrain\n");
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
        snprintf(head, sizeof head, "%s%s%s", option_shown(i, shown), options[i].value ? " " : "",
                 options[i].value ? options[i].value : "");
        print_lines(head, OPTION_WIDTH, options[i].about);
    }
    puts("\nExit codes: 0 done, 1 failed at run time, 2 invalid usage or configuration.");
    return command_line_flush();
}

static void list_for_getopt(struct option list[ARG_COUNT + 2])
{
    memset(list, 0, (ARG_COUNT + 2) * sizeof *list);
    for (int i = 0; i < ARG_COUNT; i++)
        list[i] =
            (struct option){options[i].name, options[i].value ? required_argument : no_argument,
                            NULL, options[i].letter ? options[i].letter : LONG_OPTION + i};
    list[ARG_COUNT] = (struct option){"help", no_argument, NULL, HELP};
}

/* The option of getopt's VALUE, or -1. */
static int option_of(int value)
{
    for (int i = 0; i < ARG_COUNT; i++)
        if (value == LONG_OPTION + i || (options[i].letter && value == options[i].letter))
            return i;
    return -1;
}

/* Getopt returned VALUE, ':' or '?'. */
static int refuse(int value, char **argv)
{
    char shown[64];
    const int option = option_of(optopt);
    if (value == ':')
        return wrong_usage("missing value",
                           option < 0 ? "the last option" : option_shown(option, shown));
    if (option >= 0)
        return wrong_usage("unexpected value", option_shown(option, shown));
    return wrong_usage("unknown option",
                       optopt ? (char[]){'-', (char)optopt, '\0'} : argv[optind - 1]);
}

static int parse(struct command_line *line, const struct command *command, int argc, char **argv)
{
    struct option list[ARG_COUNT + 2];
    char problem[64], shown[64];
    int value;

    *line = (struct command_line){.command = command->name};
    list_for_getopt(list);
    opterr = optind = 0; /* 0: reset getopt */
    while ((value = getopt_long(argc, argv, ":ho:", list, NULL)) != -1) {
        if (value == HELP)
            return SHOW_HELP;
        if (value == ':' || value == '?')
            return refuse(value, argv);
        const int option = option_of(value);
        if (!(command->options & 1u << option)) {
            snprintf(problem, sizeof problem, "%s does not take", command->name);
            return wrong_usage(problem, option_shown(option, shown));
        }
        line->option[option] = optarg ? optarg : "";
    }
    if (optind < argc)
        line->argument = argv[optind++];
    if (optind < argc)
        return wrong_usage("unexpected argument", argv[optind]);
    snprintf(problem, sizeof problem, "%s %s%s", command->name,
             command->argument ? "needs " : "takes no argument",
             command->argument ? command->argument : "");
    if (!command->argument != !line->argument)
        return wrong_usage(problem, line->argument);
    return EXIT_DONE;
}

static int no_command(const struct command *commands)
{
    char problem[256] = "no command; expected one of";
    for (const struct command *command = commands; command->name; command++)
        if (command->about) {
            const size_t length = strlen(problem);
            snprintf(problem + length, sizeof problem - length, "%s %s",
                     command == commands ? "" : ",", command->name);
        }
    return wrong_usage(problem, NULL);
}

int command_line_run(const struct command *commands, int argc, char **argv)
{
    struct command_line line;

    if (argc < 2)
        return no_command(commands);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help(commands);
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(argv[1], command->name) == 0) {
            int code = parse(&line, command, argc - 1, argv + 1);
            return code == SHOW_HELP ? print_help(commands) : code ? code : command->run(&line);
        }
    return wrong_usage("unknown command", argv[1]);
}
