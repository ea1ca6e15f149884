#include <string.h>
#include <sys/stat.h>

#include "server/commands/commands.h"
#include "server/daemon/daemon.h"

/* True if FILE is regular or missing; a missing one is an error of the configuration's reader.
 * Nobody saves an open file's name, such as /dev/stdin. */
static bool can_watch(const char *file)
{
    struct stat status;
    return file && strncmp(file, "/dev/", strlen("/dev/")) != 0 &&
           (stat(file, &status) < 0 || S_ISREG(status.st_mode));
}

int command_serve(const struct command_line *line)
{
    const char *world = line->option[ARG_WORLD], *file = world ? world : line->option[ARG_CONFIG];
    const struct daemon_options options = {file, line->option[ARG_LISTEN], line->option[ARG_CACHE],
                                           line->option[ARG_WATCH], world};
    struct config *config;

    if (world && line->option[ARG_CONFIG])
        return wrong_usage("--world cannot be combined with --config: expected in the "
                           "configuration worlds: [{ file: %.200s }]",
                           world);
    if (options.listen && !authority_can_listen(options.listen, strlen(options.listen)))
        return wrong_usage(
            "--listen: expected HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080, not: %s",
            options.listen);
    if (options.cache && strlen(options.cache) >= sizeof config->cache.path)
        return wrong_usage("--cache: the path is too long");
    if (options.watch && !can_watch(options.file))
        return wrong_usage("--watch: expected --config FILE or --world FILE, a regular file%s%s",
                           options.file ? ", not: " : "", options.file ? options.file : "");
    int code = check_kernel();
    return code ? code : daemon_run(&options);
}
