//! The cable to a virtual machine's network interface.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use crate::Temporary;

/// The link-layer addresses of the ends, at this program and at the machine.
const HERE: [u8; 6] = [2, 0, 0, 0, 0, 1];
const THERE: [u8; 6] = [2, 0, 0, 0, 0, 2];
/// The types of Ethernet frames: with IPv6 packets, and with frames of IEEE 802.15.4 as Wireshark knows them.
const IPV6: [u8; 2] = [0x86, 0xdd];
const IEEE_802_15_4: [u8; 2] = [0x80, 0x9a];
/// Two addresses and the type.
const HEADER: usize = 14;
/// A frame of what machines agree on without being told.
const FRAME: usize = HEADER + 1500;

/// A cable between this program and an interface of a virtual machine; packets of one kind go over it.
///
/// The program answers no neighbour solicitation: the machine has to know that [`Cable::ADDRESS`] is at the other end.
/// Nothing is lost on the way: who is faster waits.
pub struct Cable {
    socket: UnixDatagram,
    ends: [Temporary; 2],
    kind: [u8; 2],
}

impl Cable {
    /// The link-layer address of the end that this program has.
    pub const ADDRESS: &'static str = "02:00:00:00:00:01";

    /// A new one for IPv6 packets.
    ///
    /// # Errors
    /// When no socket can be made.
    pub fn new() -> io::Result<Self> {
        Self::of(IPV6)
    }

    /// A new one for frames of IEEE 802.15.4, which a program in the machine has to take to its radio.
    ///
    /// # Errors
    /// When no socket can be made.
    pub fn air() -> io::Result<Self> {
        Self::of(IEEE_802_15_4)
    }

    fn of(kind: [u8; 2]) -> io::Result<Self> {
        let ends = [Temporary::new(), Temporary::new()];
        Ok(Self { socket: UnixDatagram::bind(&ends[0].0)?, ends, kind })
    }

    /// The cable as an argument of QEMU.
    pub(crate) fn plugged_in(&self) -> String {
        let [here, there] = self.ends.each_ref().map(|end| end.0.display());
        format!("dgram,local.type=unix,local.path={there},remote.type=unix,remote.path={here}")
    }

    /// Sends a packet to the machine.
    ///
    /// # Errors
    /// When no machine is there.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        let frame = [&THERE[..], &HERE, &self.kind, packet].concat();
        self.socket.send_to(&frame, &self.ends[1].0).map(drop)
    }

    /// The next packet that the machine sends, if one comes within `limit`.
    ///
    /// # Errors
    /// When the socket fails.
    pub fn receive(&self, limit: Duration) -> io::Result<Option<Vec<u8>>> {
        let end = Instant::now() + limit;
        let mut frame = [0; FRAME];
        loop {
            let left = end.saturating_duration_since(Instant::now());
            // A limit of zero is none.
            self.socket.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
            match self.socket.recv(&mut frame) {
                Ok(length) => match frame[..length].split_at_checked(HEADER) {
                    Some((header, packet)) if header.ends_with(&self.kind) => {
                        return Ok(Some(packet.to_vec()));
                    }
                    _ => {}
                },
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock if left.is_zero() => return Ok(None),
                    // Who waits at most so long is interrupted, too, when the whole process is stopped and goes on.
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
            }
        }
    }
}
