//! What a shard does for others, and what it gets from them.

use sixlock_dtls::SESSION_ID;
use sixlock_endpoint::{MAX_SESSION_RECORD, Transport};
use zeroize::Zeroizing;

use crate::directory::Directory;
use crate::machine::Machine;
use crate::service::Service;
use crate::session_store::{Fetched, SessionStoreEvent};
use crate::shard::Shard;
use crate::shard_channel::{Busy, SessionState, ShardMessage};

impl<S: Service, D: Directory> Shard<S, D> {
    /// Takes what comes from other shards.
    pub(crate) async fn on_session_store(&mut self, event: SessionStoreEvent) {
        match event {
            SessionStoreEvent::Message(Some(message)) => self.on_shard_message(message).await,
            SessionStoreEvent::Fetched(Some(fetched)) => self.on_fetched(fetched),
            SessionStoreEvent::Message(None) | SessionStoreEvent::Fetched(None) => {}
        }
    }

    async fn on_shard_message(&mut self, message: ShardMessage) {
        match message {
            ShardMessage::Datagram { from, mut bytes } => {
                self.on_datagram(Transport::Dtls, Some((&mut bytes, from))).await;
            }
            // The client may have given up: then nobody waits for the answer.
            ShardMessage::Fetch { id, answer } => drop(answer.send(state_of(&mut self.machine, &id))),
            ShardMessage::Forget { id } => drop(self.machine.endpoint.forget(&id)),
        }
    }

    /// Goes on with a handshake that waited for the state that another shard has. If the handshake is over by now, nobody waits.
    fn on_fetched(&mut self, (session, state): Fetched) {
        let (endpoint, mut cx) = self.machine.endpoint();
        let _ = match &state {
            Ok(state) => {
                let state = state.as_ref().map(|(state, left)| (&state[..], *left));
                endpoint.borrow(&mut cx, session, state)
            }
            Err(Busy) => endpoint.look_up_failed(&mut cx, session),
        };
    }
}

/// Returns the state of the session with this id, if it can be resumed.
fn state_of(machine: &mut Machine, id: &[u8; SESSION_ID]) -> Option<SessionState> {
    let mut state = Zeroizing::new([0; MAX_SESSION_RECORD]);
    let (endpoint, mut cx) = machine.endpoint();
    let (length, left) = endpoint.lend(&mut cx, id, &mut state)?;
    Some((Zeroizing::new(state.get(..length)?.to_vec()), left))
}
