//! A client of DTLS with a pre-shared key, which sends back what it receives.
#![no_std]
#![no_main]

use core::ptr::addr_of_mut;

use sixlock_alone::{DATAGRAM, Random, datagram, wait};
use sixlock_base::{Counters, Cx, Entropy};
use sixlock_crypto::Tiny;
use sixlock_dtls::{ClientSession, Config, Event, Handshake, Plain};

const IDENTITY: &[u8] = b"node-1";
const KEY: &[u8] = b"0123456789abcdef";

/// The handshake's memory is lent to the session, which gives it back when the handshake is done.
type Session = ClientSession<Tiny, Option<&'static mut Handshake<Tiny>>, Plain>;

// Statics, so that the linker counts their memory. They are all zero bytes, and so take no flash.
static mut SESSION: Session = Session::new(None);
#[unsafe(no_mangle)]
static mut HANDSHAKE: Handshake<Tiny> = Handshake::new();
static mut COUNTERS: Counters = Counters::new();

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    // SAFETY: nothing else names the statics, and this is called once.
    let (session, handshake, counters) =
        unsafe { (&mut *addr_of_mut!(SESSION), &mut *addr_of_mut!(HANDSHAKE), &mut *addr_of_mut!(COUNTERS)) };
    let mut task = wait(0, None);
    let (crypto, entropy, nv) = (&mut Tiny, &mut Random::default(), &mut ());
    let cx = &mut Cx { now: task.now, crypto, entropy, nv, counters };
    *session = Session::new(Some(handshake));
    session.connect(cx, &Config::MESH, None);
    let datagram = datagram();
    loop {
        let length = step(cx, session, datagram, task.length);
        task = wait(length, session.poll_timeout());
        (cx.now, *cx.entropy) = (task.now, Random::default());
    }
}

/// Takes the datagram of this length, or what the time asks for; returns the length of the one to go out.
fn step<E: Entropy, N>(
    cx: &mut Cx<'_, Tiny, E, N>,
    session: &mut Session,
    datagram: &mut [u8; DATAGRAM],
    length: usize,
) -> usize {
    session.handle_timeout(cx);
    if let Some(data) = session.handle(cx, &mut datagram[..length]).data {
        // It stands where that of an answer belongs.
        let length = data.len();
        return session.seal(cx, datagram, length).unwrap_or(0);
    }
    if let Some(Event::Work(_)) = session.poll_event() {
        // Identity and key have lengths that fit.
        let _ = session.resume(cx, IDENTITY, KEY);
    }
    session.poll_transmit(cx, datagram).unwrap_or(0)
}
