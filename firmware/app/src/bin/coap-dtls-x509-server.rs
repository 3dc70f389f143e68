//! A sensor that keeps its readings for who asks, and takes in others', by CoAP over DTLS with certificates.
#![no_std]
#![no_main]

use sixlock_app::ServerX509;

sixlock_app::image!(cloud: ServerX509, secured: false, serves: 0);
