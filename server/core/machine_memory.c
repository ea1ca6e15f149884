#include "machine_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/sysinfo.h>

/* The number in the file ROOT DIRECTORY PATH / NAME. Returns UINT64_MAX if the file does not exist
 * or says "max". */
static uint64_t read_limit(const char *root, const char *directory, const char *path,
                           const char *name)
{
    char file[2 * MAXPATHLEN];
    uint64_t limit = UINT64_MAX;

    snprintf(file, sizeof file, "%s%s%s/%s", root, directory, path, name);
    FILE *stream = fopen(file, "re");
    if (!stream)
        return UINT64_MAX;
    if (fscanf(stream, "%" SCNu64, &limit) != 1)
        limit = UINT64_MAX;
    fclose(stream);
    return limit;
}

/* The least limit of the group PATH and all groups above. Cuts PATH up. Inside a container, PATH
 * may be the host's name for the group that is topmost there. */
static uint64_t least_limit(const char *root, const char *directory, char *path, const char *name)
{
    uint64_t least = UINT64_MAX;

    for (char *end = path + strlen(path); end; end = strrchr(path, '/')) {
        *end = '\0';
        const uint64_t limit = read_limit(root, directory, path, name);
        least = limit < least ? limit : least;
    }
    return least;
}

/* The name of the memory group in a LINE from /proc/self/cgroup: "0::PATH" in version 2,
 * "NUMBER:CONTROLLERS:PATH" in version 1. */
static uint64_t limit_of_line(const char *root, char *line)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!path)
        return UINT64_MAX;
    *controllers++ = *path++ = '\0';
    if (!controllers[0])
        return least_limit(root, "/sys/fs/cgroup", path, "memory.max");
    for (char *name; (name = strsep(&controllers, ","));)
        if (strcmp(name, "memory") == 0)
            return least_limit(root, "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes");
    return UINT64_MAX;
}

/* Not uv_get_total_memory, which reads a file unseen by the thread sanitizer. */
static uint64_t physical_memory(void)
{
    struct sysinfo info;
    return sysinfo(&info) ? UINT64_MAX : (uint64_t)info.totalram * info.mem_unit;
}

uint64_t machine_memory_below(const char *root)
{
    char name[MAXPATHLEN], line[MAXPATHLEN];
    uint64_t memory = physical_memory();

    snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    FILE *stream = fopen(name, "re");
    if (!stream)
        return memory;
    while (fgets(line, sizeof line, stream)) {
        line[strcspn(line, "\n")] = '\0';
        const uint64_t limit = limit_of_line(root, line);
        memory = limit < memory ? limit : memory;
    }
    fclose(stream);
    return memory;
}

uint64_t machine_memory(void)
{
    return machine_memory_below("");
}
