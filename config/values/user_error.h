/*
 * An error about a file, as text. If permission is missing, the text names this process's user,
 * because a service often runs as another user than the administrator who tries the file in a
 * shell.
 */
#ifndef FARLANDS_CONFIG_USER_ERROR_H
#define FARLANDS_CONFIG_USER_ERROR_H

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { USER_ERROR_TEXT = 160 };

/* ERR is a negative code. Returns OUT. */
static inline const char *user_error(int err, char out[USER_ERROR_TEXT])
{
    const long uid = (long)geteuid();
    struct passwd entry, *found = NULL;
    char memory[1024];

    if (err != -EACCES && err != -EPERM)
        snprintf(out, USER_ERROR_TEXT, "%s", strerror(-err));
    else if (getpwuid_r((uid_t)uid, &entry, memory, sizeof memory, &found) == 0 && found)
        snprintf(out, USER_ERROR_TEXT, "%s for user %s (%ld)", strerror(-err), found->pw_name, uid);
    else
        snprintf(out, USER_ERROR_TEXT, "%s for user %ld", strerror(-err), uid);
    return out;
}

#endif
