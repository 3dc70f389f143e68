/* What the program of a DTLS library and what all of them share want of each other. */
#ifndef PEER_H
#define PEER_H

#include <stdbool.h>
#include <stddef.h>

/* What the program was started with; what was not said is NULL. */
struct options {
    bool client;
    const char *suites;   /* their names in the registry of TLS, joined by colons */
    const char *identity; /* of the pre-shared key */
    const char *key;      /* the pre-shared key, its text being its bytes */
    const char *own;      /* a file of its certificate, in PEM */
    const char *secret;   /* a file of its private key, in PEM */
    const char *trusted;  /* a file of the certificate of whom it trusts, in PEM */
};

/* The end of a session, or how it goes on. */
enum { WAITS = 0, CLOSED = -1, FAILED = -2 };

/* What all share: datagrams from and to the peer. The length, or -1 if there is none. */
int datagram_receive(void *bytes, size_t length);
int datagram_send(const void *bytes, size_t length);
/* The address of whoever sent the next datagram, or else the last one, as bytes. */
const void *datagram_from(size_t *length);
/* Prints what did not work out, and ends the program. */
_Noreturn void give_up(const char *what, long code);

/* What each library does. */
void library_start(const struct options *options);
/* Begins a session, or resumes the last one. */
void session_begin(bool resume);
/* Goes on with the handshake: 1 when it is done. */
int session_handshake(void);
/* What the handshake was told of: the suite, whether it resumed a session, and why it failed. */
const char *session_suite(void);
bool session_resumed(void);
long session_error(void);
/* The length of the data that came. */
int session_receive(void *bytes, size_t length);
void session_send(const void *bytes, size_t length);
void session_close(void);

#endif
