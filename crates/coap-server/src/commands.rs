//! The commands under way.

use std::collections::BTreeMap;

use sixlock_endpoint::{SessionId, Token};

use crate::command::Command;
use crate::ids::CommandId;
use crate::work::Work;

/// The most that are under way at a shard. Others wait for the next request of their device.
pub(crate) const MOST: usize = 1024;

/// Something that commands wait for. Of work that panicked there is `None`.
pub(crate) enum CommandEvent {
    /// What there is for the device of a session.
    Found(SessionId, Option<Command>),
    /// What became of one was noted, and the device of this session may be given the next.
    Noted(Option<SessionId>),
}

/// The commands under way: of each session one at a time.
pub(crate) struct Commands {
    /// Under `None` it is being found out whether there is one.
    pub(crate) under_way: BTreeMap<SessionId, Option<(Token, CommandId)>>,
    pub(crate) work: Work<CommandEvent>,
}

impl Commands {
    pub(crate) fn new() -> Self {
        Self { under_way: BTreeMap::new(), work: Work::new() }
    }

    /// Ends the one with this token. Returns which it was, if it is under way.
    pub(crate) fn end(&mut self, session: SessionId, token: Token) -> Option<CommandId> {
        let (_, id) = (*self.under_way.get(&session)?).filter(|(known, _)| *known == token)?;
        self.under_way.remove(&session);
        Some(id)
    }
}
