/*
 * An option is a key of the configuration: its kind, place in a struct, and bounds. Tables of
 * options describe a world (world_options.h), the daemon (daemon_options.h) and nodes
 * (field_nodes.h). A table ends with a NULL key.
 */
#ifndef FARLANDS_CONFIG_OPTION_H
#define FARLANDS_CONFIG_OPTION_H

#include <stdbool.h>
#include <stddef.h>

enum option_kind {
    OPTION_TEXT,    /* char[max], or whatever .parse writes */
    OPTION_CHOICE,  /* unsigned: index into .choices */
    OPTION_FLAG,    /* bool */
    OPTION_INTEGER, /* int or unsigned, min .. max, 0 <= min, max <= INT_MAX */
    OPTION_SEED,    /* uint64_t, as seed.h has it */
    OPTION_SIZE,    /* uint64_t bytes, min .. max; suffixes K M G T */
    OPTION_REAL,    /* double, min .. max */
    OPTION_BLOCKS,  /* int64_t units, min .. max blocks */
    OPTION_SPACING, /* unsigned: a lattice's spacing in blocks, a power of two */
    OPTION_COLOR,   /* uint8_t[3]: red, green, blue */
    /* The kinds above are scalars; mapping.c reads the kinds below. */
    OPTION_ORIGIN,    /* int64_t[2] units, each min .. max blocks */
    OPTION_ELEVATION, /* struct farlands_params: knots */
    OPTION_KNOTS,     /* struct curve_params: knots */
    OPTION_PALETTE,   /* struct world_config: stops */
    OPTION_LAYERS,    /* uint32_t: bit i is layer i of the reader */
    OPTION_LIST,      /* max values, .size bytes each, by .parse; then an int, their number */
    OPTION_SECTION,   /* a mapping with .options of its own */
    OPTION_WORLDS,    /* the list of worlds */
    OPTION_LIKE,      /* a built-in or saved world, from which mapping.c takes values */
    OPTION_FIELDS,    /* struct world_fields *: a mapping from names to fields */
    /* In fields (field_nodes.h): */
    OPTION_FIELD,      /* int: an expression */
    OPTION_FIELD_PAIR, /* int[2]: a list of two */
    OPTION_BIOMES,     /* struct biome_table *: a list of rows */
    OPTION_RANGE,      /* struct biome_range */
};

struct option {
    const char *key;
    enum option_kind kind;
    size_t offset; /* in struct config, world_config or node_values */
    double min, max;
    bool or_zero;                                             /* OPTION_SIZE: 0 is valid, too */
    size_t size;                                              /* OPTION_LIST */
    const char *const *choices;                               /* NULL-terminated */
    const struct option *options;                             /* of a section or a world */
    int (*parse)(char *out, const char *text, size_t length); /* 0 or -EINVAL */
    int part;             /* enum world_part, at the top of a world; a section's keys share it */
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

/* The row for KEY (LENGTH bytes) in the table OPTIONS, or NULL. */
const struct option *option_find(const struct option *options, const char *key, size_t length);

enum { OPTION_TEXT_MAX = 4096 };

/* Parse the scalar TEXT into the option's place in the struct BASE. Returns 0 or -EINVAL. */
int option_parse(const struct option *option, const char *text, size_t length, void *base);

/* Copy TEXT, which has no control characters, into OUT of SIZE bytes. Returns 0 or -EINVAL. */
int option_parse_line(char *out, size_t size, const char *text, size_t length);

/* Describe the valid values, such as "a whole number from 1 to 64". Returns BUFFER. */
char *option_expected(const struct option *option, char *buffer, size_t size);

/*
 * Write the scalar in BASE as text for option_parse. Returns true if JSON needs quotes around the
 * text.
 */
bool option_format(const struct option *option, const void *base, char *buffer, size_t size);

#endif
