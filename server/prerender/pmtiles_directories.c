#include "pmtiles_directories.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "server/core/coding.h"

enum {
    ROOT_END = 16384,     /* the root directory ends before this byte of the archive */
    ROOT_ENTRIES = 16384, /* more never fit */
    LEAF_ENTRIES = 4096,  /* in the first attempt */
    VARINT_BYTES = 10,    /* at most */
};

static uint8_t *put_varint(uint8_t *out, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        *out++ = (uint8_t)(value | 0x80);
    *out++ = (uint8_t)value;
    return out;
}

/* The compressed directory of COUNT ENTRIES; NULL if out of memory. */
static struct blob *make_directory(const struct pmtiles_entry *entries, size_t count)
{
    struct blob *plain = blob_new((1 + 4 * count) * VARINT_BYTES);
    if (!plain)
        return NULL;
    uint8_t *out = put_varint(plain->bytes, count);
    for (size_t i = 0; i < count; i++)
        out = put_varint(out, entries[i].id - (i ? entries[i - 1].id : 0));
    for (size_t i = 0; i < count; i++)
        out = put_varint(out, entries[i].run);
    for (size_t i = 0; i < count; i++)
        out = put_varint(out, entries[i].length);
    for (size_t i = 0; i < count; i++) {
        const bool follows =
            i > 0 && entries[i].offset == entries[i - 1].offset + entries[i - 1].length;
        out = put_varint(out, follows ? 0 : entries[i].offset + 1);
    }
    plain->length = (size_t)(out - plain->bytes);
    return coding_pack_over(plain, CODING_GZIP);
}

/* Make leaves with EACH entries, and their root. Returns 0 or -ENOMEM. */
static int make_leaves(struct pmtiles_directories *out, const struct pmtiles_entry *entries,
                       size_t count, size_t each)
{
    const size_t leaf_count = (count + each - 1) / each;
    assert(leaf_count > 0);
    struct pmtiles_entry *leaves = calloc(leaf_count, sizeof *leaves);
    struct blob *all = blob_new(0);

    for (size_t i = 0; i < leaf_count && leaves && all; i++) {
        const struct pmtiles_entry *first = &entries[i * each];
        struct blob *leaf = make_directory(first, i + 1 < leaf_count ? each : count - i * each);
        if (leaf)
            leaves[i] = (struct pmtiles_entry){first->id, all->length, 0, (uint32_t)leaf->length};
        all = blob_join(all, leaf);
    }
    out->leaves = all;
    out->root = leaves && all ? make_directory(leaves, leaf_count) : NULL;
    free(leaves);
    return out->root ? 0 : -ENOMEM;
}

void pmtiles_directories_free(struct pmtiles_directories *directories)
{
    blob_release(directories->root);
    blob_release(directories->leaves);
    *directories = (struct pmtiles_directories){NULL, NULL};
}

static bool root_fits(const struct pmtiles_directories *directories, size_t offset)
{
    return offset + directories->root->length < ROOT_END;
}

int pmtiles_directories_make(struct pmtiles_directories *out, const struct pmtiles_entry *entries,
                             size_t count, size_t offset)
{
    int err = 0;
    *out = (struct pmtiles_directories){NULL, NULL};
    if (count <= ROOT_ENTRIES) {
        out->root = make_directory(entries, count);
        if (!out->root || root_fits(out, offset))
            return out->root ? 0 : -ENOMEM;
        pmtiles_directories_free(out);
    }
    for (size_t each = LEAF_ENTRIES; !(err = make_leaves(out, entries, count, each)); each *= 2) {
        if (root_fits(out, offset))
            return 0;
        pmtiles_directories_free(out);
    }
    pmtiles_directories_free(out);
    return err;
}
