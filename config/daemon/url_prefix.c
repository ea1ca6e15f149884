#include "url_prefix.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/daemon/authority.h"

/* unreserved (RFC 3986, section 2.3): never percent-encoded */
static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";

static int check_segment(const char *segment, size_t length)
{
    if (length == 0 || (length <= 2 && memcmp(segment, "..", length) == 0))
        return -EINVAL;
    for (size_t i = 0; i < length; i++)
        if (!memchr(letters, segment[i], sizeof letters - 1))
            return -EINVAL;
    return 0;
}

int url_prefix_parse_path(char out[URL_PREFIX_PATH_MAX], const char *text, size_t length)
{
    length -= length > 0 && text[length - 1] == '/';
    if (length >= URL_PREFIX_PATH_MAX)
        return -EINVAL;
    const char *end = text + length;
    for (const char *slash = text; slash < end;) {
        const char *next = memchr(slash + 1, '/', (size_t)(end - slash - 1));
        if (!next)
            next = end;
        if (*slash != '/' || check_segment(slash + 1, (size_t)(next - slash - 1)))
            return -EINVAL;
        slash = next;
    }
    memcpy(out, text, length);
    out[length] = '\0';
    return 0;
}

int url_prefix_parse_url(char out[URL_PREFIX_URL_MAX], const char *text, size_t length)
{
    static const char *const schemes[] = {"http://", "https://"};
    char path[URL_PREFIX_PATH_MAX];

    if (length == 0) {
        out[0] = '\0';
        return 0;
    }
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        const size_t scheme = strlen(schemes[i]);
        if (length <= scheme || memcmp(text, schemes[i], scheme) != 0)
            continue;
        const char *slash = memchr(text + scheme, '/', length - scheme);
        const size_t front = slash ? (size_t)(slash - text) : length; /* scheme and host */
        if (!authority_can_be_in_url(text + scheme, front - scheme) ||
            url_prefix_parse_path(path, text + front, length - front))
            return -EINVAL;
        snprintf(out, URL_PREFIX_URL_MAX, "%.*s%s", (int)front, text, path);
        return 0;
    }
    return -EINVAL;
}
