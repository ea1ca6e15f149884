/* config/farlands.yaml, as it stands, in the binary. */
    .section .rodata
    .global config_builtin
    .global config_builtin_length
    .balign 8
config_builtin_length:
    .quad 1f - config_builtin
config_builtin:
    .incbin "config/farlands.yaml"
1:
    .section .note.GNU-stack,"",%progbits
#ifdef __CET__
#include <cet.h> /* no code that jumps elsewhere than it may: the linker asks every object */
#endif
