/*
 * The viewer's page for a view, with a title and a picture for programs that show previews of links
 * (Open Graph): they run no scripts and do not see the hash of a URL. Any thread.
 */
#ifndef FARLANDS_API_VIEWER_PAGE_H
#define FARLANDS_API_VIEWER_PAGE_H

#include "server/core/text_template.h"
#include "server/world/world.h"

/* The page with gaps for viewer_page_fill. Returns NULL if out of memory. */
struct text_template *viewer_page_new(void);

/*
 * The page of the view that QUERY, "place=world/layer/zoom/x/y...", names. Without
 * a valid world it is the first one's, without a valid place the world's first view. Its URLs begin
 * with BASE, or are relative if that is empty. Returns one reference, or NULL if out of memory.
 */
struct blob *viewer_page_fill(const struct text_template *page, const struct worlds *worlds,
                              const char *query, const char *base);

#endif
