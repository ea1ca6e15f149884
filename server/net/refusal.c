#include "refusal.h"

#include <stddef.h>
#include <sys/socket.h>

#define CONNECTIONS "{\"error\":\"too many connections of this client are open\"}"
#define SLOW_HEAD "{\"error\":\"request head: not received in time\"}"

#define RESPONSE(status, header, length, body)                   \
    "HTTP/1.1 " status "\r\n"                                    \
    "Connection: close\r\n" header "Cache-Control: no-store\r\n" \
    "Access-Control-Allow-Origin: *\r\n"                         \
    "Cross-Origin-Resource-Policy: cross-origin\r\n"             \
    "Timing-Allow-Origin: *\r\n"                                 \
    "Content-Type: application/json\r\n"                         \
    "Content-Length: " length "\r\n"                             \
    "\r\n" body

_Static_assert(sizeof CONNECTIONS - 1 == 56 && sizeof SLOW_HEAD - 1 == 46,
               "as Content-Length says");

static const struct {
    const char *text;
    size_t length;
} responses[] = {
#define ROW(text)                \
    {                            \
        (text), sizeof(text) - 1 \
    }
    [REFUSAL_CONNECTIONS] =
        ROW(RESPONSE("503 Service Unavailable", "Retry-After: 1\r\n", "56", CONNECTIONS)),
    [REFUSAL_SLOW_HEAD] = ROW(RESPONSE("408 Request Timeout", "", "46", SLOW_HEAD)),
};

bool refusal_send(int fd, enum refusal refusal)
{
    const size_t length = responses[refusal].length;
    return send(fd, responses[refusal].text, length, MSG_DONTWAIT | MSG_NOSIGNAL) ==
           (ssize_t)length;
}
