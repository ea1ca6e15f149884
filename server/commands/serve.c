#include <stdio.h>
#include <string.h>

#include "server/commands/commands.h"
#include "server/daemon/daemon.h"
#include "server/layers/layer.h"
#include "server/telemetry/log.h"

/* A daemon_loader: the options override the file. */
static int load(void *context, struct config **config, struct config_error *error)
{
    const struct command_line *line = context;
    const char *listen = line->option[ARG_LISTEN], *cache = line->option[ARG_CACHE];
    struct config_layer known[CONFIG_LAYERS_MAX + 1];

    layers_known(known);
    int err = config_load(config, line->option[ARG_CONFIG], known, error);
    if (err)
        return err;
    if (listen)
        snprintf((*config)->listen, sizeof(*config)->listen, "%s", listen);
    if (cache)
        snprintf((*config)->cache.path, sizeof(*config)->cache.path, "%s", cache);
    return 0;
}

int command_serve(const struct command_line *line)
{
    const char *listen = line->option[ARG_LISTEN], *cache = line->option[ARG_CACHE];
    struct command_line kept = *line;
    struct config *config;
    struct config_error error;

    if (listen && !authority_can_listen(listen, strlen(listen)))
        return wrong_usage(
            "--listen: expected HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080, not: %s", listen);
    if (cache && strlen(cache) >= sizeof config->cache.path)
        return wrong_usage("--cache: the path is too long");
    if (load(&kept, &config, &error)) {
        fprintf(stderr, "farlands: %s\n", error.text);
        return EXIT_WRONG_USAGE;
    }
    log_start(config->log);
    return daemon_run(config, load, &kept);
}
