/* Cells of a window, row by row. */
#ifndef FARLANDS_DESCRIBE_CELLS_H
#define FARLANDS_DESCRIBE_CELLS_H

enum { CELLS_AROUND = 9 };

/* Write CELL and the cells that touch it at a side or a corner to AROUND, row by row. Returns how
 * many of them are in the window. */
static inline int cells_around(int cell, int width, int height, int around[CELLS_AROUND])
{
    int count = 0;
    for (int direction = 0; direction < CELLS_AROUND; direction++) {
        const int x = cell % width + direction % 3 - 1, y = cell / width + direction / 3 - 1;
        if (x >= 0 && y >= 0 && x < width && y < height)
            around[count++] = y * width + x;
    }
    return count;
}

#endif
