//! A sensor that keeps its readings for who asks, and takes in others', by CoAP over DTLS with raw public keys.
#![no_std]
#![no_main]

use sixlock_app::ServerRpk;

sixlock_app::image!(cloud: ServerRpk, secured: false, serves: 0);
