/*
 * The viewer's files, plain and compressed by gzip. The build directory has the compressed ones and
 * farlands.wasm. Each row below becomes a struct embedded_file: NAME, TYPE, PATH.
 */
    .macro file name, type, path
    .section .rodata
name\@:
    .asciz "\name"
type\@:
    .asciz "\type"
    .balign 8
length\@:
    .quad gzip\@ - bytes\@
gzip_length\@:
    .quad end\@ - gzip\@
bytes\@:
    .incbin "\path"
gzip\@:
    .incbin "\path\().gz"
end\@:
    .section .data.rel.ro, "aw"
    .quad name\@, type\@, bytes\@, gzip\@, length\@, gzip_length\@
    .endm

    .section .data.rel.ro, "aw"
    .balign 8
    .global embedded_files
embedded_files:
    file "index.html", "text/html; charset=utf-8", "server/viewer/index.html"
    file "viewer.css", "text/css; charset=utf-8", "server/viewer/viewer.css"
    file "viewer.js", "text/javascript; charset=utf-8", "server/viewer/viewer.js"
    file "world.js", "text/javascript; charset=utf-8", "server/viewer/world.js"
    file "changes.js", "text/javascript; charset=utf-8", "server/viewer/changes.js"
    file "status.js", "text/javascript; charset=utf-8", "server/viewer/status.js"
    file "place.js", "text/javascript; charset=utf-8", "server/viewer/place.js"
    file "typed.js", "text/javascript; charset=utf-8", "server/viewer/typed.js"
    file "anchor.js", "text/javascript; charset=utf-8", "server/viewer/anchor.js"
    file "plane.js", "text/javascript; charset=utf-8", "server/viewer/plane.js"
    file "scene.js", "text/javascript; charset=utf-8", "server/viewer/scene.js"
    file "shaded.js", "text/javascript; charset=utf-8", "server/viewer/shaded.js"
    file "stretch.js", "text/javascript; charset=utf-8", "server/viewer/stretch.js"
    file "tiles.js", "text/javascript; charset=utf-8", "server/viewer/tiles.js"
    file "heights.js", "text/javascript; charset=utf-8", "server/viewer/heights.js"
    file "farlands.js", "text/javascript; charset=utf-8", "server/viewer/farlands.js"
    file "farlands.wasm", "application/wasm", "farlands.wasm"
    file "ground.js", "text/javascript; charset=utf-8", "server/viewer/ground.js"
    file "readout.js", "text/javascript; charset=utf-8", "server/viewer/readout.js"
    file "legend.js", "text/javascript; charset=utf-8", "server/viewer/legend.js"
    file "profile.js", "text/javascript; charset=utf-8", "server/viewer/profile.js"
    file "survey.js", "text/javascript; charset=utf-8", "server/viewer/survey.js"
    file "chart.js", "text/javascript; charset=utf-8", "server/viewer/chart.js"
    file "menus.js", "text/javascript; charset=utf-8", "server/viewer/menus.js"
    file "context.js", "text/javascript; charset=utf-8", "server/viewer/context.js"
    file "biomes.js", "text/javascript; charset=utf-8", "server/viewer/biomes.js"
    file "water.js", "text/javascript; charset=utf-8", "server/viewer/water.js"
    file "worlds.js", "text/javascript; charset=utf-8", "server/viewer/worlds.js"
    file "explore.js", "text/javascript; charset=utf-8", "server/viewer/explore.js"
    file "journey.js", "text/javascript; charset=utf-8", "server/viewer/journey.js"
    file "seed.js", "text/javascript; charset=utf-8", "server/viewer/seed.js"
    file "popup.js", "text/javascript; charset=utf-8", "server/viewer/popup.js"
    file "clipboard.js", "text/javascript; charset=utf-8", "server/viewer/clipboard.js"
    file "icon.svg", "image/svg+xml", "server/viewer/icon.svg"
    file "favicon.ico", "image/x-icon", "server/viewer/favicon.ico"
    file "apple-touch-icon.png", "image/png", "server/viewer/apple-touch-icon.png"
    file "robots.txt", "text/plain; charset=utf-8", "server/viewer/robots.txt"
    file "leaflet.css", "text/css; charset=utf-8", "server/viewer/node_modules/leaflet/dist/leaflet.css"
    file "leaflet.js", "text/javascript; charset=utf-8", "server/viewer/node_modules/leaflet/dist/leaflet.js"
    file "maplibre-gl.css", "text/css; charset=utf-8", "server/viewer/node_modules/maplibre-gl/dist/maplibre-gl.css"
    file "maplibre-gl-csp.js", "text/javascript; charset=utf-8", "server/viewer/node_modules/maplibre-gl/dist/maplibre-gl-csp.js"
    file "maplibre-gl-csp-worker.js", "text/javascript; charset=utf-8", "server/viewer/node_modules/maplibre-gl/dist/maplibre-gl-csp-worker.js"
    .quad 0, 0, 0, 0, 0, 0
    .if . - embedded_files > 48 * 48
    .error "more files than EMBEDDED_FILES_MAX"
    .endif
    .section .note.GNU-stack,"",%progbits
#ifdef __CET__
#include <cet.h> /* marks this object as fit for -fcf-protection, which the linker requires of all */
#endif
