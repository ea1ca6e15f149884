/*
 * Runs a fuzz target once per file, without libFuzzer, whose library is not instrumented for
 * uninitialized memory: replay_TARGET FILE|DIRECTORY...
 */
#include <dirent.h>
#include <errno.h>

#include "tests/fuzz/fuzz.h"

enum { INPUT_MAX = 1 << 20 };

/* libFuzzer's, which the mutators of targets call. Nothing is mutated here. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most)
{
    (void)bytes, (void)most;
    return size;
}

/* Failing is a crash, as of a target. */
static void run_file(const char *path)
{
    uint8_t *bytes = malloc(INPUT_MAX);
    FILE *file = fopen(path, "rb");
    must(file && bytes, "%s: %s", path, strerror(errno));
    const size_t length = fread(bytes, 1, INPUT_MAX, file);
    must(!ferror(file) && feof(file), "%s", path);
    fclose(file);
    uint8_t *input = input_copy(bytes, length);
    free(bytes);
    LLVMFuzzerTestOneInput(input, length);
    free(input);
}

/* Returns how many files have run. */
static size_t run(const char *path)
{
    DIR *directory = opendir(path);
    size_t count = 0;
    if (!directory) {
        fprintf(stderr, "%s\n", path);
        run_file(path);
        return 1;
    }
    for (const struct dirent *entry; (entry = readdir(directory));) {
        char *below;
        if (entry->d_name[0] == '.')
            continue;
        must(asprintf(&below, "%s/%s", path, entry->d_name) >= 0, "out of memory");
        count += run(below);
        free(below);
    }
    closedir(directory);
    return count;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    for (int i = 1; i < argc; i++)
        count += run(argv[i]);
    must(count > 0, "no inputs");
    printf("%zu inputs\n", count);
    return 0;
}
