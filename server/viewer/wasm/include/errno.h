/* Linux's numbers. */
#ifndef FARLANDS_WASM_ERRNO_H
#define FARLANDS_WASM_ERRNO_H

#define ENOMEM 12
#define EINVAL 22
#define ERANGE 34

#endif
