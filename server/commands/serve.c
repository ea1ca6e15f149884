#include <string.h>

#include "server/commands/commands.h"
#include "server/daemon/daemon.h"

int command_serve(const struct command_line *line)
{
    const struct daemon_options options = {line->option[ARG_CONFIG], line->option[ARG_LISTEN],
                                           line->option[ARG_CACHE]};
    struct config *config;

    if (options.listen && !authority_can_listen(options.listen, strlen(options.listen)))
        return wrong_usage(
            "--listen: expected HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080, not: %s",
            options.listen);
    if (options.cache && strlen(options.cache) >= sizeof config->cache.path)
        return wrong_usage("--cache: the path is too long");
    int code = check_kernel();
    return code ? code : daemon_run(&options);
}
