/* Quantities as people read them: bytes as the configuration has them, and durations. */
#ifndef FARLANDS_PRERENDER_HUMAN_UNITS_H
#define FARLANDS_PRERENDER_HUMAN_UNITS_H

enum { QUANTITY_TEXT = 32 };

/* "812", "12.4K", "1.2G": powers of 1024. Returns BUFFER. */
char *quantity_bytes(double bytes, char buffer[QUANTITY_TEXT]);

/* "0.3 s", "12 s", "4:07 min", "1:02:03 h", "12 days". Returns BUFFER. */
char *quantity_seconds(double seconds, char buffer[QUANTITY_TEXT]);

#endif
