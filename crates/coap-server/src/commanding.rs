//! Commands: requests of the server's own, which it makes of a device in the session in which that has just asked for something. So also one
//! that sleeps, or that nobody reaches from outside, hears them.

use std::time::Instant;

use sixlock_base::Entropy;
use sixlock_coap_msg::Code;
use sixlock_endpoint::{Answered, OutgoingRequest, PeerId, RespondError, SessionId, Token, Unanswered};

use crate::command::Command;
use crate::commands::CommandEvent;
use crate::directory::Directory;
use crate::ids::{CommandId, DeviceId, Holder};
use crate::service::Service;
use crate::shard::Shard;

impl<S: Service, D: Directory> Shard<S, D> {
    /// A device has been heard in its session: it is given what waits for it.
    pub(crate) fn on_heard(&mut self, session: SessionId) {
        let Some(Some(Holder::Device(device))) = self.machine.sessions.holder(session) else { return };
        if self.serving.service.has_command(device) {
            self.find_command(session, device);
        }
    }

    fn find_command(&mut self, session: SessionId, device: DeviceId) {
        let Ok(given_up) = self.commands.begin(session, Instant::now()) else { return };
        if let Some(id) = given_up {
            self.note_command(id, Err(Unanswered::TimedOut), None);
        }
        let service = self.serving.service.clone();
        self.commands.work.begin(async move { CommandEvent::Found(session, service.command(device).await) });
    }

    pub(crate) fn on_command(&mut self, event: Option<CommandEvent>) {
        match event {
            Some(CommandEvent::Found(session, Some(command))) => self.send_command(session, &command),
            Some(CommandEvent::Found(session, None)) => drop(self.commands.forget(session)),
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
            Ok(()) => self.commands.tell(session, token, command.id),
            Err(error) => {
                self.commands.forget(session);
                let why = match error {
                    // The device takes no message of that length.
                    RespondError::TooLarge | RespondError::Option => Unanswered::Rejected,
                    // The session is gone, or has too much under way: the next time.
                    RespondError::NotWaiting | RespondError::Full => Unanswered::TimedOut,
                };
                self.note_command(command.id, Err(why), None);
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
        if let Some(id) = self.commands.forget(session) {
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
