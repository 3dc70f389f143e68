/* DTLS 1.2 by Mbed TLS. */
#include "peer.h"

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/ssl.h>
#include <mbedtls/ssl_cache.h>
#include <mbedtls/ssl_cookie.h>
#include <mbedtls/ssl_ticket.h>
#include <mbedtls/timing.h>
#include <string.h>

/* Longer than any datagram takes here: nothing is lost on loopback. */
#define TIMEOUT_MS 10000
#define TICKET_SECONDS 3600

static mbedtls_entropy_context entropy;
static mbedtls_ctr_drbg_context random_bits;
static mbedtls_ssl_config config;
static mbedtls_ssl_context ssl;
static mbedtls_timing_delay_context timer;
static mbedtls_ssl_cookie_ctx cookies;
static mbedtls_ssl_cache_context cache;
static mbedtls_ssl_ticket_context tickets;
static mbedtls_x509_crt own, trusted;
static mbedtls_pk_context secret;
static mbedtls_ssl_session kept;
static bool client, resumed;
static unsigned char master[sizeof kept.master];
static int error, suites[16];

static void must(const char *what, int code) {
    if (code != 0) give_up(what, code);
}

static int from_peer(void *context, unsigned char *bytes, size_t length) {
    int received = datagram_receive(bytes, length);
    return received < 0 ? MBEDTLS_ERR_SSL_WANT_READ : received;
}

static int to_peer(void *context, const unsigned char *bytes, size_t length) {
    return datagram_send(bytes, length);
}

/* Its names of suites have other hyphens than the registry's. */
static void take_suites(const char *names) {
    char all[512] = {0}, *name;
    size_t count = 0;
    strncpy(all, names, sizeof all - 1);
    for (name = strtok(all, ":"); name != NULL; name = strtok(NULL, ":")) {
        for (char *at = name; *at != 0; at++)
            if (*at == '_') *at = '-';
        suites[count] = mbedtls_ssl_get_ciphersuite_id(name);
        if (suites[count++] == 0) give_up(name, 0);
    }
    mbedtls_ssl_conf_ciphersuites(&config, suites);
}

void library_start(const struct options *options) {
    client = options->client;
    mbedtls_entropy_init(&entropy);
    mbedtls_ctr_drbg_init(&random_bits);
    mbedtls_ssl_config_init(&config);
    mbedtls_ssl_init(&ssl);
    mbedtls_ssl_cookie_init(&cookies);
    mbedtls_ssl_cache_init(&cache);
    mbedtls_ssl_session_init(&kept);
    must("random bits", mbedtls_ctr_drbg_seed(&random_bits, mbedtls_entropy_func, &entropy, NULL, 0));
    must("defaults", mbedtls_ssl_config_defaults(&config, client ? MBEDTLS_SSL_IS_CLIENT : MBEDTLS_SSL_IS_SERVER,
                                                 MBEDTLS_SSL_TRANSPORT_DATAGRAM, MBEDTLS_SSL_PRESET_DEFAULT));
    mbedtls_ssl_conf_rng(&config, mbedtls_ctr_drbg_random, &random_bits);
    mbedtls_ssl_conf_handshake_timeout(&config, TIMEOUT_MS, TIMEOUT_MS);
    take_suites(options->suites);
    if (options->key != NULL) {
        must("the pre-shared key", mbedtls_ssl_conf_psk(&config, (const unsigned char *)options->key, strlen(options->key),
                                                        (const unsigned char *)options->identity, strlen(options->identity)));
    }
    if (options->own != NULL) {
        mbedtls_x509_crt_init(&own);
        mbedtls_x509_crt_init(&trusted);
        mbedtls_pk_init(&secret);
        must("its certificate", mbedtls_x509_crt_parse_file(&own, options->own));
        must("its private key", mbedtls_pk_parse_keyfile(&secret, options->secret, NULL));
        must("whom it trusts", mbedtls_x509_crt_parse_file(&trusted, options->trusted));
        must("its keys", mbedtls_ssl_conf_own_cert(&config, &own, &secret));
        mbedtls_ssl_conf_ca_chain(&config, &trusted, NULL);
        mbedtls_ssl_conf_authmode(&config, MBEDTLS_SSL_VERIFY_REQUIRED);
    }
    if (!client) {
        must("cookies", mbedtls_ssl_cookie_setup(&cookies, mbedtls_ctr_drbg_random, &random_bits));
        mbedtls_ssl_conf_dtls_cookies(&config, mbedtls_ssl_cookie_write, mbedtls_ssl_cookie_check, &cookies);
        mbedtls_ssl_conf_session_cache(&config, &cache, mbedtls_ssl_cache_get, mbedtls_ssl_cache_set);
        /* For clients that ask for one. */
        mbedtls_ssl_ticket_init(&tickets);
        must("tickets", mbedtls_ssl_ticket_setup(&tickets, mbedtls_ctr_drbg_random, &random_bits,
                                                 MBEDTLS_CIPHER_AES_128_GCM, TICKET_SECONDS));
        mbedtls_ssl_conf_session_tickets_cb(&config, mbedtls_ssl_ticket_write, mbedtls_ssl_ticket_parse, &tickets);
    }
    must("a session", mbedtls_ssl_setup(&ssl, &config));
    mbedtls_ssl_set_timer_cb(&ssl, &timer, mbedtls_timing_set_delay, mbedtls_timing_get_delay);
    mbedtls_ssl_set_bio(&ssl, NULL, to_peer, from_peer, NULL);
}

void session_begin(bool resume) {
    must("a session", mbedtls_ssl_session_reset(&ssl));
    if (resume) must("the session kept", mbedtls_ssl_set_session(&ssl, &kept));
}

/* Whom a cookie is for. */
static void know_client(void) {
    size_t length;
    const unsigned char *from = datagram_from(&length);
    must("the client's address", mbedtls_ssl_set_client_transport_id(&ssl, from, length));
}

int session_handshake(void) {
    if (!client && ssl.state <= MBEDTLS_SSL_CLIENT_HELLO) know_client();
    error = mbedtls_ssl_handshake(&ssl);
    if (error == MBEDTLS_ERR_SSL_HELLO_VERIFY_REQUIRED) {
        session_begin(false);
        return WAITS;
    }
    if (error == MBEDTLS_ERR_SSL_WANT_READ || error == MBEDTLS_ERR_SSL_WANT_WRITE) return WAITS;
    if (error != 0) return FAILED;
    const mbedtls_ssl_session *session = mbedtls_ssl_get_session_pointer(&ssl);
    /* A session that is resumed has the master secret of the one before. */
    resumed = memcmp(session->master, master, sizeof master) == 0;
    memcpy(master, session->master, sizeof master);
    if (client) must("the session", mbedtls_ssl_get_session(&ssl, &kept));
    return 1;
}

const char *session_suite(void) {
    return mbedtls_ssl_get_ciphersuite(&ssl);
}

bool session_resumed(void) {
    return resumed;
}

long session_error(void) {
    return error;
}

int session_receive(void *bytes, size_t length) {
    error = mbedtls_ssl_read(&ssl, bytes, length);
    if (error > 0) return error;
    if (error == MBEDTLS_ERR_SSL_WANT_READ || error == MBEDTLS_ERR_SSL_TIMEOUT) return WAITS;
    return error == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY ? CLOSED : FAILED;
}

void session_send(const void *bytes, size_t length) {
    int sent = mbedtls_ssl_write(&ssl, bytes, length);
    if (sent != (int)length) give_up("data", sent);
}

void session_close(void) {
    must("close", mbedtls_ssl_close_notify(&ssl));
}
