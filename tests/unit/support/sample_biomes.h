/* The first six rows of a table of biomes, and their looks: sea, beach, snow, forest, desert, alp.
 */
#ifndef FARLANDS_SAMPLE_BIOMES_H
#define FARLANDS_SAMPLE_BIOMES_H

#include <math.h>

#define ANY                 \
    {                       \
        -INFINITY, INFINITY \
    }
/* clang-format off */
#define SAMPLE_BIOMES \
    {0, {ANY, ANY, {-INFINITY, 0}, ANY}}, \
    {1, {{0, INFINITY}, ANY, {-2, 4}, ANY}}, \
    {2, {{-INFINITY, -5}, ANY, {0, INFINITY}, ANY}}, \
    {3, {{-5, 20}, {0.4F, 1}, {4, 1000}, ANY}}, \
    {4, {{-5, INFINITY}, {0, 0.3F}, {4, INFINITY}, ANY}}, \
    {5, {{-5, 20}, {0.4F, 1}, {1000, INFINITY}, ANY}}
#define SAMPLE_LOOKS \
    {"sea", {0, 0, 255}}, {"beach", {240, 220, 160}}, {"snow", {250, 250, 250}}, \
    {"forest", {40, 120, 50}}, {"desert", {200, 170, 90}}, {"alp", {140, 140, 100}}
/* clang-format on */

#endif
