/* MD5 (RFC 1321), for file formats that require it. No protection against attackers. Pure. */
#ifndef FARLANDS_CORE_MD5_H
#define FARLANDS_CORE_MD5_H

#include <stddef.h>
#include <stdint.h>

enum { MD5_BLOCK = 64, MD5_HEX = 33 };

struct md5 {
    uint32_t state[4];
    uint64_t length;          /* bytes so far */
    uint8_t block[MD5_BLOCK]; /* the last bytes, which do not fill a block yet */
};

void md5_begin(struct md5 *md5);
void md5_add(struct md5 *md5, const void *bytes, size_t length);

/* The digest of all bytes, in capital hexadecimal digits. Ends MD5. */
void md5_end(struct md5 *md5, char out[MD5_HEX]);

#endif
