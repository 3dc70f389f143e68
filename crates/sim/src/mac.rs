//! The MAC of a station: one that contends for the channel, or one in time slots.

use sixlock_base::{Cx, Entropy, Eui64, New, Nv, Symbols};
use sixlock_crypto::Crypto;
use sixlock_ieee802154::enhanced::Asn;
use sixlock_node::mac::tsch::{Tsch, TschConfig};
use sixlock_node::mac::{Event, Mac, MacLayer, Received, SendError, TransmitId};
use sixlock_node::{LinkLayer, MacConfig, RadioCommand};

/// One of the two MACs: one of the link `L`, or in time slots one that is as large as `S` says.
pub(crate) enum AnyMac<C: Crypto, L: LinkLayer, S: LinkLayer> {
    /// CSMA-CA, or none.
    Contending(Mac<C, L>),
    /// TSCH.
    Slotted(Box<Tsch<C, S>>),
}

impl<C: Crypto, L: LinkLayer, S: LinkLayer> AnyMac<C, L, S> {
    /// Is one in time slots from `at` on.
    pub(crate) fn begin_slots<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        slots: &TschConfig,
        config: &MacConfig,
    ) {
        let mut tsch = Box::new(Tsch::new());
        tsch.set_slots(slots, at);
        MacLayer::start(&mut *tsch, cx, config);
        *self = Self::Slotted(tsch);
    }

    /// The slot in which it sends, if it is in slots.
    pub(crate) fn asn(&self) -> Option<Asn> {
        match self {
            Self::Contending(_) => None,
            Self::Slotted(tsch) => Some(tsch.asn()),
        }
    }

    /// The one that contends, if it is that.
    pub(crate) fn contending(&mut self) -> Option<&mut Mac<C, L>> {
        match self {
            Self::Contending(mac) => Some(mac),
            Self::Slotted(_) => None,
        }
    }
}

impl<C: Crypto, L: LinkLayer, S: LinkLayer> New for AnyMac<C, L, S> {
    const NEW: Self = Self::Contending(Mac::new());
}

/// Hands a call on to the one that it is.
macro_rules! either {
    ($mac:expr, $one:ident => $call:expr) => {
        match $mac {
            AnyMac::Contending($one) => $call,
            AnyMac::Slotted(tsch) => {
                let $one = &mut **tsch;
                $call
            }
        }
    };
}

/// The same where nothing is changed.
macro_rules! ask {
    ($mac:expr, $one:ident => $call:expr) => {
        match $mac {
            AnyMac::Contending($one) => $call,
            AnyMac::Slotted(tsch) => {
                let $one = &**tsch;
                $call
            }
        }
    };
}

impl<C: Crypto, L: LinkLayer, S: LinkLayer> MacLayer<C> for AnyMac<C, L, S> {
    fn start<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, config: &MacConfig) {
        either!(self, mac => MacLayer::start(mac, cx, config));
    }

    fn address(&self) -> Eui64 {
        ask!(self, mac => mac.address())
    }

    fn payload_capacity(&self) -> usize {
        ask!(self, mac => mac.payload_capacity())
    }

    fn can_send(&self) -> bool {
        ask!(self, mac => mac.can_send())
    }

    fn send<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        destination: Eui64,
        payload: &[u8],
    ) -> Result<TransmitId, SendError> {
        either!(self, mac => mac.send(cx, at, destination, payload))
    }

    fn handle_frame<'f, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &'f mut [u8],
    ) -> Option<Received<'f>> {
        either!(self, mac => mac.handle_frame(cx, at, frame))
    }

    fn handle_cca<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, clear: bool) {
        either!(self, mac => mac.handle_cca(cx, at, clear));
    }

    fn handle_transmitted<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        either!(self, mac => mac.handle_transmitted(cx, at));
    }

    fn poll_event(&mut self) -> Option<Event> {
        either!(self, mac => mac.poll_event())
    }

    fn poll_radio(&mut self) -> Option<RadioCommand> {
        either!(self, mac => mac.poll_radio())
    }

    fn poll_radio_due(&mut self) -> Option<RadioCommand> {
        either!(self, mac => mac.poll_radio_due())
    }

    fn transmit_frame(&self) -> &[u8] {
        ask!(self, mac => mac.transmit_frame())
    }

    fn poll_timeout(&self) -> Option<Symbols> {
        ask!(self, mac => mac.poll_timeout())
    }

    fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        either!(self, mac => mac.handle_timeout(cx, at));
    }

    fn channel(&self) -> Option<u8> {
        ask!(self, mac => MacLayer::channel(mac))
    }

    fn has_joined(&self) -> bool {
        ask!(self, mac => MacLayer::has_joined(mac))
    }

    fn follows(&self) -> bool {
        ask!(self, mac => mac.follows())
    }

    fn follow(&mut self, at: Symbols, parent: Option<Eui64>, join_metric: Option<u8>) {
        either!(self, mac => MacLayer::follow(mac, at, parent, join_metric));
    }

    fn holds(&self) -> bool {
        ask!(self, mac => mac.holds())
    }

    fn take_data_request(&mut self) -> Option<Eui64> {
        either!(self, mac => mac.take_data_request())
    }

    fn answer_data_request(&mut self, neighbour: Eui64, at: Symbols) {
        either!(self, mac => mac.answer_data_request(neighbour, at));
    }

    fn is_asleep(&self, neighbour: Eui64, at: Symbols) -> bool {
        ask!(self, mac => mac.is_asleep(neighbour, at))
    }

    fn is_news(&self, neighbour: Eui64, news: u32) -> bool {
        ask!(self, mac => MacLayer::is_news(mac, neighbour, news))
    }

    fn tell(&mut self, neighbour: Eui64, news: u32) {
        either!(self, mac => MacLayer::tell(mac, neighbour, news));
    }

    fn latest_frame_counter(&self) -> Option<(Eui64, u32)> {
        ask!(self, mac => mac.latest_frame_counter())
    }

    fn restore_frame_counter(&mut self, neighbour: Eui64, frame_counter: u32) -> bool {
        either!(self, mac => mac.restore_frame_counter(neighbour, frame_counter))
    }

    fn waiting(&self) -> impl Iterator<Item = (u8, usize)> + '_ {
        let (contending, slotted) = match self {
            Self::Contending(mac) => (Some(mac.waiting()), None),
            Self::Slotted(tsch) => (None, Some(tsch.waiting())),
        };
        contending.into_iter().flatten().chain(slotted.into_iter().flatten())
    }

    fn occupied(&self) -> usize {
        ask!(self, mac => mac.occupied())
    }
}
