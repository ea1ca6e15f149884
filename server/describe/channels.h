/* Channels that water would cut into the ground: where they are, and how their slope goes with the
 * area above them. Pure. */
#ifndef FARLANDS_DESCRIBE_CHANNELS_H
#define FARLANDS_DESCRIBE_CHANNELS_H

/* Cells with so much ground above them are channels. */
static const float CHANNEL_KM2 = 1;

struct channels_ground {
    int width, height;
    float spacing;       /* metres between cells */
    const float *levels; /* metres, without depressions: depressions_drain */
    const int *order, *from;
};

/*
 * Set RECEIVER to the neighbor that a cell's water goes to, by the steepest fall among eight
 * (O'Callaghan and Mark, "The extraction of drainage networks from digital elevation data", 1984),
 * or by FROM on level ground; -1 if there is none, as on the edge. Set AREA to the km2 above the
 * cell, with its own.
 */
void channels_find(const struct channels_ground *ground, int *receiver, float *area);

/*
 * The concavity of rivers, theta in slope ~ area^-theta (Flint, "Stream gradient as a function of
 * order, magnitude, and discharge", 1974): some 0.45 in a landscape that rivers have built, 0 where
 * channels are slopes of one angle. It is the slope of a line through the logarithms of area and
 * the median slope, in classes of 0.2 decades from CHANNEL_KM2 on. A slope is measured over five
 * cells downstream and is at least 0.0003. Cells with a height not above 0 are no channels. A class
 * has 25 cells or more; NAN if there are less than four classes. MEMORY has room for two floats per
 * cell.
 */
double channels_concavity(const struct channels_ground *ground, const float *heights,
                          const int *receiver, const float *area, float *memory);

#endif
