/* The viewer's files, plain and compressed by gzip. The build directory has the compressed ones and
 * farlands.wasm. */
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
    file world_js, "server/viewer/world.js"
    file status_js, "server/viewer/status.js"
    file place_js, "server/viewer/place.js"
    file anchor_js, "server/viewer/anchor.js"
    file plane_js, "server/viewer/plane.js"
    file scene_js, "server/viewer/scene.js"
    file heights_js, "server/viewer/heights.js"
    file farlands_js, "server/viewer/farlands.js"
    file farlands_wasm, "farlands.wasm"
    file ground_js, "server/viewer/ground.js"
    file readout_js, "server/viewer/readout.js"
    file legend_js, "server/viewer/legend.js"
    file profile_js, "server/viewer/profile.js"
    file menus_js, "server/viewer/menus.js"
    file icon_svg, "server/viewer/icon.svg"
    file leaflet_css, "server/viewer/node_modules/leaflet/dist/leaflet.css"
    file leaflet_js, "server/viewer/node_modules/leaflet/dist/leaflet.js"
    file maplibre_css, "server/viewer/node_modules/maplibre-gl/dist/maplibre-gl.css"
    file maplibre_js, "server/viewer/node_modules/maplibre-gl/dist/maplibre-gl-csp.js"
    file maplibre_worker_js, "server/viewer/node_modules/maplibre-gl/dist/maplibre-gl-csp-worker.js"
    .section .note.GNU-stack,"",%progbits
#ifdef __CET__
#include <cet.h> /* marks this object as fit for -fcf-protection, which the linker requires of all */
#endif
