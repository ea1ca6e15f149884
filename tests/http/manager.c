/*
 * A service manager for tests: opens sockets, starts a program that inherits them like a
 * systemd service (sd_listen_fds(3)), and prints the program's notifications (sd_notify(3)).
 *
 *   manager [--stranger | --become] SOCKET... -- PROGRAM ARGUMENT...
 *
 * SOCKET: tcp|udp|deaf HOST PORT (deaf does not listen), unix PATH, or closed, a descriptor that is
 * not open. With --stranger LISTEN_PID names another process. With --become the program takes the
 * place of this one, at once and without notifications. Otherwise each line "start" on standard
 * input starts the program once more; at the end of input all are killed. On standard output:
 *
 *   socket PORT                      for each SOCKET in order; 0 if it has none
 *   started PID
 *   notified PID WORD...             newlines become spaces
 *   ended PID exit|signal NUMBER
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST = 3, SOCKETS_MAX = 32, CHILDREN_MAX = 8, SPARE = 100, TEXT = 4096 };

struct manager {
    char **program;
    int sockets[SOCKETS_MAX]; /* -1: a descriptor that is closed */
    int count;
    bool stranger, become;
    int notify, children_ended;
    pid_t children[CHILDREN_MAX];
};

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

static bool is(const char *word, const char *other)
{
    return word && strcmp(word, other) == 0;
}

/* --- Sockets --------------------------------------------------------------- */

static int open_inet(const char *kind, const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_socktype = is(kind, "udp") ? SOCK_DGRAM : SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *address;
    const int on = 1;

    if (getaddrinfo(host, port, &hints, &address))
        fail(host);
    int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, address->ai_addr, address->ai_addrlen) ||
        (!is(kind, "deaf") && !is(kind, "udp") && listen(fd, SOMAXCONN)))
        fail(host);
    freeaddrinfo(address);
    return fd;
}

static int open_unix(const char *path, int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) ||
        (type == SOCK_STREAM && listen(fd, SOMAXCONN)))
        fail(path);
    return fd;
}

static void print_port(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    int port = 0;

    if (fd >= 0 && getsockname(fd, (struct sockaddr *)&address, &length) == 0) {
        if (address.ss_family == AF_INET)
            port = ntohs(((struct sockaddr_in *)&address)->sin_port);
        else if (address.ss_family == AF_INET6)
            port = ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    }
    printf("socket %d\n", port);
}

/* Returns the remaining arguments. */
static char **open_sockets(struct manager *manager, char **words)
{
    for (; *words && !is(*words, "--"); words++) {
        int *fd = &manager->sockets[manager->count];
        if (is(*words, "--stranger") || is(*words, "--become")) {
            manager->stranger |= is(*words, "--stranger");
            manager->become |= is(*words, "--become");
            continue;
        }
        if (manager->count == SOCKETS_MAX)
            fail("too many sockets");
        if (is(*words, "closed")) {
            *fd = -1;
        } else if (is(*words, "unix") && words[1]) {
            *fd = open_unix(*++words, SOCK_STREAM);
        } else if (words[1] && words[2]) {
            *fd = open_inet(words[0], words[1], words[2]);
            words += 2;
        }
        if (!manager->become)
            print_port(*fd);
        manager->count++;
    }
    return *words ? words + 1 : words;
}

/* --- The program ----------------------------------------------------------- */

static void set(const char *name, long value)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", value);
    setenv(name, text, 1);
}

static void become_program(struct manager *manager)
{
    sigset_t none;

    /* Move them to high numbers first: a socket may occupy another's target descriptor. */
    for (int i = 0; i < manager->count; i++)
        if (manager->sockets[i] >= 0 && dup2(manager->sockets[i], SPARE + i) < 0)
            fail("dup2");
    for (int i = 0; i < manager->count; i++) {
        if (manager->sockets[i] < 0) {
            close(FIRST + i);
            continue;
        }
        dup2(SPARE + i, FIRST + i);
        close(SPARE + i);
    }
    if (manager->count > 0) {
        set("LISTEN_FDS", manager->count);
        set("LISTEN_PID", manager->stranger ? 1 : getpid());
    }
    if (getenv("WATCHDOG_USEC"))
        set("WATCHDOG_PID", getpid());
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(manager->program[0], manager->program);
    fail(manager->program[0]);
}

