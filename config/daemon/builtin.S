/*
 * The built-in configuration as text: config/farlands.yaml, then the built-in worlds in the order
 * that /worlds.json has. Each row below becomes a struct builtin_text.
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
#include <cet.h> /* for -fcf-protection: the linker needs this mark in all objects */
#endif
