use sixlock_base::{Eui64, New as _, Slot, Symbols};
use sixlock_crypto::Crypto;
use sixlock_ieee802154::ack_pending;

use crate::csma::total_wait;
use crate::event::Event;
use crate::frame_security::FrameSecurity;
use crate::indirect::Sleepers;
use crate::link::LinkLayer;
use crate::listening::Listening as _;
use crate::neighbours::Neighbours;
use crate::queue::Queue;
use crate::radio::Radio;
use crate::rules::{ChannelAccess as _, Rules};
use crate::{Config, Csma};

/// A MAC that is made, and as large, as `L` says, such as a [`Link`](crate::Link).
///
/// When the queue is full, [`Mac::send`] refuses. When the neighbour table is full, a newcomer
/// takes the place of the neighbour not heard for longest; with link security it is refused,
/// because a forgotten frame counter would let old frames pass as new.
///
/// With link security, each frame is accepted once, by its frame counter. The neighbours'
/// counters are held in RAM: after a reboot of this device, frames that were recorded before are
/// accepted again, from each neighbour up to its first new one. The standard has no defence against
/// that. A device that has storage for it keeps [`Mac::latest_frame_counter`] after each frame, and
/// hands all of them back with [`Mac::restore_frame_counter`].
pub struct Mac<C: Crypto, L: LinkLayer> {
    pub(crate) address: Eui64,
    pub(crate) pan_id: u16,
    pub(crate) csma: Csma,
    pub(crate) ack: bool,
    pub(crate) access: L::Access,
    pub(crate) listening: L::Listening,
    pub(crate) link: Slot<FrameSecurity<C>>,
    /// The sequence number of the last frame; random at first, so that a neighbour does not
    /// take the first frame after a reboot for a repetition.
    pub(crate) sequence: Option<u8>,
    pub(crate) neighbours: Neighbours<L::Neighbours>,
    pub(crate) queue: Queue<L::Queue>,
    pub(crate) sleepers: Sleepers<L::Sleepers>,
    pub(crate) radio: Radio,
}

impl<C: Crypto, L: LinkLayer> Mac<C, L> {
    /// Whether it knows neighbours for which frames wait until they ask for them.
    pub(crate) const HOLDS: bool = Sleepers::<L::Sleepers>::LINKED;

    /// A MAC that has sent and heard nothing, of no device yet: [`Mac::start`] says of which. It is all zero bytes.
    pub const fn new() -> Self {
        Self {
            address: Eui64([0; 8]),
            pan_id: 0,
            csma: Csma::NONE,
            ack: false,
            access: L::Access::NEW,
            listening: L::Listening::NEW,
            link: Slot::Empty,
            sequence: None,
            neighbours: Neighbours::new(),
            queue: Queue::new(),
            sleepers: Sleepers::new(),
            radio: Radio::new(),
        }
    }

    /// Makes it a device's; to be called first, and once.
    ///
    /// # Panics
    ///
    /// When it is told to secure its frames and is not [`SECURED`](LinkLayer::SECURED): it does not send them in the clear instead. When it
    /// is told to contend for the channel, or to ask for acknowledgements, and is not [`CSMA`](LinkLayer::CSMA).
    pub fn start(&mut self, config: &Config, crypto: &mut C) {
        assert!(L::SECURED || config.security.is_none());
        assert!(L::CSMA || !config.contends());
        self.address = config.address;
        self.pan_id = config.pan_id;
        self.csma = config.csma;
        self.ack = config.ack;
        if let (true, Some(security)) = (L::SECURED, &config.security) {
            self.link = Slot::Full(FrameSecurity::new(security, crypto));
        }
    }

    /// The times and rules by which it gets at the channel, to be set, if they are not constants, before the first frame.
    pub fn access(&mut self) -> &mut L::Access {
        &mut self.access
    }

    /// When it listens, to be set, if that is not always, before the first frame.
    pub fn listening(&mut self) -> &mut L::Listening {
        &mut self.listening
    }

    /// The times and rules of channel access, as they are.
    #[inline(always)]
    pub(crate) fn rules(&self) -> &Rules {
        self.access.rules()
    }

    /// The sealing and opening of frames, if they are secured.
    pub(crate) fn link(&self) -> Option<&FrameSecurity<C>> {
        if L::SECURED { self.link.get() } else { None }
    }

    /// The device's own address.
    pub fn address(&self) -> Eui64 {
        self.address
    }

    /// The neighbour that the last secured frame was accepted from, and the counter of that frame; none if links are not secured, or
    /// before the first frame.
    pub fn latest_frame_counter(&self) -> Option<(Eui64, u32)> {
        self.link().and_then(|_| self.neighbours.latest())
    }

    /// From now on, frames of a neighbour with this counter or a lower one are refused; to be called after [`Mac::start`]. False,
    /// and without effect, if the neighbour table is full.
    pub fn restore_frame_counter(&mut self, neighbour: Eui64, frame_counter: u32) -> bool {
        self.neighbours.restore(neighbour, frame_counter)
    }

    /// Has a device whose receiver is off ask `parent`, the neighbour that its packets go to, for what waits there; to be called when that may have
    /// changed. Without a parent, it listens.
    pub fn follow(&mut self, at: Symbols, parent: Option<Eui64>) {
        if let Some(polling) = self.listening.polling_mut() {
            polling.follow(at, parent);
        }
    }

    /// A neighbour that has asked for what waits for it, each once. The caller then says by [`Mac::answer_data_request`] whether
    /// something does.
    pub fn take_data_request(&mut self) -> Option<Eui64> {
        if Self::HOLDS { self.sleepers.take_asking() } else { None }
    }

    /// Tells `neighbour`, which has asked for it, that a frame waits for it: it listens for one from `at` on.
    pub fn answer_data_request(&mut self, neighbour: Eui64, at: Symbols) {
        if let Some(ack) = self.radio.owed_ack.get_mut() {
            ack.frame = ack_pending(ack.frame[2]);
            self.sleepers.listens(neighbour, at.after(total_wait(&self.csma, self.access.rules())));
        }
    }

    /// Whether a frame to `neighbour` has to wait until that asks for it.
    pub fn is_asleep(&self, neighbour: Eui64, at: Symbols) -> bool {
        Self::HOLDS && self.sleepers.is_asleep(neighbour, at)
    }

    /// Whether `neighbour` has asked for what waits for it, and [`Mac::tell`] did not note that it is told of `news`, or a frame to it was lost
    /// since.
    pub fn is_news(&self, neighbour: Eui64, news: u32) -> bool {
        Self::HOLDS && self.sleepers.is_news(neighbour, news)
    }

    /// Notes that `neighbour` is told of `news`.
    pub fn tell(&mut self, neighbour: Eui64, news: u32) {
        if Self::HOLDS {
            self.sleepers.tell(neighbour, news);
        }
    }

    /// The frames that wait to be sent, or are being sent: their sequence numbers and lengths.
    pub fn waiting(&self) -> impl Iterator<Item = (u8, usize)> + '_ {
        self.queue.waiting().map(|frame| (frame.sequence, frame.bytes().len()))
    }

    /// How many transmit frames are in use, also by those whose [`Event::Sent`] was not polled yet.
    pub const fn occupied(&self) -> usize {
        self.queue.occupied()
    }

    /// What has happened since.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.queue.take_finished()
    }
}

impl<C: Crypto, L: LinkLayer> Default for Mac<C, L> {
    fn default() -> Self {
        Self::new()
    }
}
