//! A node that forwards, answers pings and sends back UDP datagrams, also over DTLS with raw public keys.
#![no_std]
#![no_main]

use sixlock_app::EchoesRpk;

sixlock_app::image!(cloud: EchoesRpk, secured: false, serves: 0);
