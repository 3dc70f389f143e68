use crate::contikimac::HEADER;

/// What one assessment of the channel takes, in symbols.
pub(super) const ASSESSMENT: u32 = 8;

/// The times of ContikiMAC, in symbols of 16 µs, and its counts. A name in brackets is that of `contikimac.c`; a tick of the Tmote
/// Sky, in which its times are, is 1/32768 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// From one wake-up to the next (`CYCLE_TIME`, 4096 ticks).
    pub cycle: u32,
    /// Assessments of the channel at a wake-up (`CCA_COUNT_MAX`).
    pub assessments: u8,
    /// Assessments before sending (`CCA_COUNT_MAX_TX`).
    pub assessments_to_send: u8,
    /// From the begin of one assessment to the begin of the next (`CCA_CHECK_TIME` and `CCA_SLEEP_TIME`, 20 ticks); also from one look
    /// at the channel to the next while it listens.
    pub apart: u16,
    /// From the end of a copy on, how long its acknowledgement may begin (`INTER_PACKET_INTERVAL`): the channel is assessed in the last 8
    /// symbols, and the next copy begins a turnaround later.
    pub gap: u16,
    /// How long an acknowledgement that has begun by then is waited for (`AFTER_ACK_DETECTECT_WAIT_TIME`, 21 ticks).
    pub ack_wait: u16,
    /// How long copies are sent at most (`STROBE_TIME`, 4176 ticks).
    pub strobe: u32,
    /// The same where it is known when the neighbour wakes up (`MAX_PHASE_STROBE_TIME`, 546 ticks).
    pub strobe_at_phase: u32,
    /// How long before that the assessments begin (`GUARD_TIME`, 520 ticks).
    pub guard: u32,
    /// How long it listens at most after a busy channel (`LISTEN_TIME_AFTER_PACKET_DETECTED`, 409 ticks).
    pub listening: u16,
    /// Looks at the channel in a row that find it clear before it is off again (`MAX_SILENCE_PERIODS`): one more than this many.
    pub silent: u8,
    /// Looks after which the first that finds the channel clear is enough (`MAX_NONACTIVITY_PERIODS`).
    pub looks: u8,
    /// How long the next frame of a burst is waited for (`INTER_PACKET_DEADLINE`, 1/32 s).
    pub burst: u16,
    /// Copies in vain after which a phase is forgotten (`MAX_NOACKS` of `phase.c`).
    pub misses: u8,
    /// How long after the first of them it is forgotten (`MAX_NOACKS_TIME` of `phase.c`, 30 s).
    pub forgotten: u32,
    /// The shortest frame, in bytes without its FCS (`SHORTEST_PACKET_SIZE`): what is shorter is padded, so that no copy falls between
    /// two assessments.
    pub shortest: u8,
}

impl Times {
    /// How many bytes a payload of `len` takes in a frame that has so many `others` beside its FCS: those of the header in front of it and of
    /// padding, too.
    pub fn room(&self, len: usize, others: usize) -> usize {
        (HEADER + len).max(usize::from(self.shortest).saturating_sub(others))
    }

    /// Those of Contiki 2.7 and 3.0, whose gap is 13 ticks.
    pub const CONTIKI_2_7: Self = Self {
        cycle: 7812,
        assessments: 2,
        assessments_to_send: 6,
        apart: 38,
        gap: 25,
        ack_wait: 40,
        strobe: 7965,
        strobe_at_phase: 1041,
        guard: 992,
        listening: 780,
        silent: 5,
        looks: 10,
        burst: 1953,
        misses: 16,
        forgotten: 1_875_000,
        shortest: 43,
    };

    /// Those of Contiki 2.6, whose gap is 6 ticks. An acknowledgement begins 12 symbols after a frame, when the channel has been found clear:
    /// the next copy destroys it ([contiki#224](https://github.com/contiki-os/contiki/pull/224)).
    pub const CONTIKI_2_6: Self = Self { gap: 11, ..Self::CONTIKI_2_7 };
}
