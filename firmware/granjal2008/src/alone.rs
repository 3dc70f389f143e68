//! A program that runs an algorithm over what it is given, and does nothing else. Each image that includes this names the algorithm.

use sixlock_alone::{datagram, wait};
use sixlock_granjal_2008::Algorithm;

pub(crate) fn run<A: Algorithm>() -> ! {
    let data = datagram();
    let mut length = 0;
    loop {
        let task = wait(length, None);
        length = A::run(data, task.length).unwrap_or(0);
    }
}
