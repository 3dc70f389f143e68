use sixlock_base::{Cx, Entropy, Eui64, New, Nv, Symbols};
use sixlock_crypto::Crypto;

use crate::listening::Listening as _;
use crate::tsch::Tsch;
use crate::{Config, Event, LinkLayer, Mac, RadioCommand, Received, SendError, TransmitId};

/// A MAC, whatever it is: the verbs by which an interface drives it. What they do says [`Mac`].
pub trait MacLayer<C: Crypto>: New {
    /// Makes it a device's; to be called once, behind what else it is told.
    fn start<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, config: &Config);

    /// The device's own address.
    fn address(&self) -> Eui64;

    /// Bytes of payload that a frame to one neighbour carries.
    fn payload_capacity(&self) -> usize;

    /// Whether it takes a frame for transmission.
    fn can_send(&self) -> bool;

    /// Takes a frame to `destination` for transmission.
    fn send<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        destination: Eui64,
        payload: &[u8],
    ) -> Result<TransmitId, SendError>;

    /// Takes in a received frame, and lends the payload out of it if there is one for this device.
    fn handle_frame<'f, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &'f mut [u8],
    ) -> Option<Received<'f>>;

    /// Takes in whether the channel was clear.
    fn handle_cca<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, clear: bool);

    /// Takes in that the last symbol of [`MacLayer::transmit_frame`] went out at `at`.
    fn handle_transmitted<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols);

    /// What has happened since.
    fn poll_event(&mut self) -> Option<Event>;

    /// What the radio is to do next, once, as soon as that is known.
    fn poll_radio(&mut self) -> Option<RadioCommand>;

    /// The same when its time has come, as [`MacLayer::handle_timeout`] was told.
    fn poll_radio_due(&mut self) -> Option<RadioCommand>;

    /// The frame being sent, FCS included.
    fn transmit_frame(&self) -> &[u8];

    /// When to call [`MacLayer::handle_timeout`].
    fn poll_timeout(&self) -> Option<Symbols>;

    /// Does what is due.
    fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols);

    /// The channel that the radio is to be on, to which it changes before it does what it is told; `None` if it stays on that of its network.
    #[inline(always)]
    fn channel(&self) -> Option<u8> {
        None
    }

    /// Whether there is a network that it can send in.
    #[inline(always)]
    fn has_joined(&self) -> bool {
        true
    }

    /// Whether it keeps time by a neighbour, or has frames wait there, and wants to know which one packets go to: see [`MacLayer::follow`].
    #[inline(always)]
    fn follows(&self) -> bool {
        false
    }

    /// Tells it to which neighbour packets go that leave the network, and how near the coordinator this device is, if a routing protocol knows.
    #[inline(always)]
    fn follow(&mut self, _: Symbols, _: Option<Eui64>, _: Option<u8>) {}

    /// Whether it knows neighbours for which frames wait until they ask for them.
    #[inline(always)]
    fn holds(&self) -> bool {
        false
    }

    /// The neighbour that has just asked for what waits for it, once. The caller then says by [`MacLayer::answer_data_request`] if
    /// something does.
    #[inline(always)]
    fn take_data_request(&mut self) -> Option<Eui64> {
        None
    }

    /// Tells `neighbour`, which has just asked, that a frame waits for it: it listens for one from `at` on.
    #[inline(always)]
    fn answer_data_request(&mut self, _: Eui64, _: Symbols) {}

    /// Whether a frame to a neighbour has to wait until that asks for it.
    #[inline(always)]
    fn is_asleep(&self, _: Eui64, _: Symbols) -> bool {
        false
    }

    /// The neighbour that the last secured frame was accepted from, and the counter of that frame, where frames have one.
    fn latest_frame_counter(&self) -> Option<(Eui64, u32)>;

    /// Has frames of a neighbour up to this counter refused; false if there is no room for it.
    fn restore_frame_counter(&mut self, neighbour: Eui64, frame_counter: u32) -> bool;

    /// The frames that wait to be sent, or are being sent: their sequence numbers and lengths.
    fn waiting(&self) -> impl Iterator<Item = (u8, usize)> + '_;

    /// How many transmit frames are in use, also by those whose [`Event::Sent`] was not polled yet.
    fn occupied(&self) -> usize;
}

impl<C: Crypto, L: LinkLayer> New for Mac<C, L> {
    const NEW: Self = Self::new();
}

