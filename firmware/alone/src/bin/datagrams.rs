//! Sends back what it receives, as it came.
#![no_std]
#![no_main]

use sixlock_alone::{Random, datagram, wait};
use sixlock_base::{Duration, Entropy};

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    let (mut length, mut timer) = (0, None);
    let datagram = datagram();
    loop {
        let task = wait(length, timer);
        Random::default().fill(&mut datagram[task.length..]);
        (length, timer) = (task.length, Some(task.now + Duration::from_secs(1)));
    }
}
