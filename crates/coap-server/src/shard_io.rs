//! The sockets of a shard.

use std::io;

use sixlock_endpoint::Transport;
use tokio::net::UdpSocket;

use crate::datagrams::{Incoming, Outgoing};
use crate::machine::{LONGEST_RESPONSE, Machine};
use crate::sockets::Sockets;

/// The longest datagram sent: a response and what DTLS adds to it.
const LONGEST_SENT: usize = LONGEST_RESPONSE + 64;

/// The sockets of a shard, and the datagrams that wait to be sent.
pub(crate) struct ShardIo {
    secure: UdpSocket,
    plain: Option<UdpSocket>,
    outgoing: Outgoing,
}

impl ShardIo {
    /// Hands the sockets to the runtime of this thread.
    pub(crate) fn new(Sockets { secure, plain }: Sockets) -> io::Result<Self> {
        let (secure, plain) = (UdpSocket::from_std(secure)?, plain.map(UdpSocket::from_std).transpose()?);
        Ok(Self { secure, plain, outgoing: Outgoing::default() })
    }

    /// Waits until a socket can be read.
    pub(crate) async fn readable(&self) -> io::Result<Transport> {
        tokio::select! {
            readable = self.secure.readable() => readable.map(|()| Transport::Dtls),
            readable = readable(self.plain.as_ref()) => readable.map(|()| Transport::Udp),
        }
    }

    /// Receives what waits at a socket, as much as one call of the system gives.
    pub(crate) fn receive(&self, transport: Transport, incoming: &mut Incoming) -> io::Result<()> {
        match (transport, &self.plain) {
            (Transport::Dtls, _) => incoming.receive(&self.secure),
            (Transport::Udp, Some(plain)) => incoming.receive(plain),
            (Transport::Udp, None) => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Takes from the endpoint what it has to send.
    pub(crate) fn queue(&mut self, machine: &mut Machine) {
        while self.outgoing.push(LONGEST_SENT, |buffer| {
            let (endpoint, mut cx) = machine.endpoint();
            let transmit = endpoint.poll_transmit(&mut cx, buffer)?;
            Some((transmit.transport, transmit.to, transmit.len))
        }) {}
    }

    /// Returns whether enough waits to be sent for one call of the system.
    pub(crate) fn is_full(&self) -> bool {
        self.outgoing.is_full()
    }

    /// Sends what waits.
    pub(crate) async fn send(&mut self) {
        self.outgoing.send(Transport::Dtls, &self.secure).await;
        if let Some(plain) = &self.plain {
            self.outgoing.send(Transport::Udp, plain).await;
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
