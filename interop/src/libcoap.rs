use std::net::SocketAddr;

use crate::{PATIENCE, Process, on_free_ports};

/// A server of libcoap with a reading, over one of the libraries that it can have for DTLS, or over none.
pub struct LibcoapServer {
    process: Process,
    port: u16,
}

impl LibcoapServer {
    /// What the resource `/reading` holds.
    pub const READING: &str = r#"[{"n":"t","u":"Cel","v":21.5}]"#;

    /// Starts `program` with the arguments that say who it is and whom it takes.
    ///
    /// # Panics
    /// When it does not answer.
    pub fn start(program: &str, arguments: &[&str]) -> Self {
        let start = |port: u16| {
            let number = port.to_string();
            let all = [&["-A", "127.0.0.1", "-p", &number, "-d", "8", "-v", "7"], arguments].concat();
            Process::start(program, "libcoap3-bin", &all)
        };
        let (process, port) = on_free_ports(start, |_, port| takes_a_reading(port));
        Self { process, port }
    }

    /// Where its reading is, by CoAP or by CoAP over DTLS.
    pub fn url(&self, secure: bool) -> String {
        let (scheme, port) = if secure { ("coaps", self.port + 1) } else { ("coap", self.port) };
        format!("{scheme}://127.0.0.1:{port}/reading")
    }

    /// Where it speaks DTLS.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port + 1))
    }

    /// Its process.
    pub fn process(&self) -> &Process {
        &self.process
    }
}

/// Puts the reading at `/reading`, which makes this resource; whether the server says that it did. A client that waits in vain ends as one
/// that is answered does.
fn takes_a_reading(port: u16) -> bool {
    let url = format!("coap://127.0.0.1:{port}/reading");
    let arguments = ["-m", "put", "-t", "110", "-e", LibcoapServer::READING, "-v", "6", "-B", "30", &url];
    let mut client = Process::start("coap-client-notls", "libcoap3-bin", &arguments);
    client.succeeds(PATIENCE) && client.output().contains("c:2.0")
}
