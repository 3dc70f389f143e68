use sixlock_base::New;

/// Something that has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// A host's address is not registered any more, and was.
    Lost = 1,
    /// A host's address is registered now, and was not.
    Registered = 2,
    /// A host's address is another's.
    Duplicate = 4,
    /// The contexts of header compression are others.
    ContextsChanged = 8,
    /// A registration has come, changed or gone.
    RegistrationsChanged = 16,
}

/// What has changed and was not told yet. One that changes again before it is told is told once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Events(u8);

impl New for Events {
    const NEW: Self = Self(0);
}

/// Set when a registration was renewed, or is another: its transaction id is new in either case.
const REGISTERED: u8 = 32;

impl Events {
    pub(super) fn push(&mut self, event: Event) {
        self.0 |= event as u8;
    }

    /// A registration has come, changed or gone.
    pub(super) fn registrations_changed(&mut self) {
        self.push(Event::RegistrationsChanged);
        self.note_registered();
    }

    /// A registration was renewed, or is another.
    pub(super) fn note_registered(&mut self) {
        self.0 |= REGISTERED;
    }

    /// Whether one was, since this was last called.
    pub(super) fn take_registered(&mut self) -> bool {
        let was_set = self.0 & REGISTERED != 0;
        self.0 &= !REGISTERED;
        was_set
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        let all = [
            Event::Lost,
            Event::Registered,
            Event::Duplicate,
            Event::ContextsChanged,
            Event::RegistrationsChanged,
        ];
        let event = all.into_iter().find(|&event| self.0 & event as u8 != 0)?;
        self.0 &= !(event as u8);
        Some(event)
    }
}