/// Hands the verbs on that both machines have.
macro_rules! verbs {
    () => {
        #[inline(always)]
        fn address(&self) -> Eui64 {
            self.address()
        }

        #[inline(always)]
        fn payload_capacity(&self) -> usize {
            self.payload_capacity()
        }

        #[inline(always)]
        fn can_send(&self) -> bool {
            self.can_send()
        }

        #[inline(always)]
        fn send<E: Entropy, N: Nv>(
            &mut self,
            cx: &mut Cx<'_, C, E, N>,
            at: Symbols,
            destination: Eui64,
            payload: &[u8],
        ) -> Result<TransmitId, SendError> {
            self.send(cx, at, destination, payload)
        }

        #[inline(always)]
        fn handle_frame<'f, E: Entropy, N: Nv>(
            &mut self,
            cx: &mut Cx<'_, C, E, N>,
            at: Symbols,
            frame: &'f mut [u8],
        ) -> Option<Received<'f>> {
            self.handle_frame(cx, at, frame)
        }

        #[inline(always)]
        fn handle_cca<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, clear: bool) {
            self.handle_cca(cx, at, clear);
        }

        #[inline(always)]
        fn handle_transmitted<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
            self.handle_transmitted(cx, at);
        }

        #[inline(always)]
        fn poll_event(&mut self) -> Option<Event> {
            self.poll_event()
        }

        #[inline(always)]
        fn poll_radio(&mut self) -> Option<RadioCommand> {
            self.poll_radio()
        }

        #[inline(always)]
        fn poll_radio_due(&mut self) -> Option<RadioCommand> {
            self.poll_radio_due()
        }

        #[inline(always)]
        fn transmit_frame(&self) -> &[u8] {
            self.transmit_frame()
        }

        #[inline(always)]
        fn poll_timeout(&self) -> Option<Symbols> {
            self.poll_timeout()
        }

        #[inline(always)]
        fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
            self.handle_timeout(cx, at);
        }

        #[inline(always)]
        fn waiting(&self) -> impl Iterator<Item = (u8, usize)> + '_ {
            self.waiting()
        }

        #[inline(always)]
        fn occupied(&self) -> usize {
            self.occupied()
        }
    };
}

impl<C: Crypto, L: LinkLayer> MacLayer<C> for Mac<C, L> {
    #[inline(always)]
    fn start<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, config: &Config) {
        self.start(config, cx.crypto);
    }

    verbs!();

    #[inline(always)]
    fn follows(&self) -> bool {
        self.listening.polling().is_some()
    }

    #[inline(always)]
    fn follow(&mut self, at: Symbols, parent: Option<Eui64>, _: Option<u8>) {
        self.follow(at, parent);
    }

    #[inline(always)]
    fn holds(&self) -> bool {
        Self::HOLDS
    }

    #[inline(always)]
    fn take_data_request(&mut self) -> Option<Eui64> {
        self.take_data_request()
    }

    #[inline(always)]
    fn answer_data_request(&mut self, neighbour: Eui64, at: Symbols) {
        self.answer_data_request(neighbour, at);
    }

    #[inline(always)]
    fn is_asleep(&self, neighbour: Eui64, at: Symbols) -> bool {
        self.is_asleep(neighbour, at)
    }

    #[inline(always)]
    fn latest_frame_counter(&self) -> Option<(Eui64, u32)> {
        self.latest_frame_counter()
    }

    #[inline(always)]
    fn restore_frame_counter(&mut self, neighbour: Eui64, frame_counter: u32) -> bool {
        self.restore_frame_counter(neighbour, frame_counter)
    }
}

impl<C: Crypto, L: LinkLayer> New for Tsch<C, L> {
    const NEW: Self = Self::new();
}

/// A device that cannot secure its frames as it is told stays silent.
impl<C: Crypto, L: LinkLayer> MacLayer<C> for Tsch<C, L> {
    fn start<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, config: &Config) {
        self.start(config, cx);
    }

    verbs!();

    fn channel(&self) -> Option<u8> {
        Some(self.channel())
    }

    fn has_joined(&self) -> bool {
        self.has_joined()
    }

    fn follows(&self) -> bool {
        true
    }

    fn follow(&mut self, at: Symbols, parent: Option<Eui64>, join_metric: Option<u8>) {
        self.follow(at, parent, join_metric);
    }

    /// Slots are counted in place of frames, and no slot comes twice.
    fn latest_frame_counter(&self) -> Option<(Eui64, u32)> {
        None
    }

    fn restore_frame_counter(&mut self, _: Eui64, _: u32) -> bool {
        true
    }
}
