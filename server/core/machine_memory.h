/* The memory that this process may use. */
#ifndef FARLANDS_CORE_MACHINE_MEMORY_H
#define FARLANDS_CORE_MACHINE_MEMORY_H

#include <stdint.h>

/*
 * Returns the machine's memory in bytes, or the least limit of the control groups that this process
 * is in, if that is less. Reads files of /proc and /sys/fs/cgroup, of version 2 and of version 1.
 */
uint64_t machine_memory(void);

/* The same, with ROOT before the names of these files, for tests. */
uint64_t machine_memory_below(const char *root);

#endif
