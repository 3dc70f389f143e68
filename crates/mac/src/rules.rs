use core::num::NonZeroU16;

use sixlock_base::New;

/// The times of channel access, in symbols of 16 µs, and its rules, where those of others differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The unit of waits before transmissions (aUnitBackoffPeriod).
    pub unit_backoff: u32,
    /// From an assessment of the channel to the frame (aTurnaroundTime).
    pub turnaround: u32,
    /// From a frame to its acknowledgement (aTurnaroundTime).
    pub ack_turnaround: u32,
    /// How long an acknowledgement is waited for (macAckWaitDuration).
    pub ack_wait: u32,
    /// The pause after a short frame (macMinSIFSPeriod), at most that after a long one.
    pub short_pause: u32,
    /// The pause after a long frame (macMinLIFSPeriod).
    pub long_pause: u32,
    /// How waits are drawn.
    pub backoff: Backoff,
    /// Whether a frame whose channel stays busy is tried again as one that nobody acknowledged, for as often as
    /// [`Csma::max_retries`](crate::Csma::max_retries) says in all; else it is given up.
    pub retries_when_busy: bool,
}

/// How the wait before a transmission is drawn, in units of [`Rules::unit_backoff`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backoff {
    /// 0 to 2^BE − 1 units (7.5.1.4).
    Standard,
    /// From nothing to 2^BE − 1 units less a tick, in whole ticks of a clock, of which a unit has so many. As with Contiki-NG.
    Ticks(NonZeroU16),
    /// None before a frame is sent for the first time; then one unit and a part, to a symbol, of as many as it was sent times, and one: of
    /// three at most. As with Contiki 2.6.
    Linear,
}

impl Rules {
    /// Those of the standard.
    pub const STANDARD: Self = Self {
        unit_backoff: 20,
        turnaround: 12,
        ack_turnaround: 12,
        ack_wait: 54,
        short_pause: 12,
        long_pause: 40,
        backoff: Backoff::Standard,
        retries_when_busy: false,
    };

    /// Those of the CSMA of Contiki 2.6, whose times are multiples of an eighth of a second.
    pub const CONTIKI: Self = Self {
        unit_backoff: 7812,
        short_pause: 0,
        long_pause: 0,
        backoff: Backoff::Linear,
        ..Self::STANDARD
    };
}

/// Where a MAC has its [`Rules`] from.
pub trait ChannelAccess: New {
    /// The rules.
    fn rules(&self) -> &Rules;
}

/// The rules of the standard, which take no memory and are constants of the code.
#[derive(Clone, Copy, Debug)]
pub struct Standard;

impl New for Standard {
    const NEW: Self = Self;
}

impl ChannelAccess for Standard {
    #[inline(always)]
    fn rules(&self) -> &Rules {
        &Rules::STANDARD
    }
}

/// The rules of Contiki's CSMA, which take no memory either.
#[derive(Clone, Copy, Debug)]
pub struct ContikiCsma;

impl New for ContikiCsma {
    const NEW: Self = Self;
}

impl ChannelAccess for ContikiCsma {
    #[inline(always)]
    fn rules(&self) -> &Rules {
        &Rules::CONTIKI
    }
}

impl New for Rules {
    const NEW: Self = Self::STANDARD;
}

impl ChannelAccess for Rules {
    fn rules(&self) -> &Rules {
        self
    }
}
