use sixlock_base::Eui64;

/// As a destination: every neighbour.
pub const BROADCAST: Eui64 = Eui64([0xff; 8]);

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A frame has left the transmit queue.
    Sent {
        /// The frame.
        id: TransmitId,
        /// The neighbour it was for, or [`BROADCAST`].
        destination: Eui64,
        /// What became of it.
        outcome: Outcome,
        /// How often it was sent: not at all if the channel was never free.
        attempts: u8,
    },
}

/// Names a frame handed over for transmission until its outcome is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransmitId(pub(crate) u8);

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was acknowledged, or sent if no acknowledgement was asked for.
    Delivered,
    /// It was never acknowledged.
    NoAck,
    /// The channel was never free.
    ChannelBusy,
}
