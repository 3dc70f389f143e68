/*
 * A DTLS peer of the tests, by the library that it is linked with. It sends each line that it reads and prints what it
 * receives; a client begins a session when it has a line to send. Arguments are NAME=VALUE, as below.
 */
#include "peer.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int udp;
static struct sockaddr_in peer, from;

static struct sockaddr_in loopback(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int datagram_receive(void *bytes, size_t length) {
    socklen_t size = sizeof from;
    return recvfrom(udp, bytes, length, 0, (struct sockaddr *)&from, &size);
}

int datagram_send(const void *bytes, size_t length) {
    return sendto(udp, bytes, length, 0, (struct sockaddr *)&peer, sizeof peer);
}

const void *datagram_from(size_t *length) {
    char byte;
    socklen_t size = sizeof from;
    /* It is received later. */
    recvfrom(udp, &byte, sizeof byte, MSG_PEEK, (struct sockaddr *)&from, &size);
    *length = size;
    return &from;
}

void give_up(const char *what, long code) {
    printf("gave up: %s: %ld\n", what, code);
    exit(1);
}

/* Takes the value of an argument if it has this name. */
static const char *value(const char *argument, const char *name, const char *so_far) {
    size_t length = strlen(name);
    bool is = strncmp(argument, name, length) == 0 && argument[length] == '=';
    return is ? argument + length + 1 : so_far;
}

/* The next line of the standard input, once all of it is there. */
static char *next_line(void) {
    static char buffer[4096], line[4096];
    static size_t filled;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char *end = memchr(buffer, '\n', filled);
    if (end == NULL && poll(&input, 1, 0) > 0) {
        ssize_t length = read(STDIN_FILENO, buffer + filled, sizeof buffer - filled);
        if (length <= 0) exit(0);
        filled += length;
        end = memchr(buffer, '\n', filled);
    }
    if (end == NULL) return NULL;
    size_t length = end - buffer;
    memcpy(line, buffer, length);
    line[length] = 0;
    filled -= length + 1;
    memmove(buffer, end + 1, filled);
    return line;
}

static enum { NONE, HANDSHAKE, CONNECTED } state;
static bool client, resume;
/* A line that is not done with. */
static const char *line;

static void begin(void) {
    session_begin(resume);
    resume = false;
    state = HANDSHAKE;
}

/* What was to be said is not; a server waits for the next client. */
static void end(void) {
    state = NONE;
    line = NULL;
    if (!client) begin();
}

/* Does what the line says, unless it is data that has to wait. */
static void obey(void) {
    if (strncmp(line, "!server ", 8) == 0) {
        peer = loopback(atoi(line + 8));
        state = NONE;
    } else if (strcmp(line, "!resume") == 0) {
        resume = true;
        state = NONE;
    } else if (strcmp(line, "!connect") == 0) {
        begin();
    } else if (strcmp(line, "!close") == 0) {
        session_close();
        end();
    } else {
        if (state == NONE) begin();
        if (state != CONNECTED) return;
        session_send(line, strlen(line));
    }
    line = NULL;
}

static void print_failure(void) {
    printf("failed: -0x%lx\n", -session_error());
}

static void go_on(void) {
    static char data[4096];
    if (state == HANDSHAKE) {
        size_t length;
        /* What follows may answer it. */
        if (!client) memcpy(&peer, datagram_from(&length), sizeof peer);
        int done = session_handshake();
        if (done == FAILED) {
            print_failure();
            end();
        } else if (done == 1) {
            printf("%s %s\n", session_resumed() ? "resumed" : "connected", session_suite());
            state = CONNECTED;
        }
    }
    while (state == CONNECTED) {
        int length = session_receive(data, sizeof data);
        if (length > 0) {
            peer = from;
            printf("received %.*s from port %d\n", length, data, ntohs(peer.sin_port));
        } else if (length == WAITS) {
            return;
        } else {
            length == CLOSED ? printf("closed\n") : print_failure();
            end();
        }
    }
}

int main(int count, char **arguments) {
    struct options options = {0};
    const char *server = NULL;
    for (int n = 1; n < count; n++) {
        server = value(arguments[n], "server", server);
        options.suites = value(arguments[n], "suites", options.suites);
        options.identity = value(arguments[n], "identity", options.identity);
        options.key = value(arguments[n], "key", options.key);
        options.own = value(arguments[n], "own", options.own);
        options.secret = value(arguments[n], "secret", options.secret);
        options.trusted = value(arguments[n], "trusted", options.trusted);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    udp = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in own = loopback(0);
    socklen_t size = sizeof own;
    if (bind(udp, (struct sockaddr *)&own, size) != 0) give_up("no port", 0);
    getsockname(udp, (struct sockaddr *)&own, &size);
    client = options.client = server != NULL;
    if (client) peer = loopback(atoi(server));
    library_start(&options);
    printf("port %d\n", ntohs(own.sin_port));
    end();
    for (;;) {
        struct pollfd either[] = {{.fd = udp, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
        /* Not while a line waits for the handshake. */
        poll(either, line == NULL ? 2 : 1, 20);
        if (line == NULL) line = next_line();
        if (line != NULL) obey();
        go_on();
    }
}
