//! A node that forwards, answers pings, and sends back the SHA-1 digests of UDP datagrams.
#![no_std]
#![no_main]

use sixlock_granjal_2008::Sha1;

#[path = "../answers.rs"]
mod answers;

sixlock_app::image!(cloud: answers::Answers<Sha1>, secured: false, serves: 0);
