/* The memory that this process may use. */
#ifndef FARLANDS_CORE_MACHINE_MEMORY_H
#define FARLANDS_CORE_MACHINE_MEMORY_H

#include <stdint.h>

/*
 * The machine's memory in bytes, or the least limit among this process's control groups, if that is
 * less. Reads files below /proc and /sys/fs/cgroup, for versions 2 and 1.
 */
uint64_t machine_memory(void);

/* The same with ROOT before the files' names, for tests. */
uint64_t machine_memory_below(const char *root);

#endif
