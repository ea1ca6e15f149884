#include "viewer_files.h"

#include <string.h>

/* The symbols of viewer_assets.S. */
#define FILES(X)                                                \
    X(index_html, "index.html", "text/html; charset=utf-8")     \
    X(viewer_css, "viewer.css", "text/css; charset=utf-8")      \
    X(viewer_js, "viewer.js", "text/javascript; charset=utf-8") \
    X(icon_svg, "icon.svg", "image/svg+xml")                    \
    X(leaflet_css, "leaflet.css", "text/css; charset=utf-8")    \
    X(leaflet_js, "leaflet.js", "text/javascript; charset=utf-8")

#define DECLARE(symbol, name, type)         \
    extern const uint8_t viewer_##symbol[]; \
    extern const uint64_t viewer_##symbol##_length;
FILES(DECLARE)

static const struct viewer_file files[] = {
#define ROW(symbol, name, type) {name, type, viewer_##symbol, &viewer_##symbol##_length},
    FILES(ROW)};

const struct viewer_file *viewer_file_find(const char *name)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    return NULL;
}
