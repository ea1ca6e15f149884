#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* LONG_OPTION + ARG_... is getopt's value for an option without a letter. */
enum { LONG_OPTION = 256, HELP = 'h', SHOW_HELP = -1 };

/* Columns of --help. */
enum { NAME_WIDTH = 13, OPTION_WIDTH = 19, HELP_MARGIN = 4 };

static const struct {
    const char *name;
    const char *letter; /* shown instead of the name, or NULL */
    const char *value;  /* NULL: a flag */
    const char *about;  /* lines are separated by \n */
} options[ARG_COUNT] = {
    [ARG_CONFIG] = {"--config", NULL, "FILE",
                    "Configuration in YAML; config/farlands.yaml documents every key. Or a saved\n"
                    "/{world}.json, whose world is then the only one."},
    [ARG_LISTEN] = {"--listen", NULL, "HOST:PORT",
                    "Listen address, overrides the configuration; port 0 picks a free one."},
    [ARG_CACHE] = {"--cache", NULL, "DIR",
                   "Directory of rendered tiles, overrides the configuration."},
    [ARG_WATCH] = {"--watch", NULL, NULL,
                   "Reload the configuration whenever its file changes, and show it in open\n"
                   "viewers: the new worlds, or the error. For designing, not for public servers."},
    [ARG_OUTPUT] = {"--output", "-o", "FILE", "Output file."},
    [ARG_WORLD] = {"--world", NULL, "NAME",
                   "World: a name, or name:seed. For serve: a file, a saved /{world}.json."},
    [ARG_LAYER] = {"--layer", NULL, "NAME,...", "One or more layers."},
    [ARG_ZOOM] = {"--zoom", NULL, "A[-B]", "One zoom, or the zooms from A to B."},
    [ARG_BBOX] = {"--bbox", NULL, "x0,y0,x1,y1",
                  "The tiles that touch, or the places in, the box x0 <= x < x1, y0 <= y < y1, in\n"
                  "blocks. Without it the tiles of web maps, 0 <= x, y < 2^zoom; the places less\n"
                  "than 2^21 blocks from 0, 0."},
    [ARG_SCALE] = {"--scale", NULL, "1|2", "Pixels per tile side: 1: 256; 2: 512, as @2x."},
    [ARG_FORMAT] = {"--format", NULL, "png|webp",
                    "The tiles' format: png, the default; webp, if the layers have it."},
    [ARG_TILES] = {"--tiles", NULL, "FILE",
                   "A list of tiles instead: one path per line, as in URLs; - is stdin."},
    [ARG_SHARD] = {"--shard", NULL, "I/N", "Only every Nth tile; I from 0 to N - 1."},
    [ARG_DRY_RUN] = {"--dry-run", NULL, NULL, "Only estimate the tiles, bytes and time."},
    [ARG_LIST] = {"--list", NULL, NULL, "Only print the paths of the tiles, one per line."},
    [ARG_EXPORT] = {"--export", NULL, "FILE",
                    "Also write an archive, FILE.mbtiles or FILE.pmtiles; one layer, tiles of web\n"
                    "maps only."},
    [ARG_THREADS] = {"--threads", NULL, "N", "Threads; default: one per core."},
    [ARG_PLACES] = {"--places", NULL, "N", "Places on land to look at closely; default: 160."},
    [ARG_SEED] = {"--seed", NULL, "N", "The seed by which places are drawn; default: 0."},
    [ARG_JSON] = {"--json", NULL, NULL, "Print JSON."},
};

void command_line_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            /* open returns the lowest free number, FD. The mode is the opposite of the stream's
             * use. */
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int command_line_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    return failed("stdout: %s", strerror(errno ? errno : EIO));
}

static void print_error(const char *format, va_list arguments, const char *end)
{
    fputs("farlands: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs(end, stderr);
}

int failed(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(format, arguments, "\n");
    va_end(arguments);
    return EXIT_FAILED;
}

int wrong_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(format, arguments, "; see farlands --help\n");
    va_end(arguments);
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

const char *option_shown(enum command_option option)
{
    return options[option].letter ? options[option].letter : options[option].name;
}

static int print_help(const struct command *commands)
{
    char head[128];

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
        snprintf(head, sizeof head, "%s %s", option_shown(i),
                 options[i].value ? options[i].value : "");
        print_lines(head, OPTION_WIDTH, options[i].about);
    }
    puts("\nExit codes: 0 done, 1 failed at run time, 2 invalid usage or configuration.");
    return command_line_flush();
}

/* getopt's value for OPTION. */
static int getopt_value(int option)
{
    return options[option].letter ? options[option].letter[1] : LONG_OPTION + option;
}

/* The option with getopt's VALUE, or ARG_COUNT. */
static int option_of(int value)
{
    int option = 0;
    while (option < ARG_COUNT && getopt_value(option) != value)
        option++;
    return option;
}

/* Print why getopt returned VALUE, ':' or '?'. */
static int refuse(int value, char **argv)
{
    const int option = option_of(optopt);
    if (value == ':')
        return wrong_usage("missing value: %s",
                           option < ARG_COUNT ? option_shown(option) : "the last option");
    if (option < ARG_COUNT)
        return wrong_usage("unexpected value: %s", option_shown(option));
    if (optopt)
        return wrong_usage("unknown option: -%c", optopt);
    return wrong_usage("unknown option: %s", argv[optind - 1]);
}

static int parse(struct command_line *line, const struct command *command, int argc, char **argv)
{
    struct option list[ARG_COUNT + 2] = {[ARG_COUNT] = {"help", no_argument, NULL, HELP}};
    int value;

    for (int i = 0; i < ARG_COUNT; i++)
        list[i] = (struct option){options[i].name + strlen("--"), options[i].value != NULL, NULL,
                                  getopt_value(i)};
    *line = (struct command_line){0};
    opterr = optind = 0; /* 0: reset getopt */
    while ((value = getopt_long(argc, argv, ":ho:", list, NULL)) != -1) {
        if (value == HELP)
            return SHOW_HELP;
        if (value == ':' || value == '?')
            return refuse(value, argv);
        const int option = option_of(value);
        if (!(command->options & 1u << option))
            return wrong_usage("%s does not take: %s", command->name, option_shown(option));
        line->option[option] = optarg ? optarg : "";
    }
    line->argument = argv[optind];
    if (line->argument && argv[optind + 1])
        return wrong_usage("unexpected argument: %s", argv[optind + 1]);
    if (line->argument && !command->argument)
        return wrong_usage("%s takes no argument: %s", command->name, line->argument);
    if (!line->argument && command->argument && command->argument[0])
        return wrong_usage("%s needs %s", command->name, command->argument);
    return EXIT_DONE;
}

static int no_command(const struct command *commands)
{
    char names[256] = "";
    for (const struct command *command = commands; command->name; command++)
        if (command->about) {
            const size_t length = strlen(names);
            snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "",
                     command->name);
        }
    return wrong_usage("no command; expected one of %s", names);
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
    return wrong_usage("unknown command: %s", argv[1]);
}
