/* config/farlands.yaml, as it stands, in the binary. */
    .section .rodata
    .global config_builtin
    .global config_builtin_end
config_builtin:
    .incbin "config/farlands.yaml"
config_builtin_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
