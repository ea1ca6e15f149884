/* What the system knows of this process, from /proc; 0 where it does not tell. Any thread. */
#ifndef FARLANDS_TELEMETRY_PROCESS_STATS_H
#define FARLANDS_TELEMETRY_PROCESS_STATS_H

#include <stdint.h>

/* Bytes of memory in use. */
uint64_t process_stats_resident_bytes(void);

/* Descriptors open. Before Linux 6.2 they are counted one by one, about 1 us each. */
uint64_t process_stats_open_files(void);

#endif
