use core::fmt;

use sixlock_base::{Cx, Entropy, Eui64, New, Nv, NvError, Symbols};
use sixlock_crypto::Crypto;

use crate::config::Config;
use crate::event::{Event, TransmitId};

/// What the radio is to do, and when: at the symbol `at`, or at once if that has passed.
///
/// A radio listens until it is told otherwise. A command takes the place of the one before, as far as that is not done: an
/// assessment under way is given up, but a frame under way goes out. After an assessment or a frame, the radio listens or is off as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RadioCommand {
    /// Listen from then on.
    Listen {
        /// When it begins.
        at: Symbols,
    },
    /// Be off from then on. What is on the air meanwhile is not heard, nor is a frame that began before the radio listens again.
    Off {
        /// When it begins.
        at: Symbols,
    },
    /// Assess the channel, for 8 symbols each time, until it is found busy or was assessed so often; then tell [`MacLayer::handle_cca`]
    /// whether it was clear. From the first to the last, the radio is on.
    Assess {
        /// When the first assessment begins.
        at: Symbols,
        /// How many there are at most; none counts as one.
        times: u8,
        /// From the begin of one to the begin of the next, in symbols; at least the 8 that it takes.
        apart: u16,
    },
    /// Send [`MacLayer::transmit_frame`], and tell [`MacLayer::handle_transmitted`] when it is out.
    Send {
        /// When the frame begins, or the assessment before it.
        at: Symbols,
        /// Whether the channel is assessed before, once: if it is busy, nothing is sent and [`MacLayer::handle_cca`] is told so; if it is
        /// clear, the frame begins a turnaround of 12 symbols later. A driver whose radio does not do this in one go tells
        /// [`MacLayer::handle_cca`] in either case; if the channel was clear, the next command is to send without.
        assess: bool,
    },
}

impl RadioCommand {
    /// When it is to begin.
    pub const fn at(self) -> Symbols {
        match self {
            Self::Listen { at } | Self::Off { at } | Self::Assess { at, .. } | Self::Send { at, .. } => at,
        }
    }
}

/// The payload of a received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'f> {
    /// The neighbour that sent it.
    pub source: Eui64,
    /// The own address, or [`BROADCAST`](crate::BROADCAST).
    pub destination: Eui64,
    /// The payload, decrypted if the link is secured.
    pub payload: &'f [u8],
}

/// Why a frame was not taken for transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// Every transmit frame is in use.
    QueueFull,
    /// The payload does not fit a frame.
    TooLong,
    /// There is no frame counter to secure it with.
    NoCounter(NvError),
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QueueFull => f.write_str("every transmit frame is in use: send it later"),
            Self::TooLong => f.write_str("the payload does not fit a frame"),
            Self::NoCounter(error) => {
                write!(f, "there is no frame counter to secure the frame with: {error}")
            }
        }
    }
}

impl core::error::Error for SendError {}

/// A MAC, whatever it is: the verbs by which an interface drives it. [`Mac`](crate::Mac) says what each of them does.
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

    /// Whether a neighbour that frames wait for was not told of `news`, whatever that numbers: it hears no frames to all.
    #[inline(always)]
    fn is_news(&self, _: Eui64, _: u32) -> bool {
        false
    }

    /// Notes that it is told of `news`.
    #[inline(always)]
    fn tell(&mut self, _: Eui64, _: u32) {}

    /// The neighbour that the last secured frame was accepted from, and the counter of that frame, where frames have one.
    fn latest_frame_counter(&self) -> Option<(Eui64, u32)>;

    /// Has frames of a neighbour up to this counter refused; false if there is no room for it.
    fn restore_frame_counter(&mut self, neighbour: Eui64, frame_counter: u32) -> bool;

    /// The frames that wait to be sent, or are being sent: their sequence numbers and lengths.
    fn waiting(&self) -> impl Iterator<Item = (u8, usize)> + '_;

    /// How many transmit frames are in use, also by those whose [`Event::Sent`] was not polled yet.
    fn occupied(&self) -> usize;
}
