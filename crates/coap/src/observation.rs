use sixlock_base::{Duration, Instant};

/// The least time between two notifications of an observation: nobody measures the round-trip time
/// ([RFC 7641 section 4.5.1](https://www.rfc-editor.org/rfc/rfc7641#section-4.5.1)).
const PACE: Duration = Duration::from_secs(3);
/// After how many notifications one is confirmable.
const UNCONFIRMED: u8 = 7;
/// After how long one is, at the latest
/// ([RFC 7641 section 4.5](https://www.rfc-editor.org/rfc/rfc7641#section-4.5)).
const CONFIRMED: Duration = Duration::from_secs(24 * 3600);

/// That a client observes a resource: when it may be notified, and how.
///
/// Its first notification is confirmable, so that whoever was named as observer by somebody else can say so at once, and so
/// is every eighth one.
#[derive(Clone, Copy, Debug)]
pub struct Observation {
    number: u32,
    left: u8,
    confirmed: Instant,
    next: Instant,
}

/// How a notification is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The value of its Observe option.
    pub number: u32,
    /// Whether the client is to acknowledge it.
    pub confirmable: bool,
}

impl Observation {
    /// The observation that is answered by its first notification, with the number 0, now.
    pub const fn new(now: Instant) -> Self {
        Self { number: 0, left: 0, confirmed: now, next: now }
    }

    /// How long a change has to wait until it may be told.
    pub fn wait(&self, now: Instant) -> Duration {
        if now.has_reached(self.next) { Duration::from_millis(0) } else { self.next.since(now) }
    }

    /// From when on a change may be told.
    pub(crate) const fn next(&self) -> Instant {
        self.next
    }

    /// The observation is answered by a first notification once more, which has the number that is returned.
    pub(crate) fn begin_again(&mut self, now: Instant) -> u32 {
        *self = Self { number: (self.number + 1) & 0xff_ffff, ..Self::new(now) };
        self.number
    }

    /// The notification that is sent now.
    pub fn notify(&mut self, now: Instant) -> Notice {
        // As many values as 24 bits have last for longer than the order is looked at:
        // https://www.rfc-editor.org/rfc/rfc7641#section-4.4
        self.number = (self.number + 1) & 0xff_ffff;
        self.next = now + PACE;
        let confirmable = self.left == 0 || now.since(self.confirmed) >= CONFIRMED;
        if confirmable {
            (self.left, self.confirmed) = (UNCONFIRMED, now);
        } else {
            self.left -= 1;
        }
        Notice { number: self.number, confirmable }
    }
}
