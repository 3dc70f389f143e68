use std::io;
use std::net::{Ipv4Addr, UdpSocket};

use crate::{PATIENCE, Process};

/// How often a server is started that finds its ports taken.
const STARTS: usize = 20;

/// The first of two UDP ports in a row that are free: libcoap's servers take one for coap and the next for coaps. Another process may
/// take them before the server does: [`on_free_ports`] starts it again.
///
/// # Errors
/// When loopback seems to have none.
pub fn two_free_ports() -> io::Result<u16> {
    for _ in 0..100 {
        let first = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        if let Some(second) = first.checked_add(1)
            && UdpSocket::bind((Ipv4Addr::LOCALHOST, second)).is_ok()
        {
            return Ok(first);
        }
    }
    Err(io::ErrorKind::AddrInUse.into())
}

/// A server that `start` starts on a port that it is given, once `is_ready` says so, and that port. If the server has ended instead, another
/// process was faster to take the port, and `start` is called again with another.
///
/// # Panics
/// With what it has printed, if it ends each time.
pub fn on_free_ports(
    start: impl Fn(u16) -> Process,
    is_ready: impl Fn(&mut Process, u16) -> bool,
) -> (Process, u16) {
    let mut said = String::new();
    for _ in 0..STARTS {
        let port = two_free_ports().expect("loopback has two free ports in a row");
        let mut process = start(port);
        if is_ready(&mut process, port) && process.is_running() {
            return (process, port);
        }
        said = process.output();
    }
    panic!("it never started: {said}");
}

/// Whether a server that takes a while prints `text`, and not that its port is taken.
pub(crate) fn is_listening(process: &mut Process, text: &str) -> bool {
    let taken = "already in use";
    process.prints_one_of(&[text, taken], PATIENCE) && !process.output().contains(taken)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_server_that_finds_its_port_taken_is_started_again_on_another() {
        let starts = Cell::new(0);
        let start = |port: u16| {
            starts.set(starts.get() + 1);
            let says = if starts.get() < 3 { "bind: Address already in use" } else { "listening" };
            Process::start("sh", "dash", &["-c", &format!("echo {port} {says}; read _")])
        };
        let (process, port) = on_free_ports(start, |process, _| is_listening(process, "listening"));
        assert_eq!((starts.get(), process.output()), (3, format!("{port} listening\n")));
    }
}
