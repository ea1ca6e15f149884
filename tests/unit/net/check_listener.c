/* Listening sockets: opened by address, and inherited from a service manager. */
#include "server/net/listener.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "tests/unit/support/fixtures.h"

/* The descriptor for LISTEN, which has one address, or a negative code. */
static int open_one(const char *listen)
{
    int fds[4];
    const int count = listener_open(listen, fds, 4);
    if (count > 0)
        ck_assert_int_eq(count, 1);
    return count < 0 ? count : fds[0];
}

static bool has_ipv6(void)
{
    const int fd = open_one("[::1]:0");
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static const struct {
    const char *listen, *address; /* ADDRESS is followed by the port */
} addresses[] = {{"127.0.0.1:0", "127.0.0.1:"}, {"[::1]:0", "[::1]:"}};

START_TEST(test_open)
{
    char address[300], wanted[300];
    struct sockaddr_in6 name;
    socklen_t length = sizeof name;
    if (addresses[_i].listen[0] == '[' && !has_ipv6())
        return;
    int fd = open_one(addresses[_i].listen);
    ck_assert_int_ge(fd, 0);
    ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&name, &length), 0);
    listener_address(fd, address, sizeof address);
    snprintf(wanted, sizeof wanted, "%s%d", addresses[_i].address, ntohs(name.sin6_port));
    ck_assert_str_eq(address, wanted);
    ck_assert_int_eq(open_one(address), -EADDRINUSE);
    close(fd);
    listener_address(fd, address, sizeof address);
    ck_assert_str_eq(address, "?");
}
END_TEST

/* Listen on all addresses of localhost, at the same port. */
START_TEST(test_localhost)
{
    int fds[4], again[4];
    char first[300], other[300];
    const int count = listener_open("localhost:0", fds, 4);

    ck_assert_int_ge(count, 1);
    listener_address(fds[0], first, sizeof first);
    const char *port = strrchr(first, ':');
    for (int i = 1; i < count; i++) {
        listener_address(fds[i], other, sizeof other);
        ck_assert_str_ne(first, other);
        ck_assert_str_eq(strrchr(other, ':'), port);
    }
    if (count > 1) {
        char listen[32];
        snprintf(listen, sizeof listen, "localhost%s", port);
        ck_assert_int_eq(listener_open(listen, again, 4), -EADDRINUSE);
        close(fds[0]); /* nothing is left open if one is in use */
        ck_assert_int_eq(listener_open(listen, again, 4), -EADDRINUSE);
        const int fd = open_one(first);
        ck_assert_int_ge(fd, 0);
        close(fd);
        ck_assert_int_eq(listener_open("localhost:0", again, 1), 1);
        close(again[0]);
    }
    for (int i = count > 1; i < count; i++)
        close(fds[i]);
}
END_TEST

static unsigned queued(int fd, int kind)
{
    unsigned memory[SK_MEMINFO_VARS];
    socklen_t size = sizeof memory;
    ck_assert_int_eq(getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &size), 0);
    return memory[kind];
}

/* The system takes little for a connection neither end of which reads. */
START_TEST(test_memory)
{
    static char bytes[1 << 20];
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    const int fd = open_one("127.0.0.1:0");
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&name, &length), 0);
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    (void)connect(client, (struct sockaddr *)&name, length);
    int server;
    while ((server = accept4(fd, NULL, NULL, SOCK_NONBLOCK)) < 0)
        usleep(1000);
    for (int i = 0; i < 50; i++) {
        (void)send(server, bytes, sizeof bytes, 0);
        (void)send(client, bytes, sizeof bytes, 0);
        usleep(1000);
    }
    ck_assert_uint_le(queued(server, SK_MEMINFO_WMEM_QUEUED), 96 << 10);
    ck_assert_uint_le(queued(server, SK_MEMINFO_RMEM_ALLOC), 48 << 10);
    close(server);
    close(client);
    close(fd);
}
END_TEST

static const struct {
    const char *listen;
    int err;
} errors[] = {{"nonsense", -ENOENT},
              {"", -ENOENT},
              {"127.0.0.1:65536", -ENOENT},
              {"name.invalid:80", -ENOENT},
              {"192.0.2.1:0", -EADDRNOTAVAIL}};

START_TEST(test_errors)
{
    ck_assert_int_eq(open_one(errors[_i].listen), errors[_i].err);
}
END_TEST

/* In a process of its own, since libcheck uses descriptors from 3 on, too: inherit up to 2 of COUNT
 * sockets, all copies of FD. Returns what listener_inherit does. */
static int inherit(int fd, int count)
{
    enum { ERRORS = 100 };
    int status, fds[2];
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        char text[32];
        const int copy = fcntl(fd, F_DUPFD, 100);
        for (int i = 0; i < count; i++)
            dup2(copy, 3 + i);
        snprintf(text, sizeof text, "%d", count);
        setenv("LISTEN_FDS", text, 1);
        snprintf(text, sizeof text, "%d", getpid());
        setenv("LISTEN_PID", text, 1);
        const int result = listener_inherit(fds, 2);
        for (int i = 0; i < result; i++)
            if (fds[i] != 3 + i || !(fcntl(fds[i], F_GETFL) & O_NONBLOCK))
                _exit(ERRORS);
        _exit(result < 0 ? ERRORS - result : result);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status) > ERRORS ? ERRORS - WEXITSTATUS(status) : WEXITSTATUS(status);
}

START_TEST(test_inherit)
{
    int fds[2], ends[2];
    ck_assert_int_eq(listener_inherit(fds, 2), 0);
    const int fd = open_one("127.0.0.1:0");
    ck_assert_int_eq(fcntl(fd, F_SETFL, 0), 0);
    ck_assert_int_eq(inherit(fd, 1), 1);
    ck_assert_int_eq(inherit(fd, 2), 2);
    ck_assert_int_eq(inherit(fd, 3), -E2BIG);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(inherit(ends[0], 1), -ENOTSOCK);
    ck_assert_int_eq(inherit(socket(AF_UNIX, SOCK_STREAM, 0), 1), -ENOTSOCK); /* not listening */
    ck_assert_int_eq(inherit(socket(AF_INET, SOCK_DGRAM, 0), 1), -ENOTSOCK);
}
END_TEST

START_TEST(test_unix_address)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char directory[FOLDER_TEXT], address[300], wanted[300];
    folder_new(directory);
    snprintf(name.sun_path, sizeof name.sun_path, "%.90s/s", directory);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    listener_address(fd, address, sizeof address);
    snprintf(wanted, sizeof wanted, "unix:%s", name.sun_path);
    ck_assert_str_eq(address, wanted);
    close(fd);
    folder_remove(directory);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("listener");
    TCase *tcase = suite_case(suite, "listener");
    tcase_add_loop_test(tcase, test_open, 0, ROWS(addresses));
    tcase_add_loop_test(tcase, test_errors, 0, ROWS(errors));
    tcase_add_test(tcase, test_localhost);
    tcase_add_test(tcase, test_memory);
    tcase_add_test(tcase, test_inherit);
    tcase_add_test(tcase, test_unix_address);
    return suite_run(suite);
}