static void start(struct manager *manager)
{
    for (int i = 0; i < CHILDREN_MAX; i++) {
        if (manager->children[i] > 0)
            continue;
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            dup2(STDERR_FILENO, STDOUT_FILENO);
            become_program(manager);
        }
        manager->children[i] = pid;
        printf("started %d\n", (int)pid);
        return;
    }
    fail("too many programs");
}

static void reap(struct manager *manager)
{
    struct signalfd_siginfo info;
    int status;
    pid_t pid;

    if (read(manager->children_ended, &info, sizeof info) < 0)
        return;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (int i = 0; i < CHILDREN_MAX; i++)
            if (manager->children[i] == pid)
                manager->children[i] = 0;
        if (WIFSIGNALED(status))
            printf("ended %d signal %d\n", (int)pid, WTERMSIG(status));
        else
            printf("ended %d exit %d\n", (int)pid, WEXITSTATUS(status));
    }
}

static void receive_notification(const struct manager *manager)
{
    char text[TEXT];
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    struct iovec buffer = {text, sizeof text - 1};
    struct msghdr message = {.msg_iov = &buffer,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    struct ucred sender = {0};
    ssize_t length = recvmsg(manager->notify, &message, MSG_DONTWAIT);

    if (length < 0)
        return;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_CREDENTIALS)
        memcpy(&sender, CMSG_DATA(header), sizeof sender);
    text[length] = '\0';
    for (char *c = text; *c; c++)
        if (*c == '\n')
            *c = ' ';
    printf("notified %d %s\n", (int)sender.pid, text);
}

/* --- Running --------------------------------------------------------------- */

static void open_channels(struct manager *manager)
{
    char directory[] = "/tmp/farlands-manager-XXXXXX", path[sizeof directory + 8];
    const int on = 1;
    sigset_t ended;

    if (!mkdtemp(directory))
        fail(directory);
    snprintf(path, sizeof path, "%s/notify", directory);
    manager->notify = open_unix(path, SOCK_DGRAM);
    setsockopt(manager->notify, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    setenv("NOTIFY_SOCKET", path, 1);
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, NULL);
    manager->children_ended = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void close_channels(const struct manager *manager)
{
    char *path = getenv("NOTIFY_SOCKET");

    for (int i = 0; i < CHILDREN_MAX; i++)
        if (manager->children[i] > 0)
            kill(manager->children[i], SIGKILL);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

static void run(struct manager *manager)
{
    struct pollfd polled[] = {{STDIN_FILENO, POLLIN, 0},
                              {manager->notify, POLLIN, 0},
                              {manager->children_ended, POLLIN, 0}};
    char line[TEXT];

    for (;;) {
        fflush(stdout);
        if (poll(polled, sizeof polled / sizeof polled[0], -1) < 0 && errno != EINTR)
            fail("poll");
        if (polled[1].revents)
            receive_notification(manager);
        else if (polled[2].revents) /* only after all its notifications */
            reap(manager);
        if (!polled[0].revents)
            continue;
        ssize_t length = read(STDIN_FILENO, line, sizeof line);
        if (length <= 0)
            return;
        for (ssize_t i = 0; i < length; i++)
            if (line[i] == '\n')
                start(manager);
    }
}

int main(int argc, char **argv)
{
    struct manager manager = {0};
    (void)argc;

    manager.program = open_sockets(&manager, argv + 1);
    if (!manager.program[0])
        fail("no program");
    if (manager.become)
        become_program(&manager);
    open_channels(&manager);
    run(&manager);
    close_channels(&manager);
    return 0;
}
