/* For the WebAssembly build, which has no C library: what noise/ and config/ ask of one. */
#ifndef FARLANDS_WASM_ASSERT_H
#define FARLANDS_WASM_ASSERT_H

#define assert(condition) ((condition) ? (void)0 : __builtin_trap())

#endif
