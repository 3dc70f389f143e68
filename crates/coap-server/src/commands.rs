//! The commands under way.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use sixlock_endpoint::{SessionId, Token};

use crate::command::Command;
use crate::ids::CommandId;
use crate::work::Work;

/// The most that are under way at a shard. Where there are so many, the oldest that waits for longer than [`PATIENCE`] gives way; if there is
/// none, others wait for the next request of their device.
const MOST: usize = 1024;
/// How long a device may take to answer where others need its place.
const PATIENCE: Duration = Duration::from_secs(10);

/// Something that commands wait for. Of work that panicked there is `None`.
pub(crate) enum CommandEvent {
    /// What there is for the device of a session.
    Found(SessionId, Option<Command>),
    /// What became of one was noted, and the device of this session may be given the next.
    Noted(Option<SessionId>),
}

/// The command of a session.
struct UnderWay {
    /// `None` while it is being found out whether there is one.
    sent: Option<(Token, CommandId)>,
    since: Instant,
}

/// The commands under way: of each session one at a time.
pub(crate) struct Commands<S = SessionId> {
    under_way: BTreeMap<S, UnderWay>,
    pub(crate) work: Work<CommandEvent>,
}

/// A session cannot be given a command: it has one, or there are too many.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Occupied;

impl<S: Copy + Ord> Commands<S> {
    pub(crate) fn new() -> Self {
        Self { under_way: BTreeMap::new(), work: Work::new() }
    }

    /// Takes a place for a command of `session`. Returns the command that ends without an answer, if one gives way.
    pub(crate) fn begin(&mut self, session: S, now: Instant) -> Result<Option<CommandId>, Occupied> {
        if self.under_way.contains_key(&session) {
            return Err(Occupied);
        }
        let mut given_up = None;
        if self.under_way.len() >= MOST {
            let sent = self.under_way.iter().filter(|(_, under_way)| under_way.sent.is_some());
            let oldest = sent.min_by_key(|(_, under_way)| under_way.since);
            let oldest = oldest.filter(|(_, under_way)| now.duration_since(under_way.since) >= PATIENCE);
            let Some((oldest, _)) = oldest else { return Err(Occupied) };
            let oldest = *oldest;
            given_up = self.forget(oldest);
        }
        self.under_way.insert(session, UnderWay { sent: None, since: now });
        Ok(given_up)
    }

    /// The device of `session` is told this one.
    pub(crate) fn tell(&mut self, session: S, token: Token, id: CommandId) {
        if let Some(under_way) = self.under_way.get_mut(&session) {
            under_way.sent = Some((token, id));
        }
    }

    /// Ends the one with this token. Returns which it was, if it is under way.
    pub(crate) fn end(&mut self, session: S, token: Token) -> Option<CommandId> {
        let is_it = self.under_way.get(&session)?.sent.is_some_and(|(known, _)| known == token);
        if is_it { self.forget(session) } else { None }
    }

    /// Gives the place of `session` back. Returns the command that its device was told and has not answered.
    pub(crate) fn forget(&mut self, session: S) -> Option<CommandId> {
        self.under_way.remove(&session)?.sent.map(|(_, id)| id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_never_answer_hold_up_others_for_a_while() {
        let (mut commands, began) = (Commands::<u64>::new(), Instant::now());
        let token = Token::new([7; 8]);
        for n in 0..MOST as u64 {
            assert_eq!(commands.begin(n, began), Ok(None));
            commands.tell(n, token, CommandId(n as i64));
        }
        let late = began + PATIENCE;
        assert_eq!(commands.begin(5_000, late - Duration::from_millis(1)), Err(Occupied));
        assert_eq!(commands.begin(7, late), Err(Occupied), "it has one");
        assert_eq!(commands.begin(5_000, late), Ok(Some(CommandId(0))));
        assert_eq!(commands.end(0, token), None, "an answer that comes too late");
        assert_eq!(commands.end(1, Token::new([8; 8])), None);
        assert_eq!(commands.end(1, token), Some(CommandId(1)));
        // One that is still being found holds its place.
        assert_eq!(commands.begin(5_001, late), Ok(None));
        assert_eq!(commands.forget(5_000), None);
    }
}
