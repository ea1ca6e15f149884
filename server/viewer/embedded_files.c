#include "embedded_files.h"

#include <stddef.h>

/* The symbols of assets.S. */
#define FILES(X)                                                           \
    X(index_html, "index.html", "text/html; charset=utf-8")                \
    X(viewer_css, "viewer.css", "text/css; charset=utf-8")                 \
    X(viewer_js, "viewer.js", "text/javascript; charset=utf-8")            \
    X(world_js, "world.js", "text/javascript; charset=utf-8")              \
    X(status_js, "status.js", "text/javascript; charset=utf-8")            \
    X(place_js, "place.js", "text/javascript; charset=utf-8")              \
    X(anchor_js, "anchor.js", "text/javascript; charset=utf-8")            \
    X(plane_js, "plane.js", "text/javascript; charset=utf-8")              \
    X(scene_js, "scene.js", "text/javascript; charset=utf-8")              \
    X(heights_js, "heights.js", "text/javascript; charset=utf-8")          \
    X(farlands_js, "farlands.js", "text/javascript; charset=utf-8")        \
    X(farlands_wasm, "farlands.wasm", "application/wasm")                  \
    X(ground_js, "ground.js", "text/javascript; charset=utf-8")            \
    X(readout_js, "readout.js", "text/javascript; charset=utf-8")          \
    X(legend_js, "legend.js", "text/javascript; charset=utf-8")            \
    X(profile_js, "profile.js", "text/javascript; charset=utf-8")          \
    X(menus_js, "menus.js", "text/javascript; charset=utf-8")              \
    X(icon_svg, "icon.svg", "image/svg+xml")                               \
    X(leaflet_css, "leaflet.css", "text/css; charset=utf-8")               \
    X(leaflet_js, "leaflet.js", "text/javascript; charset=utf-8")          \
    X(maplibre_css, "maplibre-gl.css", "text/css; charset=utf-8")          \
    X(maplibre_js, "maplibre-gl-csp.js", "text/javascript; charset=utf-8") \
    X(maplibre_worker_js, "maplibre-gl-csp-worker.js", "text/javascript; charset=utf-8")

#define DECLARE(symbol, name, type)                 \
    extern const uint8_t viewer_##symbol[];         \
    extern const uint64_t viewer_##symbol##_length; \
    extern const uint8_t viewer_##symbol##_gzip[];  \
    extern const uint64_t viewer_##symbol##_gzip_length;
FILES(DECLARE)

const struct embedded_file embedded_files[] = {
#define ROW(symbol, name, type) \
    {name,                      \
     type,                      \
     viewer_##symbol,           \
     viewer_##symbol##_gzip,    \
     &viewer_##symbol##_length, \
     &viewer_##symbol##_gzip_length},
    FILES(ROW){0}};

_Static_assert(sizeof embedded_files / sizeof embedded_files[0] <= EMBEDDED_FILES_MAX,
               "room for each");
