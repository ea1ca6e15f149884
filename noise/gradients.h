/* Gradient sets: what a lattice corner's hash chooses from. */
#ifndef FARLANDS_GRADIENTS_H
#define FARLANDS_GRADIENTS_H

#include "farlands.h"

/* Indexed by 8 bits of hash; a smaller set repeats, which is the hash mod its size. */
struct gradient_set {
    float x[256];
    float y[256];
};

void gradients_make(struct gradient_set *set, enum farlands_gradients kind);

#endif
