/* Formats quantities for people. Each function returns BUFFER. */
#ifndef FARLANDS_PRERENDER_HUMAN_UNITS_H
#define FARLANDS_PRERENDER_HUMAN_UNITS_H

enum { HUMAN_UNITS_TEXT = 32 };

/* "812", "12.4K", "1.2G": powers of 1024, as the configuration has them. */
char *human_units_bytes(double bytes, char buffer[HUMAN_UNITS_TEXT]);

/* "0.3 s", "12 s", "4:07 min", "1:02:03 h", "12 days". */
char *human_units_seconds(double seconds, char buffer[HUMAN_UNITS_TEXT]);

#endif
