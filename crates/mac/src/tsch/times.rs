//! The times inside a slot, in symbols of 16 µs, rounded down: all devices of a network round alike.

use sixlock_ieee802154::enhanced::TimeslotTimes;

/// Microseconds of a symbol.
pub(super) const SYMBOL: u32 = 16;

/// The times inside a slot.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) slot: u32,
    pub(super) transmit_offset: u32,
    pub(super) receive_offset: u32,
    pub(super) receive_wait: u32,
    pub(super) max_transmit: u32,
    /// From a frame to its acknowledgement, at who sends that and at who waits for it.
    pub(super) transmit_ack_delay: u32,
    pub(super) receive_ack_delay: u32,
    pub(super) ack_wait: u32,
    pub(super) max_ack: u32,
}

impl Times {
    /// Those of no template.
    pub(super) const NONE: Self = Self {
        slot: 0,
        transmit_offset: 0,
        receive_offset: 0,
        receive_wait: 0,
        max_transmit: 0,
        transmit_ack_delay: 0,
        receive_ack_delay: 0,
        ack_wait: 0,
        max_ack: 0,
    };

    /// Those of a template.
    pub(super) const fn of(times: &TimeslotTimes) -> Self {
        const fn symbols(microseconds: u16) -> u32 {
            microseconds as u32 / SYMBOL
        }
        Self {
            slot: symbols(times.timeslot_length),
            transmit_offset: symbols(times.tx_offset),
            receive_offset: symbols(times.rx_offset),
            receive_wait: symbols(times.rx_wait),
            max_transmit: symbols(times.max_tx),
            transmit_ack_delay: symbols(times.tx_ack_delay),
            receive_ack_delay: symbols(times.rx_ack_delay),
            ack_wait: symbols(times.ack_wait),
            max_ack: symbols(times.max_ack),
        }
    }
}
