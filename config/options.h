/* Every key of the configuration in one table: what it is, where it goes, what it accepts. */
#ifndef FARLANDS_CONFIG_OPTIONS_H
#define FARLANDS_CONFIG_OPTIONS_H

#include <stddef.h>

enum option_kind {
    OPTION_TEXT,      /* char[max] */
    OPTION_NAME,      /* char[max]: a word fit for a URL */
    OPTION_LISTEN,    /* char[max]: HOST:PORT */
    OPTION_URL,       /* char[URL_PREFIX_URL_MAX] */
    OPTION_PATH,      /* char[URL_PREFIX_PATH_MAX] */
    OPTION_CHOICE,    /* unsigned: index into choices */
    OPTION_FLAG,      /* bool */
    OPTION_COUNT,     /* unsigned, min .. max */
    OPTION_INTEGER,   /* int, min .. max */
    OPTION_SEED,      /* uint64_t */
    OPTION_SIZE,      /* uint64_t bytes, min .. max, with suffix K M G T */
    OPTION_REAL,      /* double, above min or from it (closed), up to max */
    OPTION_BLOCKS,    /* int64_t units, min .. max blocks */
    OPTION_PLACE,     /* int64_t[2] units, each min .. max blocks */
    OPTION_ELEVATION, /* struct farlands_params: knots */
    OPTION_PALETTE,   /* struct world_config: stops */
    OPTION_LAYERS,    /* uint32_t: a bit for each of the reader's layers */
    OPTION_NETWORKS,  /* struct networks */
    OPTION_SECTION,   /* a mapping with options of its own */
    OPTION_WORLDS,    /* the list of worlds */
};

struct option {
    const char *key;
    enum option_kind kind;
    size_t offset; /* in struct config; for the keys of a world in struct world_config */
    double min, max;
    const char *const *choices;   /* NULL-terminated */
    const struct option *options; /* of a section, or of each world */
    const char *accepted;         /* what is accepted, where bounds do not say it */
};

/* Both end with a NULL key. */
extern const struct option config_options[];
extern const struct option world_options[];

/* The option called KEY (LENGTH bytes), or NULL. */
const struct option *option_find(const struct option *options, const char *key, size_t length);

enum { OPTION_TEXT_MAX = 4096 };

/* Parse one scalar TEXT into the option's place in BASE. Returns 0 or -EINVAL;
 * what would be accepted is then option_accepted. */
int option_parse(const struct option *option, const char *text, size_t length, void *base);

/* A phrase such as "a whole number from 1 to 64". Returns BUFFER. */
char *option_accepted(const struct option *option, char *buffer, size_t size);

/* The value in BASE as text that option_parse, or JSON for lists, reads back.
 * Returns whether the text needs quotes in JSON. */
int option_format(const struct option *option, const void *base, char *buffer, size_t size);

#endif
