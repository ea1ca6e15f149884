/* config/farlands.yaml, embedded in the binary. */
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
#include <cet.h> /* marks this object as fit for -fcf-protection, which the linker requires of all */
#endif
