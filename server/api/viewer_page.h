/*
 * The viewer's page for a view, with a title and a picture (Open Graph) for programs that show
 * previews of links, because such programs run no scripts and do not see a URL's hash. Any thread.
 */
#ifndef FARLANDS_API_VIEWER_PAGE_H
#define FARLANDS_API_VIEWER_PAGE_H

#include "server/core/text_template.h"
#include "server/world/world.h"

/* The page with gaps for viewer_page_fill. Returns NULL if out of memory. */
struct text_template *viewer_page_new(void);

/*
 * The page for the view that QUERY, "place=world/layer/zoom/x/y...", names: the first world if that
 * names no valid one, and the world's first view if there is no valid place. URLs begin with BASE,
 * or are relative if BASE is empty. Returns one reference, or NULL if out of memory.
 */
struct blob *viewer_page_fill(const struct text_template *page, const struct worlds *worlds,
                              const char *query, const char *base);

#endif
