//! A client of DTLS, which sends back what it receives.

use sixlock_base::{Counters, Cx};
use sixlock_crypto::Tiny;
use sixlock_dtls::{ClientSession, Completion, Config, Event, Handshake, Profile, Trusted, perform};

use crate::{DATAGRAM, Random, datagram, wait};

/// A client's session that can do what `P` says. The handshake's memory is lent to it, and given back when the handshake is done.
pub type Session<P> = ClientSession<Tiny, Option<&'static mut Handshake<Tiny, <P as Profile>::Features>>, P>;

/// What a session is lent.
pub type Context<'a> = Cx<'a, Tiny, Random, ()>;

/// Makes an image of a client with this profile; `work` does what its handshake waits for.
#[macro_export]
macro_rules! client {
    ($profile:ty, $credentials:expr, $work:expr) => {
        // Statics, so that the linker counts their memory. They are all zero bytes, and so take no flash.
        static mut SESSION: $crate::Session<$profile> = $crate::Session::<$profile>::new(None);
        #[unsafe(no_mangle)]
        static mut HANDSHAKE: sixlock_dtls::Handshake<
            sixlock_crypto::Tiny,
            <$profile as sixlock_dtls::Profile>::Features,
        > = sixlock_dtls::Handshake::new();
        static mut COUNTERS: sixlock_base::Counters = sixlock_base::Counters::new();

        #[unsafe(no_mangle)]
        extern "Rust" fn run() -> ! {
            // SAFETY: nothing else names the statics, and this is called once.
            let (session, handshake, counters) = unsafe {
                (
                    &mut *core::ptr::addr_of_mut!(SESSION),
                    &mut *core::ptr::addr_of_mut!(HANDSHAKE),
                    &mut *core::ptr::addr_of_mut!(COUNTERS),
                )
            };
            let credentials: Option<&'static sixlock_dtls::Credentials> = $credentials;
            if let Some(credentials) = credentials {
                handshake.set_credentials(credentials);
            }
            *session = $crate::Session::<$profile>::new(Some(handshake));
            $crate::serve(session, counters, $work)
        }
    };
}

/// Runs the session for ever.
pub fn serve<P: Profile>(
    session: &mut Session<P>,
    counters: &mut Counters,
    work: impl Fn(&mut Context<'_>, &mut Session<P>),
) -> ! {
    let mut task = wait(0, None);
    let (crypto, entropy, nv) = (&mut Tiny::new(), &mut Random::default(), &mut ());
    let cx = &mut Cx { now: task.now, crypto, entropy, nv, counters };
    session.connect(cx, &Config::MESH, None);
    let datagram = datagram();
    loop {
        let length = step(cx, session, &work, datagram, task.length);
        task = wait(length, session.poll_timeout());
        (cx.now, *cx.entropy) = (task.now, Random::default());
    }
}

/// Takes the datagram of this length, or what the time asks for; returns the length of the one to go out.
fn step<P: Profile>(
    cx: &mut Context<'_>,
    session: &mut Session<P>,
    work: impl Fn(&mut Context<'_>, &mut Session<P>),
    datagram: &mut [u8; DATAGRAM],
    length: usize,
) -> usize {
    session.handle_timeout(cx);
    if let Some(data) = session.handle(cx, &mut datagram[..length]).data {
        // It stands where that of an answer belongs.
        let length = data.len();
        return session.seal(cx, datagram, length).unwrap_or(0);
    }
    while let Some(Event::Work(_)) = session.poll_event() {
        work(cx, session);
    }
    session.poll_transmit(cx, datagram).unwrap_or(0)
}

/// Does what the handshake of a client with this private key waits for.
pub fn answer<P: Profile>(
    cx: &mut Context<'_>,
    session: &mut Session<P>,
    secret: &[u8; 32],
    trusted: &Trusted<'_>,
) {
    if let Some(task) = session.task() {
        let answer = perform(cx.crypto, cx.entropy, secret, trusted, task);
        // It has just asked.
        let _ = session.complete(cx, Completion::Task(&answer));
    }
}
