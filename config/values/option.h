/*
 * A key of the configuration: its kind, its place in a struct, its bounds. Tables of these describe
 * a world (world_options.h) and the daemon (daemon_options.h).
 */
#ifndef FARLANDS_CONFIG_OPTION_H
#define FARLANDS_CONFIG_OPTION_H

#include <stdbool.h>
#include <stddef.h>

enum option_kind {
    OPTION_TEXT,    /* char[max], or as .parse has it */
    OPTION_CHOICE,  /* unsigned: index into .choices */
    OPTION_FLAG,    /* bool */
    OPTION_INTEGER, /* int or unsigned, min .. max, 0 <= min, max <= INT_MAX */
    OPTION_SEED,    /* uint64_t, as seed.h has it */
    OPTION_SIZE,    /* uint64_t bytes, min .. max; suffixes K M G T */
    OPTION_REAL,    /* double, min .. max */
    OPTION_BLOCKS,  /* int64_t units, min .. max blocks */
    OPTION_SPACING, /* unsigned: blocks between the nodes of a lattice, a power of two */
    OPTION_COLOR,   /* uint8_t[3]: red, green, blue */
    /* The kinds above are scalars; mapping.c reads those below. */
    OPTION_ORIGIN,    /* int64_t[2] units, each min .. max blocks */
    OPTION_ELEVATION, /* struct farlands_params: knots */
    OPTION_KNOTS,     /* struct curve_params: knots */
    OPTION_PALETTE,   /* struct world_config: stops */
    OPTION_LAYERS,    /* uint32_t: one bit per layer of the reader */
    OPTION_LIST,      /* an array of max values of .size bytes, each as .parse has it; then an int:
                       * how many there are */
    OPTION_SECTION,   /* a mapping with .options of its own */
    OPTION_WORLDS,    /* the list of worlds */
    OPTION_LIKE,      /* a built-in world, or a saved one; mapping.c takes its values */
    OPTION_FIELDS,    /* struct world_fields *: a mapping of names to fields */
    /* In fields (field_nodes.h): */
    OPTION_FIELD,      /* int: an expression */
    OPTION_FIELD_PAIR, /* int[2]: a list of two */
    OPTION_BIOMES,     /* struct biome_table *: a list of rows */
    OPTION_RANGE,      /* struct biome_range */
};

struct option {
    const char *key;
    enum option_kind kind;
    size_t offset; /* in struct config or, for the keys of a world, in struct world_config */
    double min, max;
    bool or_zero;                                             /* OPTION_SIZE: 0 is valid, too */
    size_t size;                                              /* OPTION_LIST */
    const char *const *choices;                               /* NULL-terminated */
    const struct option *options;                             /* of a section or a world */
    int (*parse)(char *out, const char *text, size_t length); /* 0 or -EINVAL */
    int part; /* of a world's keys at the top: an enum world_part, of all keys in a section */
    const char *expected; /* completes "expected ..."; NULL: made from kind and bounds */
    const char *help;     /* HELP */
};

/*
 * What a key does, for people: the last member of a row. `make docs` writes it into
 * config/farlands.yaml, and so into the manual page, and into the tables of config/README.md.
 * Programs leave it out.
 */
#ifdef FARLANDS_DOCUMENTS
#define HELP(text) .help = (text)
#else
#define HELP(text) .help = NULL
#endif

/* The option KEY (LENGTH bytes) of a table that ends with a NULL key, or NULL. */
const struct option *option_find(const struct option *options, const char *key, size_t length);

enum { OPTION_TEXT_MAX = 4096 };

/* Parse the scalar TEXT into the option's place in BASE. Returns 0 or -EINVAL. */
int option_parse(const struct option *option, const char *text, size_t length, void *base);

/* Copy TEXT, which has no control characters, into OUT of SIZE bytes. Returns 0 or -EINVAL. */
int option_parse_line(char *out, size_t size, const char *text, size_t length);

/* Describe the valid values, such as "a whole number from 1 to 64". Returns BUFFER. */
char *option_expected(const struct option *option, char *buffer, size_t size);

/*
 * Write the scalar in BASE as text that option_parse reads back. Returns true if JSON needs quotes
 * around it.
 */
bool option_format(const struct option *option, const void *base, char *buffer, size_t size);

#endif
