//! Commands: requests of the server's own, which it makes of a device in the session in which that has just asked for something. So also one
//! that sleeps, or that nobody reaches from outside, hears them.

use std::collections::BTreeMap;

use sixlock_base::Entropy;
use sixlock_coap_msg::{Code, ContentFormat};
use sixlock_endpoint::{Answered, OutgoingRequest, PeerId, SessionId, Token, Unanswered};

use crate::directory::Directory;
use crate::ids::{CommandId, DeviceId};
use crate::service::Service;
use crate::shard::Shard;
use crate::work::Work;

/// A request to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Tells it from others.
    pub id: CommandId,
    /// The method.
    pub code: Code,
    /// The segments of the path.
    pub path: Vec<String>,
    /// The payload's format.
    pub format: ContentFormat,
    /// The payload.
    pub payload: Vec<u8>,
}

/// The most that are under way at a shard. Others wait for the next request of their device.
const MOST: usize = 1024;

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
    under_way: BTreeMap<SessionId, Option<(Token, CommandId)>>,
    pub(crate) work: Work<CommandEvent>,
}

impl Commands {
    pub(crate) fn new() -> Self {
        Self { under_way: BTreeMap::new(), work: Work::new() }
    }

    /// Ends the one with this token. Returns which it was, if it is under way.
    fn end(&mut self, session: SessionId, token: Token) -> Option<CommandId> {
        let (_, id) = (*self.under_way.get(&session)?).filter(|(known, _)| *known == token)?;
        self.under_way.remove(&session);
        Some(id)
    }
}

impl<S: Service, D: Directory> Shard<S, D> {
    /// A device has been heard in its session: it is given what waits for it.
    pub(crate) fn on_heard(&mut self, session: SessionId) {
        let Some((Some(device), _)) = self.machine.sessions.of(session) else { return };
        if self.serving.service.has_command(device) {
            self.find_command(session, device);
        }
    }

    fn find_command(&mut self, session: SessionId, device: DeviceId) {
        let commands = &mut self.commands;
        if commands.under_way.len() >= MOST || commands.under_way.contains_key(&session) {
            return;
        }
        commands.under_way.insert(session, None);
        let service = self.serving.service.clone();
        commands.work.begin(async move { CommandEvent::Found(session, service.command(device).await) });
    }

    pub(crate) fn on_command(&mut self, event: Option<CommandEvent>) {
        match event {
            Some(CommandEvent::Found(session, Some(command))) => self.send_command(session, &command),
            Some(CommandEvent::Found(session, None)) => drop(self.commands.under_way.remove(&session)),
            Some(CommandEvent::Noted(Some(session))) => self.on_heard(session),
            Some(CommandEvent::Noted(None)) | None => {}
        }
    }

    fn send_command(&mut self, session: SessionId, command: &Command) {
        let path: Vec<&str> = command.path.iter().map(String::as_str).collect();
        let request = OutgoingRequest {
            code: command.code,
            path: &path,
            format: command.format,
            payload: &command.payload,
        };
        let (endpoint, mut cx) = self.machine.endpoint();
        let mut token = [0; 8];
        cx.entropy.fill(&mut token);
        let token = Token::new(token);
        match endpoint.request(&mut cx, session, token, request) {
            Ok(()) => drop(self.commands.under_way.insert(session, Some((token, command.id)))),
            // The session is gone, or has too much under way: the next time.
            Err(_) => {
                self.commands.under_way.remove(&session);
                self.note_command(command.id, Err(Unanswered::TimedOut), None);
            }
        }
    }

    pub(crate) fn on_command_ended(&mut self, peer: PeerId, Answered { token, result }: Answered) {
        let Some(session) = peer.session() else { return };
        if let Some(id) = self.commands.end(session, token) {
            // A device that does not answer is left alone until it is heard again.
            self.note_command(id, result, result.is_ok().then_some(session));
        }
    }

    /// The command of a session that is over gets no answer any more.
    pub(crate) fn forget_command(&mut self, session: SessionId) {
        if let Some(Some((_, id))) = self.commands.under_way.remove(&session) {
            self.note_command(id, Err(Unanswered::TimedOut), None);
        }
    }

    fn note_command(&mut self, id: CommandId, result: Result<Code, Unanswered>, then: Option<SessionId>) {
        let service = self.serving.service.clone();
        self.commands.work.begin(async move {
            service.command_ended(id, result).await;
            CommandEvent::Noted(then)
        });
    }
}
