/* These headers declare what noise/ and config/ need of a C library; WebAssembly has none. */
#ifndef FARLANDS_WASM_ASSERT_H
#define FARLANDS_WASM_ASSERT_H

#define assert(condition) ((condition) ? (void)0 : __builtin_trap())

#endif
