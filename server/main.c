/* farlands: argv -> one command. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "server/log.h"
#include "server/render.h"
#include "server/resolve.h"
#include "server/serve.h"

enum { DONE = 0, FAILED = 1, WRONG_USAGE = 2, HELP = -1 };

static const char usage[] =
    "farlands: serves the tiles of an infinite, seeded terrain\n"
    "\n"
    "    farlands serve        [--config FILE] [--listen HOST:PORT] [--cache DIR]\n"
    "    farlands tile PATH    [--config FILE] [-o FILE]\n"
    "    farlands check-config FILE\n"
    "    farlands --version | --help\n"
    "\n"
    "serve         Serves until SIGTERM or SIGINT; reads its configuration again on SIGHUP.\n"
    "              Needs none: a world named default is built in. Prints its URL when it is\n"
    "              ready; logs to stderr.\n"
    "tile          Renders one tile; PATH is as in a URL, such as\n"
    "              default/relief/10/512/512.png or default:42/relief/10/512/512.png, a world of\n"
    "              another seed. Without -o it goes to stdout.\n"
    "check-config  Says whether FILE is a good configuration, and what is wrong with it.\n"
    "\n"
    "--config FILE       YAML; config/farlands.yaml documents every key.\n"
    "--listen HOST:PORT  Instead of the configuration's; port 0 picks a free one.\n"
    "--cache DIR         Instead of the configuration's; the folder for rendered tiles.\n"
    "-o FILE             Where the tile goes.\n"
    "\n"
    "Exit codes: 0 done, 1 failed at run time, 2 wrong usage or configuration.\n";

static int wrong_usage(const char *what, const char *argument)
{
    fprintf(stderr, "farlands: %s%s%s; see farlands --help\n", what, argument ? ": " : "",
            argument ? argument : "");
    return WRONG_USAGE;
}

struct options {
    const char *config, *listen, *cache, *output;
    const char *argument; /* the one that is not an option, or NULL */
};

/* An option as people write it. */
static const char *option_name(const struct option *options, int letter)
{
    static const char *const dashed[] = {"--config", "--listen", "--cache", "-o", "--help"};
    for (int i = 0; options[i].name; i++)
        if (options[i].val == letter)
            return dashed[i];
    return "the last option";
}

/* Options of COMMAND, of which only those in ACCEPTED are taken: c l d o. */
static int parse_options(int argc, char **argv, const char *accepted, struct options *options)
{
    static const struct option long_options[] = {
        {"config", required_argument, NULL, 'c'}, {"listen", required_argument, NULL, 'l'},
        {"cache", required_argument, NULL, 'd'},  {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},         {0},
    };
    int letter;

    memset(options, 0, sizeof *options);
    opterr = optind = 0; /* 0: begin anew */
    while ((letter = getopt_long(argc, argv, ":ho:", long_options, NULL)) != -1) {
        if (letter == 'h')
            return HELP;
        if (letter == ':')
            return wrong_usage("a value is missing after", option_name(long_options, optopt));
        if (letter == '?')
            return wrong_usage("unknown option",
                               optopt ? (char[]){'-', (char)optopt, '\0'} : argv[optind - 1]);
        if (!strchr(accepted, letter)) {
            char what[64];
            snprintf(what, sizeof what, "%s does not take", argv[0]);
            return wrong_usage(what, option_name(long_options, letter));
        }
        const char **place = letter == 'c'   ? &options->config
                             : letter == 'l' ? &options->listen
                             : letter == 'd' ? &options->cache
                                             : &options->output;
        *place = optarg;
    }
    if (optind < argc)
        options->argument = argv[optind++];
    if (optind < argc)
        return wrong_usage("one argument too many", argv[optind]);
    return DONE;
}

static int load(struct config **config, const char *file)
{
    struct config_layer known[CONFIG_LAYERS_MAX + 1];
    struct config_error error;
    layers_known(known);
    if (config_load(config, file, known, &error) == 0)
        return DONE;
    fprintf(stderr, "farlands: %s\n", error.text);
    return WRONG_USAGE;
}

/* The worlds of a configuration; whatever is wrong has been told. */
static int load_worlds(struct worlds **worlds, const char *file)
{
    struct config *config;
    int code = load(&config, file);
    if (code)
        return code;
    int err = worlds_new(worlds, config);
    config_free(config);
    if (err) {
        fprintf(stderr, "farlands: %s\n", strerror(-err));
        return FAILED;
    }
    return DONE;
}

/* A serve_loader: what the file says, but for what the command line says. */
static int load_to_serve(void *context, struct config **config, struct config_error *error)
{
    const struct options *options = context;
    struct config_layer known[CONFIG_LAYERS_MAX + 1];

    layers_known(known);
    int err = config_load(config, options->config, known, error);
    if (err)
        return err;
    if (options->listen)
        snprintf((*config)->listen, sizeof(*config)->listen, "%s", options->listen);
    if (options->cache)
        snprintf((*config)->cache.path, sizeof(*config)->cache.path, "%s", options->cache);
    return 0;
}

