use std::net::SocketAddr;

use crate::ports::is_listening;
use crate::{Process, on_free_ports};

/// Starts GnuTLS's server with these arguments on a free port; where it is, once it has said `ready`.
///
/// # Panics
/// With what it printed, when it does not start.
pub fn gnutls_serv(arguments: &[&str], ready: &str) -> (Process, SocketAddr) {
    let start = |port: u16| {
        let port = port.to_string();
        let all = [arguments, &["--port", &port]].concat();
        Process::start("gnutls-serv", "gnutls-bin", &all)
    };
    let (server, port) = on_free_ports(start, |process, _| is_listening(process, ready));
    (server, SocketAddr::from(([127, 0, 0, 1], port)))
}
