//! Connecting by TCP, to an address that was checked.

use std::io;
use std::time::Duration;

use tokio::net::TcpStream;

use super::failure::Failure;
use super::guard::{Checked, Guard};
use super::resolve::resolve;
use super::target::Target;

/// How long one of the addresses of a name may take to be connected to, so that the next one gets its turn.
const PATIENCE: Duration = Duration::from_secs(3);

/// A connection to the first of the addresses of `target` that takes it, of those where something may go.
pub(crate) async fn connect(guard: &Guard, target: &Target) -> Result<TcpStream, Failure> {
    let mut failure = Failure::Unresolved;
    for address in resolve(guard, target).await? {
        match connect_to(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = Failure::Network(error),
        }
    }
    Err(failure)
}

async fn connect_to(address: Checked) -> io::Result<TcpStream> {
    let connected = tokio::time::timeout(PATIENCE, TcpStream::connect(address.address()));
    connected.await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
