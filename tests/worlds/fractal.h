/* The world `default` of one noise, with the defaults of its keys and any seed. */
#ifndef FARLANDS_TESTS_FRACTAL_H
#define FARLANDS_TESTS_FRACTAL_H

#define FRACTAL_WORLD "tests/worlds/fractal.yaml"
#define RIVERS_WORLD "tests/worlds/rivers.yaml"

#endif
