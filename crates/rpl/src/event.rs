use sixlock_base::New;

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// This node is no way to the root any more, and has none.
    Left = 1,
    /// It has a parent now, and had none.
    Joined = 2,
    /// Its parent is another.
    ParentChanged = 4,
    /// A route downwards has come, changed or gone.
    RoutesChanged = 8,
}

/// What happened and was not told yet. One that happens again before it is told is told once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Events(u8);

impl New for Events {
    const NEW: Self = Self(0);
}

impl Events {
    pub(crate) fn push(&mut self, event: Event) {
        self.0 |= event as u8;
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        let all = [Event::Left, Event::Joined, Event::ParentChanged, Event::RoutesChanged];
        let event = all.into_iter().find(|&event| self.0 & event as u8 != 0)?;
        self.0 &= !(event as u8);
        Some(event)
    }
}
