#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct json json_new(void)
{
    cJSON *root = cJSON_CreateObject();
    return (struct json){.root = root, .complete = root != NULL};
}

cJSON *json_add(struct json *json, cJSON *parent, const char *key, cJSON *value)
{
    if (value &&
        (key ? cJSON_AddItemToObject(parent, key, value) : cJSON_AddItemToArray(parent, value)))
        return value;
    cJSON_Delete(value);
    json->complete = false;
    return NULL;
}

void json_add_text(struct json *json, cJSON *parent, const char *key, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    json_add(json, parent, key, text ? cJSON_CreateString(text) : NULL);
    free(text);
}

static char *print(const struct json *json, bool indented)
{
    if (!json->complete)
        return NULL;
    return indented ? cJSON_Print(json->root) : cJSON_PrintUnformatted(json->root);
}

struct blob *json_end(struct json *json, bool indented)
{
    struct blob *blob = NULL;
    char *text = print(json, indented);
    if (text) {
        const size_t length = strlen(text);
        text[length] = '\n'; /* in place of the NUL */
        blob = blob_copy(text, length + 1);
    }
    cJSON_free(text);
    cJSON_Delete(json->root);
    return blob;
}
