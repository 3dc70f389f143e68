//! A node that forwards, answers pings, and sends back UDP datagrams as they came: what the nodes with an algorithm have in common.
#![no_std]
#![no_main]

use sixlock_granjal_2008::NoAlgorithm;

#[path = "../answers.rs"]
mod answers;

sixlock_app::image!(cloud: answers::Answers<NoAlgorithm>, secured: false, serves: 0);
