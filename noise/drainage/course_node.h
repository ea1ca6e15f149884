/* Nodes of lattices that water flows between. Private to noise/. */
#ifndef FARLANDS_COURSE_NODE_H
#define FARLANDS_COURSE_NODE_H

#include <stdint.h>

enum {
    COURSE_METRE = 65536, /* a metre in heights, which are integers */
    COURSE_LENGTH = 256,  /* a spacing in lengths */
};

enum course_kind {
    COURSE_FLOWS,
    COURSE_SEA,
    COURSE_END, /* an end lake */
};

struct course_node {
    int64_t x, y;   /* units */
    int32_t ground; /* 1/65536 m */
    int32_t bed;    /* 1/65536 m: the water's surface; 0 in the sea */
    int32_t length; /* the water upstream, in 1/256 spacing; on a course it never falls */
    int8_t next;    /* which neighbor it flows to; -1: none */
    uint8_t kind;   /* enum course_kind */
    uint8_t birth;  /* the level on which its course begins */
};

/* The water's level at NODE, in metres. */
static inline float course_level(const struct course_node *node)
{
    return (float)node->bed / (float)COURSE_METRE;
}

#endif
