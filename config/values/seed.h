/* Seeds as people write them: in URLs, configurations, commands and the library; seed.js of the
 * viewer is the same. Pure. */
#ifndef FARLANDS_CONFIG_SEED_H
#define FARLANDS_CONFIG_SEED_H

#include <stddef.h>
#include <stdint.h>

/* What completes "expected ..." in messages. */
#define SEED_EXPECTED "a whole number from -2^63 to 2^64-1, or any other text"

/*
 * The seed that TEXT means. A whole number from 0 to 2^64-1 is itself, one from -2^63 on is its
 * two's complement, as in languages whose integers are signed: -1 is 18446744073709551615. Numbers
 * have at most 40 digits. Any other text means the hash FNV-1a of its bytes, as they are. Blanks
 * around it, which are ASCII's, do not count. Returns 0; -EINVAL if TEXT is blank.
 */
int seed_parse(const char *text, size_t length, uint64_t *out);

#endif
