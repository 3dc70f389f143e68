/* DTLS 1.2 by wolfSSL. */
#include "peer.h"

#include <wolfssl/options.h>
#include <wolfssl/ssl.h>
#include <wolfssl/wolfcrypt/hmac.h>
#include <string.h>

static WOLFSSL_CTX *context;
static WOLFSSL *ssl;
static WOLFSSL_SESSION *kept;
static bool client;
static long error;
static unsigned char cookie_secret[32];
static const char *shared_identity, *shared_key;

static void must(const char *what, int code) {
    if (code != WOLFSSL_SUCCESS) give_up(what, code);
}

static int from_peer(WOLFSSL *of, char *bytes, int length, void *of_io) {
    int received = datagram_receive(bytes, length);
    return received < 0 ? WOLFSSL_CBIO_ERR_WANT_READ : received;
}

static int to_peer(WOLFSSL *of, char *bytes, int length, void *of_io) {
    return datagram_send(bytes, length);
}

/* What shows that a client is at its address. */
static int cookie(WOLFSSL *of, unsigned char *out, int room, void *of_cookie) {
    size_t length;
    const void *from = datagram_from(&length);
    unsigned char code[WC_SHA256_DIGEST_SIZE];
    Hmac hmac;
    if (wc_HmacInit(&hmac, NULL, INVALID_DEVID) != 0 ||
        wc_HmacSetKey(&hmac, WC_SHA256, cookie_secret, sizeof cookie_secret) != 0 ||
        wc_HmacUpdate(&hmac, from, length) != 0 || wc_HmacFinal(&hmac, code) != 0)
        return -1;
    if (room > (int)sizeof code) room = sizeof code;
    memcpy(out, code, room);
    return room;
}

/* The lengths of both fit: they are arguments of the tests. */
static unsigned int client_key(WOLFSSL *of, const char *hint, char *identity, unsigned int identity_room,
                               unsigned char *key, unsigned int key_room) {
    strncpy(identity, shared_identity, identity_room);
    memcpy(key, shared_key, strlen(shared_key));
    return strlen(shared_key);
}

static unsigned int server_key(WOLFSSL *of, const char *identity, unsigned char *key, unsigned int key_room) {
    if (strcmp(identity, shared_identity) != 0) return 0;
    memcpy(key, shared_key, strlen(shared_key));
    return strlen(shared_key);
}

void library_start(const struct options *options) {
    client = options->client;
    wolfSSL_Init();
    context = wolfSSL_CTX_new(client ? wolfDTLSv1_2_client_method() : wolfDTLSv1_2_server_method());
    /* A server has a key for them without asking for it. */
    if (client) must("tickets", wolfSSL_CTX_UseSessionTicket(context));
    must("the suites", wolfSSL_CTX_set_cipher_list(context, options->suites));
    if (options->own != NULL) {
        must("its certificate", wolfSSL_CTX_use_certificate_chain_file(context, options->own));
        must("its private key", wolfSSL_CTX_use_PrivateKey_file(context, options->secret, WOLFSSL_FILETYPE_PEM));
        must("whom it trusts", wolfSSL_CTX_load_verify_locations(context, options->trusted, NULL));
        wolfSSL_CTX_set_verify(context, WOLFSSL_VERIFY_PEER | WOLFSSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    shared_identity = options->identity;
    shared_key = options->key;
    if (shared_key != NULL) {
        wolfSSL_CTX_set_psk_client_callback(context, client_key);
        wolfSSL_CTX_set_psk_server_callback(context, server_key);
    }
    wolfSSL_CTX_SetIORecv(context, from_peer);
    wolfSSL_CTX_SetIOSend(context, to_peer);
    wolfSSL_CTX_SetGenCookie(context, cookie);
    WC_RNG random;
    if (wc_InitRng(&random) != 0 || wc_RNG_GenerateBlock(&random, cookie_secret, sizeof cookie_secret) != 0)
        give_up("random bits", 0);
    wc_FreeRng(&random);
}

void session_begin(bool resume) {
    if (ssl != NULL) wolfSSL_free(ssl);
    ssl = wolfSSL_new(context);
    if (ssl == NULL) give_up("a session", 0);
    wolfSSL_dtls_set_using_nonblock(ssl, 1);
    if (resume) must("the session kept", wolfSSL_set_session(ssl, kept));
}

int session_handshake(void) {
    int done = client ? wolfSSL_connect(ssl) : wolfSSL_accept(ssl);
    if (done == WOLFSSL_SUCCESS) {
        if (client) kept = wolfSSL_get1_session(ssl);
        return 1;
    }
    error = wolfSSL_get_error(ssl, done);
    return error == WOLFSSL_ERROR_WANT_READ ? WAITS : FAILED;
}

const char *session_suite(void) {
    return wolfSSL_get_cipher_name(ssl);
}

bool session_resumed(void) {
    return wolfSSL_session_reused(ssl) != 0;
}

long session_error(void) {
    return error;
}

int session_receive(void *bytes, size_t length) {
    int received = wolfSSL_read(ssl, bytes, length);
    if (received > 0) return received;
    error = wolfSSL_get_error(ssl, received);
    if (error == WOLFSSL_ERROR_WANT_READ) return WAITS;
    return error == WOLFSSL_ERROR_ZERO_RETURN ? CLOSED : FAILED;
}

void session_send(const void *bytes, size_t length) {
    int sent = wolfSSL_write(ssl, bytes, length);
    if (sent != (int)length) give_up("data", sent);
}

void session_close(void) {
    wolfSSL_shutdown(ssl);
}
