//! A node that forwards, answers pings, and sends back UDP datagrams encrypted by AES-192.
#![no_std]
#![no_main]

use sixlock_granjal_2008::Aes192;

#[path = "../answers.rs"]
mod answers;

sixlock_app::image!(cloud: answers::Answers<Aes192>, secured: false, serves: 0);
