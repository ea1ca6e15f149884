/* The viewer's files, as they stand, in the binary. */
    .macro file symbol, path
    .global viewer_\symbol
    .global viewer_\symbol\()_length
    .balign 8
viewer_\symbol\()_length:
    .quad 1f - viewer_\symbol
viewer_\symbol:
    .incbin "\path"
1:
    .endm

    .section .rodata
    file index_html, "server/viewer/index.html"
    file viewer_css, "server/viewer/viewer.css"
    file viewer_js, "server/viewer/viewer.js"
    file icon_svg, "server/viewer/icon.svg"
    file leaflet_css, "server/viewer/node_modules/leaflet/dist/leaflet.css"
    file leaflet_js, "server/viewer/node_modules/leaflet/dist/leaflet.js"
    .section .note.GNU-stack,"",%progbits
