/* Statistics of this process from /proc; 0 if unavailable. Any thread. */
#ifndef FARLANDS_TELEMETRY_PROCESS_STATS_H
#define FARLANDS_TELEMETRY_PROCESS_STATS_H

#include <stdint.h>

uint64_t process_stats_resident_bytes(void);

/* Before Linux 6.2 it takes about 1 us per open file. */
uint64_t process_stats_open_files(void);

#endif
