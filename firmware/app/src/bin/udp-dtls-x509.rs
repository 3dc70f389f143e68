//! A node that forwards, answers pings and sends back UDP datagrams, also over DTLS with certificates.
#![no_std]
#![no_main]

use sixlock_app::EchoesX509;

sixlock_app::image!(cloud: EchoesX509, secured: false, serves: 0);
