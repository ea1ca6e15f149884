/*
 * All keys of a configuration, and those of nodes that have a HELP, one per line on standard
 * output: PATH, VALUES, DEFAULT and HELP, with tabs between them. keys_to_documents.awk makes
 * tables and comments of these lines. Compiled with FARLANDS_DOCUMENTS, as the tables are.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/daemon/daemon_options.h"
#include "config/fields/field_nodes.h"
#include "config/values/exact_numbers.h"
#include "config/world/world_options.h"

/* A bound: powers of two from 2^31 on as such, and parts of a block that lengths may have. */
static void print_bound(double bound, const char *before)
{
    char text[REAL_TEXT];
    int exponent;
    const double mantissa = frexp(bound, &exponent);
    if (fabs(bound) >= 0x1p31 && fabs(mantissa) == 0.5)
        printf("%s%s2^%d", before, bound < 0 ? "-" : "", exponent - 1);
    else if (bound > 0 && bound < 0.01 && bound * FARLANDS_UNIT == floor(bound * FARLANDS_UNIT))
        printf("%s%g/%d", before, bound * FARLANDS_UNIT, (int)FARLANDS_UNIT);
    else
        printf("%s%s", before, real_format(bound, text));
}

static void print_values(const struct option *option)
{
    switch (option->kind) {
    case OPTION_CHOICE:
        for (int i = 0; option->choices[i]; i++)
            printf("%s`%s`", i ? ", " : "", option->choices[i]);
        return;
    case OPTION_FLAG:
        printf("`true`, `false`");
        return;
    case OPTION_FIELD:
        printf("a field");
        return;
    case OPTION_SPACING:
        printf("a power of two");
        return;
    case OPTION_LAYERS:
        printf("all, or a list such as [relief, height]");
        return;
    default:
        break;
    }
    if (option->expected) {
        printf("%s", option->expected);
    } else if (option->min < option->max) {
        print_bound(option->min, "");
        print_bound(option->max, " to ");
        printf("%s",
               option->kind == OPTION_BLOCKS ? " blocks, with at most 10 fractional bits" : "");
    }
}

/* The scalar in DEFAULTS. A number below the bounds is a key that must be there; one above them has
 * no default that a number could say. */
static void print_default(const struct option *option, const void *defaults)
{
    char text[OPTION_TEXT_MAX];
    option_format(option, defaults, text, sizeof text);
    const bool number = option->kind == OPTION_INTEGER || option->kind == OPTION_BLOCKS;
    if (option->kind == OPTION_SPACING && strcmp(text, "0") == 0)
        return;
    if (number && strtod(text, NULL) < option->min)
        printf("required");
    else if (!number || strtod(text, NULL) <= option->max)
        printf("%s", text);
}

/* Print OPTIONS, whose paths begin with PREFIX. DEFAULTS are NULL if they are in farlands.yaml. */
static int print_keys(const struct option *options, const char *prefix, const void *defaults,
                      bool all)
{
    int missing = 0;
    for (; options->key; options++) {
        char path[128], below[sizeof path + 1];
        snprintf(path, sizeof path, "%s%s", prefix, options->key);
        snprintf(below, sizeof below, "%s.", path);
        if (options->help) {
            printf("%s\t", path);
            print_values(options);
            printf("\t");
            if (defaults)
                print_default(options, defaults);
            printf("\t%s\n", options->help);
        } else if (all) {
            fprintf(stderr, "%s has no HELP in its row\n", path);
            missing++;
        }
        if (options->options)
            missing +=
                print_keys(options->options, below,
                           options->options == world_options ? &world_defaults : defaults, all);
    }
    return missing;
}

int main(void)
{
    int missing = print_keys(daemon_options, "", NULL, true);
    for (const struct node_kind *kind = NODE_KINDS_WITH_KEYS; kind->name; kind++) {
        char prefix[64];
        snprintf(prefix, sizeof prefix, "node.%s.", kind->name);
        if (kind->keys)
            print_keys(kind->keys, prefix, kind->defaults, false);
    }
    return missing ? EXIT_FAILURE : EXIT_SUCCESS;
}
