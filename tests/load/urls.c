#include "urls.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

enum { NUMBER_MAX = 20 }; /* digits and sign of an int64 */

struct urls {
    char **pattern;
    size_t count;
};

int urls_new(struct urls **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : -ENOMEM;
}

void urls_free(struct urls *urls)
{
    if (!urls)
        return;
    for (size_t i = 0; i < urls->count; i++)
        free(urls->pattern[i]);
    free(urls->pattern);
    free(urls);
}

/* A random number for the braces at *PATTERN; moves *PATTERN past them. */
static int choose(const char **pattern, uint64_t *random, int64_t *number)
{
    char *end;
    errno = 0;
    int64_t first = strtoll(*pattern + 1, &end, 10);
    if (errno || end == *pattern + 1 || strncmp(end, "..", 2) != 0)
        return -EINVAL;
    const char *rest = end + 2;
    int64_t last = strtoll(rest, &end, 10);
    if (errno || end == rest || *end != '}' || last < first)
        return -EINVAL;
    uint64_t count = (uint64_t)last - (uint64_t)first + 1;
    *number =
        (int64_t)((uint64_t)first + (count ? random_below(random, count) : random_next(random)));
    *pattern = end + 1;
    return 0;
}

/* Expand PATTERN. Returns the length, or -EINVAL. */
static int expand(const char *pattern, uint64_t *random, char text[URL_MAX])
{
    int length = 0;
    while (*pattern) {
        int64_t number;
        if (length + NUMBER_MAX + 1 > URL_MAX)
            return -EINVAL;
        if (*pattern == '{') {
            if (choose(&pattern, random, &number))
                return -EINVAL;
            length += sprintf(text + length, "%lld", (long long)number);
        } else if (*pattern == '}' || !isgraph((unsigned char)*pattern)) {
            return -EINVAL;
        } else {
            text[length++] = *pattern++;
        }
    }
    text[length] = '\0';
    return length;
}

int urls_add(struct urls *urls, const char *pattern)
{
    char text[URL_MAX];
    uint64_t random = 0;
    if (*pattern != '/' || expand(pattern, &random, text) < 0)
        return -EINVAL;
    char **longer = realloc(urls->pattern, (urls->count + 1) * sizeof *longer);
    if (!longer)
        return -ENOMEM;
    urls->pattern = longer;
    longer[urls->count] = strdup(pattern);
    if (!longer[urls->count])
        return -ENOMEM;
    urls->count++;
    return 0;
}

int urls_read(struct urls *urls, const char *file)
{
    char *line = NULL;
    size_t size = 0;
    int err = 0;

    FILE *in = fopen(file, "r");
    if (!in)
        return -errno;
    while (!err && getline(&line, &size, in) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        err = urls_add(urls, line);
    }
    if (ferror(in))
        err = -EIO;
    free(line);
    fclose(in);
    return err;
}

size_t urls_count(const struct urls *urls)
{
    return urls->count;
}

size_t urls_next(const struct urls *urls, bool in_order, uint64_t *state, char text[URL_MAX])
{
    uint64_t random = *state;
    size_t which = in_order          ? random % urls->count
                   : urls->count > 1 ? random_below(&random, urls->count)
                                     : 0;
    int length = expand(urls->pattern[which], &random, text);
    *state = in_order ? *state + 1 : random;
    return (size_t)length;
}
