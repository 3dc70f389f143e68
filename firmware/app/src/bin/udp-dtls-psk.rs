//! A node that forwards, answers pings and sends back UDP datagrams, also over DTLS with a pre-shared key.
#![no_std]
#![no_main]

use sixlock_app::Echoes;

sixlock_app::image!(cloud: Echoes, secured: false, serves: 0);
