//! What becomes of a shard's sessions elsewhere: on the disk, and at other shards.

use std::sync::Arc;

use sixlock_dtls::SESSION_ID;
use sixlock_endpoint::SessionId;

use crate::machine::Machine;
use crate::resumption::ResumptionWriter;
use crate::session_storage::SessionStorage;
use crate::shard_channel::{Busy, SessionState, ShardChannel, ShardMessage};
use crate::work::Work;

/// The way of session states to the disk and to other shards.
pub(crate) struct SessionStore {
    resumption: ResumptionWriter,
    pub(crate) storage: Arc<dyn SessionStorage>,
    pub(crate) channel: ShardChannel,
    /// What other shards are asked for: no more than may wait for them.
    fetches: Work<Fetched>,
}

/// A handshake, and the state that another shard has of the session that its client wants to resume.
pub(crate) type Fetched = (SessionId, Result<Option<SessionState>, Busy>);

/// What came from other shards.
pub(crate) enum SessionStoreEvent {
    /// A message; `None` if another shard took one instead.
    Message(Option<ShardMessage>),
    /// An answer; `None` if waiting for it panicked.
    Fetched(Option<Fetched>),
}

impl SessionStore {
    pub(crate) fn new(
        resumption: ResumptionWriter,
        storage: Arc<dyn SessionStorage>,
        channel: ShardChannel,
    ) -> Self {
        Self { resumption, storage, channel, fetches: Work::new() }
    }

    /// Waits for the next event.
    pub(crate) async fn next(&mut self) -> SessionStoreEvent {
        tokio::select! {
            message = self.channel.next() => SessionStoreEvent::Message(message),
            fetched = self.fetches.next() => SessionStoreEvent::Fetched(fetched),
        }
    }

    /// Asks a shard for the state of the session with this id, for the handshake of `session`.
    pub(crate) fn fetch(&mut self, session: SessionId, id: [u8; SESSION_ID], shard: u16) {
        let state = self.channel.fetch(shard, id);
        self.fetches.begin(async move { (session, state.await) });
    }

    /// Saves the session states that can be resumed, as far as disk and shards take them.
    pub(crate) fn save(&mut self, machine: &mut Machine) {
        self.resumption.save(machine, &mut self.channel);
    }

    /// Saves all session states that can be resumed.
    pub(crate) async fn finish(self, machine: &mut Machine) {
        self.resumption.finish(machine).await;
    }
}
