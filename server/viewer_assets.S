/* The viewer's files in the binary, as they stand and through gzip (made in the build folder). */
    .macro bytes symbol, path
    .global viewer_\symbol
    .global viewer_\symbol\()_length
    .balign 8
viewer_\symbol\()_length:
    .quad 1f - viewer_\symbol
viewer_\symbol:
    .incbin "\path"
1:
    .endm

    .macro file symbol, path
    bytes \symbol, "\path"
    bytes \symbol\()_gzip, "\path\().gz"
    .endm

    .section .rodata
    file index_html, "server/viewer/index.html"
    file viewer_css, "server/viewer/viewer.css"
    file viewer_js, "server/viewer/viewer.js"
    file icon_svg, "server/viewer/icon.svg"
    file leaflet_css, "server/viewer/node_modules/leaflet/dist/leaflet.css"
    file leaflet_js, "server/viewer/node_modules/leaflet/dist/leaflet.js"
    .section .note.GNU-stack,"",%progbits
