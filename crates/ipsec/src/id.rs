use core::num::NonZero;

/// An association under which packets go out: its place in the table, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutboundId(NonZero<u16>);

/// An association under which packets come in: its place in the table, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InboundId(NonZero<u16>);

impl OutboundId {
    pub(crate) fn of(place: usize) -> Self {
        Self(number(place))
    }

    pub(crate) fn place(self) -> usize {
        place(self.0)
    }
}

impl InboundId {
    pub(crate) fn of(place: usize) -> Self {
        Self(number(place))
    }

    pub(crate) fn place(self) -> usize {
        place(self.0)
    }
}

fn number(place: usize) -> NonZero<u16> {
    NonZero::<u16>::MIN.saturating_add(place as u16)
}

fn place(number: NonZero<u16>) -> usize {
    usize::from(number.get() - 1)
}
