//! DTLS 1.2 with libraries on the other side: Mbed TLS, wolfSSL and Californium's Scandium.

mod californium;
mod cases;
mod mbedtls;
mod wolfssl;
