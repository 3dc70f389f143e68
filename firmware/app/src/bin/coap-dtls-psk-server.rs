//! A sensor that keeps its readings for who asks, and takes in others', by CoAP over DTLS with a pre-shared key.
#![no_std]
#![no_main]

use sixlock_app::Server;

sixlock_app::image!(cloud: Server, secured: false, serves: 0);
