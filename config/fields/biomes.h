/* A `biome` node's table. Plain data. */
#ifndef FARLANDS_CONFIG_BIOMES_H
#define FARLANDS_CONFIG_BIOMES_H

#include <stdint.h>

#include "noise/graph/biomes.h"

enum { BIOME_NAME_MAX = 64 }; /* with its terminating NUL */

/* A biome's name and color. */
struct biome_look {
    char name[BIOME_NAME_MAX]; /* UTF-8 without control characters */
    uint8_t color[3];          /* red, green, blue */
};

/* Row i of both arrays describes one biome; ids and names are unique. */
struct biome_table {
    struct biome_rows rows;
    struct biome_look look[BIOMES_MAX];
};

/* The row of the biome ID, or -1. */
static inline int biome_table_row(const struct biome_table *table, int id)
{
    for (int i = 0; i < table->rows.rows; i++)
        if (table->rows.row[i].id == id)
            return i;
    return -1;
}

#endif
