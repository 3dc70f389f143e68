//! A node that forwards, answers pings, and sends back the SHA-512 digests of UDP datagrams.
#![no_std]
#![no_main]

use sixlock_granjal_2008::Sha512;

#[path = "../answers.rs"]
mod answers;

sixlock_app::image!(cloud: answers::Answers<Sha512>, secured: false, serves: 0);
