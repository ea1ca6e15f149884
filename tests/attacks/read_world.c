/* Reads a world from standard input, as programs with libfarlands do: prints the code and the
 * milliseconds of CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "noise/farlands.h"

int main(void)
{
    enum { MOST = 2 * FARLANDS_WORLD_TEXT };
    struct farlands_world *world = NULL;
    char *text = malloc(MOST);
    struct timespec used;

    if (!text)
        return 1;
    const size_t length = fread(text, 1, MOST, stdin);
    const int err = farlands_world_new(&world, text, length, NULL, NULL, 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    printf("{\"code\": %d, \"ms\": %.1f}\n", err,
           (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6);
    farlands_world_free(world);
    free(text);
    return 0;
}
