#ifndef FARLANDS_WASM_INTTYPES_H
#define FARLANDS_WASM_INTTYPES_H

#include <stdint.h>

#define PRIu32 "u"
#define PRIu64 "llu"

#endif
