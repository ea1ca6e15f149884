/*
 * The texts of the built-in configuration: config/farlands.yaml, then its worlds in the order of
 * their list. Each row below becomes a struct builtin_text.
 */
    .macro text path
    .section .rodata
begin\@:
    .incbin "\path"
end\@:
    .section .data.rel.ro, "aw"
    .quad begin\@, end\@ - begin\@
    .endm

    .section .data.rel.ro, "aw"
    .balign 8
    .global config_builtin
config_builtin:
    text "config/farlands.yaml"
    text "config/worlds/default.yaml"
    text "config/worlds/archipelago.yaml"
    text "config/worlds/alps.yaml"
    .quad 0, 0
    .section .note.GNU-stack,"",%progbits
#ifdef __CET__
#include <cet.h> /* marks this object as fit for -fcf-protection, which the linker requires of all */
#endif