static int command_serve(int argc, char **argv)
{
    struct options options;
    struct config *config;
    struct config_error error;
    int code = parse_options(argc, argv, "cld", &options);
    if (code)
        return code;
    if (options.argument)
        return wrong_usage("serve takes no argument", options.argument);
    if (options.listen && !authority_can_listen(options.listen, strlen(options.listen)))
        return wrong_usage("--listen: accepted is HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080, "
                           "not",
                           options.listen);
    if (options.cache && strlen(options.cache) >= sizeof config->cache.path)
        return wrong_usage("--cache: the path is too long", NULL);
    if (load_to_serve(&options, &config, &error)) {
        fprintf(stderr, "farlands: %s\n", error.text);
        return WRONG_USAGE;
    }
    log_start(config->log);
    return serve(config, load_to_serve, &options);
}

/* The route's world, with a hold on it, or NULL with what is wrong in WHY. */
static const struct world *hold_world(const struct worlds *worlds, const struct route *route,
                                      char why[ROUTE_WHY])
{
    const struct world *world = resolve_world(worlds, route, why);
    struct worlds *derived;

    if (!world)
        return NULL;
    if (!route->seeded)
        return world_hold(world);
    if (worlds_derive(&derived, world, route->seed) == 0)
        return derived->world;
    snprintf(why, ROUTE_WHY, "out of memory");
    return NULL;
}

/* The tile that PATH names, with a hold on its world, or what is wrong with it in WHY. */
static int find_tile(const struct worlds *worlds, const char *path, struct tile *tile,
                     char why[ROUTE_WHY])
{
    struct route route;
    struct farlands_grid grid;
    char uri[1024];

    snprintf(uri, sizeof uri, "%s%s", path[0] == '/' ? "" : "/", path);
    if (route_parse(&route, uri, why))
        return -EINVAL;
    if (route.kind != ROUTE_TILE) {
        snprintf(why, ROUTE_WHY, "a tile is {world}/{layer}/{z}/{x}/{y}[@2x].{extension}");
        return -EINVAL;
    }
    const struct world *world = hold_world(worlds, &route, why);
    if (!world)
        return -ENOENT;
    int err = resolve_tile(world, &route, tile, &grid, why);
    if (err)
        world_release(world);
    return err;
}

static int write_blob(const struct blob *blob, const char *file)
{
    FILE *out = file ? fopen(file, "wb") : stdout;
    if (!out || fwrite(blob->bytes, 1, blob->length, out) != blob->length || fflush(out) ||
        (file && fclose(out))) {
        fprintf(stderr, "farlands: %s: %s\n", file ? file : "stdout", strerror(errno));
        return FAILED;
    }
    return DONE;
}

static int render_to(const struct tile *tile, const char *file)
{
    struct easel *easel;
    struct blob *blob;
    int err = easel_new(&easel);
    if (!err) {
        err = render_tile(&blob, easel, tile, NULL);
        easel_free(easel);
    }
    if (err) {
        fprintf(stderr, "farlands: the tile could not be rendered: %s\n", strerror(-err));
        return FAILED;
    }
    int code = write_blob(blob, file);
    blob_release(blob);
    return code;
}

static int command_tile(int argc, char **argv)
{
    struct options options;
    struct worlds *worlds;
    struct tile tile;
    char why[ROUTE_WHY];
    int code = parse_options(argc, argv, "co", &options);
    if (code)
        return code;
    if (!options.argument)
        return wrong_usage("tile needs a PATH such as default/relief/10/512/512.png", NULL);
    code = load_worlds(&worlds, options.config);
    if (code)
        return code;
    if (find_tile(worlds, options.argument, &tile, why)) {
        fprintf(stderr, "farlands: %s: %s\n", options.argument, why);
        code = WRONG_USAGE;
    } else {
        code = render_to(&tile, options.output);
        world_release(tile.world);
    }
    worlds_release(worlds);
    return code;
}

static void print_world(const struct world *world)
{
    printf("%s: fingerprint %s, heights from %g to %g metres, layers", world->config.name,
           world->fingerprint, (double)world->style->min, (double)world->style->max);
    for (int i = 0; layers[i].name; i++)
        if (world_serves(world, i))
            printf(" %s", layers[i].name);
    putchar('\n');
}

static int command_check_config(int argc, char **argv)
{
    struct options options;
    struct worlds *worlds;
    int code = parse_options(argc, argv, "", &options);
    if (code)
        return code;
    if (!options.argument)
        return wrong_usage("check-config needs a FILE", NULL);
    code = load_worlds(&worlds, options.argument);
    if (code)
        return code;
    for (int i = 0; i < worlds->count; i++)
        print_world(&worlds->world[i]);
    worlds_release(worlds);
    return fflush(stdout) ? FAILED : DONE;
}

static int command_version(int argc, char **argv)
{
    (void)argc, (void)argv;
    puts("farlands " FARLANDS_VERSION);
    return fflush(stdout) ? FAILED : DONE;
}

static int command_help(int argc, char **argv)
{
    (void)argc, (void)argv;
    fputs(usage, stdout);
    return fflush(stdout) ? FAILED : DONE;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = {
        {"serve", command_serve},
        {"tile", command_tile},
        {"check-config", command_check_config},
        {"--version", command_version},
        {"--help", command_help},
        {"-h", command_help},
    };

    if (argc < 2)
        return wrong_usage("which command? serve, tile or check-config", NULL);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[1], commands[i].name) == 0) {
            int code = commands[i].run(argc - 1, argv + 1);
            return code == HELP ? command_help(argc, argv) : code;
        }
    return wrong_usage("unknown command", argv[1]);
}
