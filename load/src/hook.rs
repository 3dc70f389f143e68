//! A server on loopback that is told of alerts.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Takes all that it is told. Its thread ends with the process.
#[derive(Debug)]
pub struct Hook {
    address: SocketAddr,
    messages: Arc<Mutex<Vec<Value>>>,
}

impl Hook {
    /// Listens at any free port.
    ///
    /// # Errors
    /// What the system says.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (address, messages) = (listener.local_addr()?, Arc::<Mutex<Vec<Value>>>::default());
        let heard = messages.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Whoever is killed while it tells tells it again.
                if let Ok(message) = take(&stream) {
                    heard.lock().unwrap_or_else(PoisonError::into_inner).push(message);
                    let _ = (&stream).write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
                }
            }
        });
        Ok(Self { address, messages })
    }

    /// Where it is told.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// What it was told so far.
    pub(crate) fn messages(&self) -> Vec<Value> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn take(stream: &TcpStream) -> io::Result<Value> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let (mut reader, mut length) = (BufReader::new(stream), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().map_err(io::Error::other)?;
            }
            None if line == "\r\n" => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}
