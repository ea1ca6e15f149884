/* Tributaries that meet their rivers at an angle: small in dry country, where slopes are straight,
 * and 72 degrees where water comes out of the ground (Devauchelle et al. 2012, Seybold et al.
 * 2017). */
#include <math.h>
#include <string.h>

#include "noise/drainage/drainage_parts.h"

/* How much of a tributary's turn its last nodes share, beginning at the last. */
static const float SHARES[] = {1, 1.2f, 0.8f};
enum { TURNED = sizeof SHARES / sizeof *SHARES };

/* Find the greatest course that flows into each node; -1: none does. */
static void find_greatest(struct drainage_patch *p)
{
    memset(p->greatest, -1, sizeof p->greatest);
    for (int row = 1; row < p->range.height - 1; row++)
        for (int column = 1; column < p->range.width - 1; column++) {
            const int at = row * p->range.width + column;
            if (!patch_is_course(p, at))
                continue;
            int16_t *greatest = &p->greatest[patch_receiver(p, at)];
            if (*greatest < 0 || p->area[at] > p->area[*greatest])
                *greatest = (int16_t)at;
        }
}

struct direction {
    double x, y;
};

static struct direction unit(double x, double y)
{
    const double square = x * x + y * y, scale = square > 0 ? 1 / sqrt(square) : 0;
    return (struct direction){x * scale, y * scale};
}

/* What a tributary is turned towards, so that in the mean it meets its river at DEGREES: the way to
 * its last node is but a part of its way. Measured for 45 to 72 degrees (check_junctions). */
static double aim_of(double degrees)
{
    const double aim = 64 + 2.1 * (degrees - 60);
    return aim < 20 ? 20 : aim > 95 ? 95 : aim;
}

/* The cosine of DEGREES, 0 to 95, by its series: 0.004 off at most. */
static double cosine_of(double degrees)
{
    static const double RADIANS = 0.017453292519943295;
    const double square = degrees * RADIANS * degrees * RADIANS;
    return 1 - square / 2 * (1 - square / 12 * (1 - square / 30));
}

/* DIRECTION, turned towards the one that has AIM degrees to MAIN, on the same side of it. */
static struct direction turn(struct direction direction, struct direction main, double aim)
{
    static const double PART = 0.8;
    const double cosine = cosine_of(aim), sine = sqrt(1 - cosine * cosine);
    const double across = main.x * direction.y - main.y * direction.x < 0 ? -sine : sine;
    const double x = cosine * main.x - across * main.y, y = cosine * main.y + across * main.x;
    return unit(direction.x + PART * (x - direction.x), direction.y + PART * (y - direction.y));
}

/* The angle that the world says at a place in cells; the nearest node's, outside the block. */
static double angle_at(const struct nodes *n, double x, double y)
{
    const double most = NODES_SIDE - 1;
    const int column = (int)(x < 0 ? 0 : x > most ? most : x);
    const int row = (int)(y < 0 ? 0 : y > most ? most : y);
    return (double)n->junction[node_at(column, row)];
}

/* Turn the course that ends with node AT, if a greater one flows into the same node. */
static void turn_course(const struct nodes *n, struct drainage_patch *p, int at)
{
    const int to = patch_receiver(p, at), greatest = p->greatest[to];
    if (greatest < 0 || greatest == at || p->receiver[to] == NODE_UNKNOWN)
        return; /* the first, or at a junction that is nowhere */
    const double angle = angle_at(n, p->x[to], p->y[to]);
    const double x = p->x[at] - p->x[to], y = p->y[at] - p->y[to], length = sqrt(x * x + y * y);
    if (angle <= 0)
        return;
    const struct direction from = unit(x, y);
    const struct direction main = unit(p->x[greatest] - p->x[to], p->y[greatest] - p->y[to]);
    const struct direction turned = turn(from, main, aim_of(angle));
    for (int k = 0; k < TURNED && at >= 0; k++, at = p->greatest[at]) {
        p->turn[at][0] += SHARES[k] * (float)((turned.x - from.x) * length);
        p->turn[at][1] += SHARES[k] * (float)((turned.y - from.y) * length);
    }
}

void drainage_turn_tributaries(struct drainage *d)
{
    struct drainage_patch *p = d->patch;
    if (!d->nodes->turns)
        return;
    find_greatest(p);
    memset(p->turn, 0, sizeof p->turn);
    for (int row = 2; row < p->range.height - 2; row++)
        for (int column = 2; column < p->range.width - 2; column++) {
            const int at = row * p->range.width + column;
            if (patch_is_course(p, at))
                turn_course(d->nodes, p, at);
        }
    for (int at = 0; at < p->range.width * p->range.height; at++) {
        p->x[at] += (double)p->turn[at][0];
        p->y[at] += (double)p->turn[at][1];
    }
}
