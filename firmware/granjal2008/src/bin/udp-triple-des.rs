//! A node that forwards, answers pings, and sends back UDP datagrams encrypted by triple DES.
#![no_std]
#![no_main]

use sixlock_granjal_2008::TripleDes;

#[path = "../answers.rs"]
mod answers;

sixlock_app::image!(cloud: answers::Answers<TripleDes>, secured: false, serves: 0);
