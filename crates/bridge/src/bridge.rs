use sixlock_base::{Counter, Cx, Entropy, Nv, Symbols};
use sixlock_crypto::Crypto;
use sixlock_interface::{Arrival, Config, Interface, Layers, Pool, RadioMachine};
use sixlock_slip::{Decoder, Encoder};

/// A border router of the layers `L`, with packets as long as those of their pool.
///
/// It is told to use [`Uplink::External`](sixlock_interface::Uplink::External): what is for no node leaves over the line.
/// From there it takes what is for the mesh, from elsewhere; hop limits and ICMPv6 errors are a router's. A packet for which
/// there is no room in `POOL` is dropped and counted: the line has no flow control, and those at its ends send again.
pub struct Bridge<C: Crypto, L: Layers<C>> {
    interface: Interface<C, L>,
    line: Decoder<<L::Pool as Pool>::Buffer>,
}

impl<C: Crypto, L: Layers<C>> Bridge<C, L> {
    /// A border router of no device yet: [`Bridge::start`] says of which. It is all zero bytes, so that a static of it
    /// takes no flash, and it is never moved.
    pub const fn new() -> Self {
        Self { interface: Interface::new(), line: Decoder::new() }
    }

    /// Makes it a device's; to be called first, and once.
    ///
    /// # Panics
    ///
    /// When it is told to secure its frames and its link layer cannot: it does not send them in the clear instead.
    pub fn start<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, config: &Config) {
        self.interface.start(cx, config);
    }

    /// Takes in a received frame, FCS included, whose last symbol came in at `at`. A packet for the line that it completes
    /// is given to `line`.
    pub fn handle_frame<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &mut [u8],
        line: impl FnOnce(Encoder<'_>),
    ) {
        match self.interface.handle_frame(cx, at, frame) {
            // It offers no service itself.
            Some(Arrival::Datagram(delivered)) => self.interface.port_unreachable(cx, at, delivered),
            Some(Arrival::External(external)) => {
                line(Encoder::new(self.interface.packet(&external)));
                self.interface.release_packet(external);
            }
            None => {}
        }
    }

    /// Takes in bytes from the line. The answers that packets in them call forth are given to `line`.
    pub fn handle_line<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        bytes: &[u8],
        mut line: impl FnMut(Encoder<'_>),
    ) {
        for &byte in bytes {
            match self.line.push(byte) {
                None => {}
                Some(Err(_)) => cx.counters.count(Counter::LineMalformed),
                Some(Ok(len)) => {
                    let buffer = self.line.buffer_mut();
                    let answer = self.interface.handle_external(cx, at, buffer, len);
                    if let Some(answer) = answer.and_then(|len| buffer.get(..len)) {
                        line(Encoder::new(answer));
                    }
                }
            }
        }
    }
}

impl<C: Crypto, L: Layers<C>> RadioMachine for Bridge<C, L> {
    type Crypto = C;
    type Layers = L;

    fn interface(&mut self) -> &mut Interface<C, L> {
        &mut self.interface
    }
}

impl<C: Crypto, L: Layers<C>> Default for Bridge<C, L> {
    fn default() -> Self {
        Self::new()
    }
}
