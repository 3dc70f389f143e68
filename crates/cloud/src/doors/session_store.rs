//! What becomes of a shard's sessions elsewhere: on the disk, and at other shards.

use std::sync::Arc;

use sixlock_dtls::SESSION_ID;
use sixlock_endpoint::{Door, LONGEST_KEPT, SessionId};
use zeroize::Zeroizing;

use super::machine::Machine;
use super::resumption::ResumptionWriter;
use super::shard::Shard;
use super::shard_channel::{Busy, SessionState, ShardChannel, ShardMessage};
use super::work::Work;
use sixlock_store::Secret;
use sixlock_store::suspended::Suspending;

/// The way of session states to the disk and to other shards.
pub(super) struct SessionStore {
    resumption: ResumptionWriter,
    pub(super) snapshot: Arc<Suspending>,
    pub(super) channel: ShardChannel,
    /// What other shards are asked for: no more than may wait for them.
    fetches: Work<Fetched>,
}

/// A handshake, and the state that another shard has of the session that its client wants to resume.
pub(super) type Fetched = (SessionId, Result<Option<SessionState>, Busy>);

/// What came from other shards.
pub(super) enum SessionStoreEvent {
    /// A message; `None` if another shard took one instead.
    Message(Option<ShardMessage>),
    /// An answer; `None` if waiting for it panicked.
    Fetched(Option<Fetched>),
}

impl SessionStore {
    pub(super) fn new(
        resumption: ResumptionWriter,
        snapshot: Arc<Suspending>,
        channel: ShardChannel,
    ) -> Self {
        Self { resumption, snapshot, channel, fetches: Work::new() }
    }

    /// Waits for the next event.
    pub(super) async fn next(&mut self) -> SessionStoreEvent {
        tokio::select! {
            message = self.channel.next() => SessionStoreEvent::Message(message),
            fetched = self.fetches.next() => SessionStoreEvent::Fetched(fetched),
        }
    }

    /// Asks a shard for the state of the session with this id, for the handshake of `session`.
    pub(super) fn fetch(&mut self, session: SessionId, id: [u8; SESSION_ID], shard: u16) {
        let state = self.channel.fetch(shard, id);
        self.fetches.begin(async move { (session, state.await) });
    }

    /// Saves the session states that can be resumed, as far as disk and shards take them.
    pub(super) fn save(&mut self, machine: &mut Machine) {
        self.resumption.save(machine, &mut self.channel);
    }

    /// Saves all session states that can be resumed.
    pub(super) async fn finish(self, machine: &mut Machine) {
        self.resumption.finish(machine).await;
    }
}

impl Shard {
    /// Takes what comes from other shards.
    pub(super) async fn on_session_store(&mut self, event: SessionStoreEvent) {
        match event {
            SessionStoreEvent::Message(Some(message)) => self.on_shard_message(message).await,
            SessionStoreEvent::Fetched(Some(fetched)) => self.on_fetched(fetched),
            SessionStoreEvent::Message(None) | SessionStoreEvent::Fetched(None) => {}
        }
    }

    async fn on_shard_message(&mut self, message: ShardMessage) {
        match message {
            ShardMessage::Datagram { from, mut bytes } => {
                self.on_datagram(Door::Secure, Some((&mut bytes, from))).await;
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
                let state = state.as_ref().map(|(state, left)| (state.bytes(), *left));
                endpoint.borrow(&mut cx, session, state)
            }
            Err(Busy) => endpoint.look_up_failed(&mut cx, session),
        };
    }
}

/// Returns the state of the session with this id, if it can be resumed.
fn state_of(machine: &mut Machine, id: &[u8; SESSION_ID]) -> Option<SessionState> {
    let mut state = Zeroizing::new([0; LONGEST_KEPT]);
    let (endpoint, mut cx) = machine.endpoint();
    let (length, left) = endpoint.lend(&mut cx, id, &mut state)?;
    Some((Secret::new(state.get(..length)?.to_vec()), left))
}
