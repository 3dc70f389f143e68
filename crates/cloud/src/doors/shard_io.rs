//! The sockets of a shard.

use std::io;
use std::path::Path;

use sixlock_endpoint::Door;
use tokio::net::UdpSocket;

use super::LONGEST_SENT;
use super::datagrams::{Incoming, Outgoing};
use super::machine::Machine;
use crate::Error;

/// The bound sockets of a shard.
pub(crate) struct Sockets {
    pub(crate) secure: std::net::UdpSocket,
    pub(crate) plain: Option<std::net::UdpSocket>,
}

/// The sockets of a shard, and the datagrams that wait to be sent.
pub(super) struct ShardIo {
    secure: UdpSocket,
    plain: Option<UdpSocket>,
    outgoing: Outgoing,
}

impl ShardIo {
    /// Hands the sockets to the runtime of this thread. `directory` is named in an error.
    pub(super) fn new(Sockets { secure, plain }: Sockets, directory: &Path) -> Result<Self, Error> {
        let socket = |socket| UdpSocket::from_std(socket).map_err(|error| Error::file(directory, error));
        Ok(Self {
            secure: socket(secure)?,
            plain: plain.map(socket).transpose()?,
            outgoing: Outgoing::default(),
        })
    }

    /// Waits until a socket can be read.
    pub(super) async fn readable(&self) -> io::Result<Door> {
        tokio::select! {
            readable = self.secure.readable() => readable.map(|()| Door::Secure),
            readable = readable(self.plain.as_ref()) => readable.map(|()| Door::Plain),
        }
    }

    /// Receives what waits at a socket, as much as one call of the system gives.
    pub(super) fn receive(&self, door: Door, incoming: &mut Incoming) -> io::Result<()> {
        match (door, &self.plain) {
            (Door::Secure, _) => incoming.receive(&self.secure),
            (Door::Plain, Some(plain)) => incoming.receive(plain),
            (Door::Plain, None) => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Takes from the endpoint what it has to send.
    pub(super) fn queue(&mut self, machine: &mut Machine) {
        while self.outgoing.push(LONGEST_SENT, |buffer| {
            let (endpoint, mut cx) = machine.endpoint();
            let transmit = endpoint.poll_transmit(&mut cx, buffer)?;
            Some((transmit.door, transmit.to, transmit.len))
        }) {}
    }

    /// Returns whether enough waits to be sent for one call of the system.
    pub(super) fn is_full(&self) -> bool {
        self.outgoing.is_full()
    }

    /// Sends what waits.
    pub(super) async fn send(&mut self) {
        self.outgoing.send(Door::Secure, &self.secure).await;
        if let Some(plain) = &self.plain {
            self.outgoing.send(Door::Plain, plain).await;
        }
        self.outgoing.clear();
    }
}

/// Waits until the socket can be read; for ever, if there is none.
async fn readable(socket: Option<&UdpSocket>) -> io::Result<()> {
    match socket {
        Some(socket) => socket.readable().await,
        None => std::future::pending().await,
    }
}
