//! Messages between shards. They are few: the system sends what comes from one address to one shard, which has the session then. Only
//! a client whose address has changed comes to another.

use std::net::SocketAddr;

use sixlock_base::Duration;
use sixlock_dtls::SESSION_ID;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use zeroize::Zeroizing;

use crate::work::Work;

/// Messages that wait for a shard; beyond, datagrams are dropped, and no session state is fetched.
const WAITING: usize = 256;
/// Messages [`ShardMessage::Forget`] that wait for room in the channels of others. Beyond, they wait in the endpoint, and with them the
/// session states that are to be saved.
const NOTIFYING: usize = 1024;

/// What a session is resumed by, and for how long it can be.
pub(crate) type SessionState = (Zeroizing<Vec<u8>>, Duration);

/// Too many messages wait for a shard: it cannot be asked at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy;

/// A message to another shard.
pub(crate) enum ShardMessage {
    /// A datagram for one of its sessions.
    Datagram { from: SocketAddr, bytes: Vec<u8> },
    /// A client of another shard wants to resume the session with this id.
    Fetch { id: [u8; SESSION_ID], answer: oneshot::Sender<Option<SessionState>> },
    /// The session with this id can no longer be resumed.
    Forget { id: [u8; SESSION_ID] },
}

/// The channels of a shard to the others, and theirs to it.
pub(crate) struct ShardChannel {
    number: u16,
    shards: Vec<mpsc::Sender<ShardMessage>>,
    received: mpsc::Receiver<ShardMessage>,
    /// Messages that wait for room in the channels of others.
    notifying: Work<()>,
}

impl ShardChannel {
    /// One for each of `count` shards.
    pub(crate) fn all(count: u16) -> Vec<Self> {
        let (shards, received): (Vec<_>, Vec<_>) = (0..count).map(|_| mpsc::channel(WAITING)).unzip();
        let of =
            |(number, received)| Self { number, shards: shards.clone(), received, notifying: Work::new() };
        (0..).zip(received).map(of).collect()
    }

    /// Waits for the next message; returns `None` if one of this shard's has found room instead.
    pub(crate) async fn next(&mut self) -> Option<ShardMessage> {
        tokio::select! {
            // It has a sender itself, so the channel is never closed.
            message = self.received.recv() => message,
            _ = self.notifying.next() => None,
        }
    }

    /// Forwards a datagram to the shard whose session it is for; returns whether there was room.
    pub(crate) fn forward(&self, shard: u16, from: SocketAddr, bytes: &[u8]) -> bool {
        let to = self.shards.get(usize::from(shard));
        to.and_then(|to| to.try_reserve().ok())
            .map(|place| place.send(ShardMessage::Datagram { from, bytes: bytes.to_vec() }))
            .is_some()
    }

    /// Asks a shard for the state of a session; the answer is `None` if there is no such session, or no such shard any more.
    pub(crate) fn fetch(
        &self,
        shard: u16,
        id: [u8; SESSION_ID],
    ) -> impl Future<Output = Result<Option<SessionState>, Busy>> + use<> {
        let (answer, answered) = oneshot::channel();
        let sent =
            self.shards.get(usize::from(shard)).map(|to| to.try_send(ShardMessage::Fetch { id, answer }));
        let busy = matches!(sent, Some(Err(TrySendError::Full(_))));
        async move { if busy { Err(Busy) } else { Ok(answered.await.ok().flatten()) } }
    }

    /// Returns whether the others may be told to forget another session.
    pub(crate) fn may_forget(&self) -> bool {
        self.notifying.len() < NOTIFYING
    }

    /// Tells all others, as soon as there is room, that a session can no longer be resumed.
    pub(crate) fn forget(&mut self, id: [u8; SESSION_ID]) {
        let others = (0..).zip(&self.shards).filter(|(number, _)| *number != self.number);
        for (_, to) in others {
            // A shard that is gone has nothing to forget.
            if let Err(TrySendError::Full(message)) = to.try_send(ShardMessage::Forget { id }) {
                let to = to.clone();
                self.notifying.begin(async move { drop(to.send(message).await) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_too_much_is_dropped_but_nobody_is_kept_waiting_for_an_answer_in_vain() {
        let from = "127.0.0.1:7".parse().unwrap();
        let [first, mut second] = ShardChannel::all(2).try_into().ok().unwrap();
        for n in 0..WAITING {
            assert!(first.forward(1, from, &[n as u8]));
        }
        assert!(!first.forward(1, from, b"one more"));
        assert!(!first.forward(2, from, b"to nobody"));
        assert_eq!(first.fetch(1, [0; SESSION_ID]).await.err(), Some(Busy));
        for n in 0..WAITING {
            let Some(ShardMessage::Datagram { bytes, .. }) = second.next().await else {
                panic!("a datagram was passed")
            };
            assert_eq!(bytes, [n as u8]);
        }
        let asked = first.fetch(1, [7; SESSION_ID]);
        let Some(ShardMessage::Fetch { id: [7, ..], answer }) = second.next().await else {
            panic!("it was asked")
        };
        answer.send(Some((Zeroizing::new(vec![1]), Duration::from_secs(1)))).unwrap();
        assert_eq!(asked.await.unwrap().unwrap().0[..], [1]);
        let asked = first.fetch(1, [8; SESSION_ID]);
        drop(second);
        assert!(asked.await.unwrap().is_none(), "whoever is gone keeps nothing");
    }

    #[tokio::test]
    async fn what_is_to_be_forgotten_waits_for_a_shard_that_does_not_hear() {
        let [mut first, mut second, third] = ShardChannel::all(3).try_into().ok().unwrap();
        drop(third);
        let most = WAITING + NOTIFYING;
        let id =
            |n: usize| std::array::from_fn(|place| n.to_be_bytes().get(place).copied().unwrap_or_default());
        for n in 0..most {
            assert!(first.may_forget());
            first.forget(id(n));
        }
        assert!(!first.may_forget());
        let mut forgotten = Vec::new();
        while forgotten.len() < most {
            tokio::select! {
                Some(ShardMessage::Forget { id }) = second.next() => forgotten.push(id),
                told = first.next() => assert!(told.is_none() && first.may_forget()),
            }
        }
        forgotten.sort_unstable();
        assert!(forgotten.into_iter().eq((0..most).map(id)));
    }
}
