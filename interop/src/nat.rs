use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long either side may have to wait for its datagrams.
const TURN: Duration = Duration::from_millis(1);

/// A way to a server by which a client gets another address whenever it is forgotten. It ends when
/// this value is dropped.
pub struct Nat {
    inside: SocketAddr,
    forgotten: Arc<AtomicBool>,
    ended: Arc<AtomicBool>,
    bytes: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Nat {
    /// A way to `server`, for one client.
    pub fn before(server: SocketAddr) -> Self {
        let inside = socket();
        let address = inside.local_addr().expect("a bound socket has an address");
        let (forgotten, ended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let bytes = Arc::new(AtomicUsize::new(0));
        let thread = thread::spawn({
            let (forgotten, ended, bytes) = (Arc::clone(&forgotten), Arc::clone(&ended), Arc::clone(&bytes));
            move || pass_on(&inside, server, &forgotten, &ended, &bytes)
        });
        Self { inside: address, forgotten, ended, bytes, thread: Some(thread) }
    }

    /// How many bytes of UDP's payload have gone through, both ways.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::SeqCst)
    }

    /// Where the client finds its server.
    pub fn address(&self) -> SocketAddr {
        self.inside
    }

    /// Forgets the client: its next datagram comes from another address.
    pub fn forget(&self) {
        self.forgotten.store(true, Ordering::SeqCst);
    }
}

impl Drop for Nat {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // Its panic has failed the test already: nothing went through.
            let _ = thread.join();
        }
    }
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
    socket.set_read_timeout(Some(TURN)).expect("a wait is not zero");
    socket
}

fn pass_on(
    inside: &UdpSocket,
    server: SocketAddr,
    forgotten: &AtomicBool,
    ended: &AtomicBool,
    bytes: &AtomicUsize,
) {
    let (mut outside, mut client) = (socket(), None);
    let mut buffer = [0; 4096];
    while !ended.load(Ordering::SeqCst) {
        if forgotten.swap(false, Ordering::SeqCst) {
            outside = socket();
        }
        if let Some((length, from)) = receive(inside, &mut buffer) {
            client = Some(from);
            bytes.fetch_add(length, Ordering::SeqCst);
            outside.send_to(&buffer[..length], server).expect("loopback takes datagrams");
        }
        if let (Some((length, _)), Some(client)) = (receive(&outside, &mut buffer), client) {
            bytes.fetch_add(length, Ordering::SeqCst);
            inside.send_to(&buffer[..length], client).expect("loopback takes datagrams");
        }
    }
}

fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
    match socket.recv_from(buffer) {
        Ok(received) => Some(received),
        Err(error) => match error.kind() {
            // Nothing came, or the process was stopped meanwhile, or the other side is not there any more.
            ErrorKind::WouldBlock
            | ErrorKind::TimedOut
            | ErrorKind::Interrupted
            | ErrorKind::ConnectionRefused => None,
            _ => panic!("loopback gives datagrams: {error}"),
        },
    }
}
