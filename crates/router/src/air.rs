use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use sixlock_zep::{Datagram, HEADER, Header, acknowledgement, emit, hello, parse};

use crate::Inbound;
use crate::stations::{Reception, Stations};

/// How often those that joined say that they are still there.
const HELLO: Duration = Duration::from_secs(10);
/// How long the reader waits before it looks whether it is still needed.
const NAP: Duration = Duration::from_millis(500);
/// The longest frame of IEEE 802.15.4, in bytes.
const MAX_FRAME: usize = 127;
/// Seconds from NTP's origin, 1900, to that of Unix.
const NTP: u64 = 2_208_988_800;

/// A radio channel made of UDP, by ZEP: one station is its hub, the others join there, and what one sends all the others
/// hear, at once and whole. Frames do not collide, and take no time.
///
/// At most 256 stations join a hub. One that has not greeted for a minute is forgotten. When all places are taken, those that never
/// sent a frame make room for others, and then those of the network that has the most places. From another machine than
/// the hub's, nobody joins who does not return a number that the hub sends: a station that is not of this kind may be unable to.
#[derive(Debug)]
pub struct Air {
    channel: Arc<Channel>,
    header: Header,
}

#[derive(Debug)]
struct Channel {
    socket: UdpSocket,
    others: Others,
}

/// Whom frames are sent to.
#[derive(Debug)]
enum Others {
    /// Those that have joined this hub.
    Joined(Mutex<Stations>),
    /// The hub, which the socket is connected to.
    Hub,
}

impl Air {
    /// The hub of a new channel, the number of which is `channel`, at `address`.
    ///
    /// # Errors
    /// When the system does not give it this address.
    pub fn host(address: SocketAddr, channel: u8) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        Ok(Self::of(socket, Others::Joined(Mutex::new(Stations::new(Instant::now()))), channel, 0))
    }

    /// Joins the channel whose hub is at `hub`, as `device`.
    ///
    /// # Errors
    /// When the system has no socket to do so.
    pub fn join(hub: SocketAddr, channel: u8, device: u16) -> io::Result<Self> {
        let any: SocketAddr = match hub {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(any)?;
        socket.connect(hub)?;
        Ok(Self::of(socket, Others::Hub, channel, device))
    }

    fn of(socket: UdpSocket, others: Others, channel: u8, device: u16) -> Self {
        let header = Header { channel, device, timestamp: (0, 0), sequence: 0 };
        Self { channel: Arc::new(Channel { socket, others }), header }
    }

    /// Where the hub is, if this is one.
    ///
    /// # Errors
    /// When the system does not know.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.channel.socket.local_addr()
    }

    /// Sends a frame to all others.
    pub fn send(&mut self, frame: &[u8]) {
        let Some(len) = u8::try_from(frame.len()).ok().filter(|&len| usize::from(len) <= MAX_FRAME) else {
            return;
        };
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let fraction = (u64::from(since.subsec_nanos()) << 32) / 1_000_000_000;
        // NTP's seconds begin anew in 2036.
        self.header.timestamp = ((since.as_secs() + NTP) as u32, fraction as u32);
        self.header.sequence = self.header.sequence.wrapping_add(1);
        let mut datagram = emit(&self.header, len).to_vec();
        datagram.extend(frame);
        // What a socket does not take is lost, like on the air.
        let Channel { socket, others } = &*self.channel;
        match others {
            Others::Hub => drop(socket.send(&datagram)),
            Others::Joined(joined) => {
                for other in joined.lock().unwrap_or_else(PoisonError::into_inner).addresses() {
                    let _ = socket.send_to(&datagram, other);
                }
            }
        }
    }

    /// Hands in the frames that others send, and as a hub sends them on, by a thread of its own that ends with the channel.
    /// When `inbound` is full, what comes is lost, as in a radio's full buffer.
    ///
    /// # Errors
    /// When the system has no thread, or the socket cannot wait.
    pub fn read(&self, inbound: SyncSender<Inbound>) -> io::Result<()> {
        self.channel.socket.set_read_timeout(Some(NAP))?;
        let channel = Arc::downgrade(&self.channel);
        thread::Builder::new().name("air".into()).spawn(move || read(&channel, &inbound))?;
        Ok(())
    }
}

fn read(channel: &Weak<Channel>, inbound: &SyncSender<Inbound>) {
    let mut buffer = [0; HEADER + MAX_FRAME + 1];
    let mut greeted: Option<Instant> = None;
    while let Some(channel) = channel.upgrade() {
        let Channel { socket, others } = &*channel;
        if matches!(others, Others::Hub) && greeted.is_none_or(|at| at.elapsed() >= HELLO) {
            let _ = socket.send(&hello());
            greeted = Some(Instant::now());
        }
        let (datagram, from) = match socket.recv_from(&mut buffer) {
            Ok((len, from)) => (&buffer[..len], from),
            Err(error) => {
                // Unless nothing came, nobody is at the hub, who may come up later.
                if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) {
                    thread::sleep(NAP);
                }
                continue;
            }
        };
        let Ok(content) = parse(datagram) else { continue };
        let stations = match others {
            Others::Joined(stations) => Some(stations.lock().unwrap_or_else(PoisonError::into_inner)),
            Others::Hub => None,
        };
        let (reception, crowded) = match stations {
            Some(mut stations) => (stations.receive(from, &content, Instant::now()), stations.poll_crowded()),
            None => match content {
                // It is sent back to whom the socket is connected to.
                Datagram::Acknowledgement(number) => (Reception::Challenge(number), None),
                Datagram::Frame(..) => (Reception::Frame(Vec::new()), None),
                Datagram::Hello => (Reception::Done, None),
            },
        };
        if let Some(newcomers) = crowded {
            let _ = inbound.try_send(Inbound::ChannelFull(newcomers));
        }
        match (reception, content) {
            (Reception::Challenge(number), _) => _ = socket.send_to(&acknowledgement(number), from),
            (Reception::Frame(hearers), Datagram::Frame(_, frame)) => {
                for hearer in hearers {
                    let _ = socket.send_to(datagram, hearer);
                }
                let frame = Inbound::Frame(frame.to_vec());
                if let Err(TrySendError::Disconnected(_)) = inbound.try_send(frame) {
                    return;
                }
            }
            _ => {}
        }
    }
}
