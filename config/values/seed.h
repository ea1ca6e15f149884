/* Seeds as people write them: in URLs, configurations, commands and the library. The viewer's
 * seed.js follows the same rules. Pure. */
#ifndef FARLANDS_CONFIG_SEED_H
#define FARLANDS_CONFIG_SEED_H

#include <stddef.h>
#include <stdint.h>

/* What completes "expected ..." in messages. */
#define SEED_EXPECTED "a whole number from -2^63 to 2^64-1, or any other text"

/*
 * The seed that TEXT means. A whole number from 0 to 2^64-1 means itself, a negative number from
 * -2^63 on the two's complement, as in languages with signed integers: -1 is 18446744073709551615.
 * Numbers have at most 40 digits. Any other text is hashed, byte by byte (FNV-1a). ASCII blanks
 * before and after the text do not count. Returns 0; -EINVAL if TEXT is blank.
 */
int seed_parse(const char *text, size_t length, uint64_t *out);

#endif
