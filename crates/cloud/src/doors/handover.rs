//! What shards hand to each other. It is little: the system sends what comes from one address to one of them, whose the session
//! is then. Only a client whose address has changed comes to another.

use std::net::SocketAddr;

use sixlock_base::Duration;
use sixlock_dtls::SESSION_ID;
use tokio::sync::{mpsc, oneshot};

use crate::secrets::Secret;

/// What waits for a shard; beyond, datagrams are dropped, and what is left of a session is not found.
const WAITING: usize = 256;

/// What is left of a session, and for how long it can be resumed.
pub(super) type Left = (Secret, Duration);

/// Something for another shard.
pub(super) enum Parcel {
    /// A datagram for one of its sessions.
    Datagram { from: SocketAddr, bytes: Vec<u8> },
    /// A client of another's wants to resume the session with this id.
    Ask { id: [u8; SESSION_ID], answer: oneshot::Sender<Option<Left>> },
    /// The session with this id can be resumed no more.
    Forget { id: [u8; SESSION_ID] },
}

/// A shard's way to the others, and theirs to it.
pub(super) struct Handover {
    number: u16,
    shards: Vec<mpsc::Sender<Parcel>>,
    arrived: mpsc::Receiver<Parcel>,
}

impl Handover {
    /// One for each of `count` shards.
    pub(super) fn all(count: u16) -> Vec<Self> {
        let (shards, arrived): (Vec<_>, Vec<_>) = (0..count).map(|_| mpsc::channel(WAITING)).unzip();
        let of = |(number, arrived)| Self { number, shards: shards.clone(), arrived };
        (0..).zip(arrived).map(of).collect()
    }

    /// What comes next from another.
    pub(super) async fn next(&mut self) -> Parcel {
        match self.arrived.recv().await {
            Some(parcel) => parcel,
            // It has a way to itself, so this is never.
            None => std::future::pending().await,
        }
    }

    /// Hands a datagram over; false if it was dropped.
    pub(super) fn pass(&self, shard: u16, from: SocketAddr, bytes: &[u8]) -> bool {
        let to = self.shards.get(usize::from(shard));
        to.and_then(|to| to.try_reserve().ok())
            .map(|place| place.send(Parcel::Datagram { from, bytes: bytes.to_vec() }))
            .is_some()
    }

    /// Asks a shard what is left of a session.
    pub(super) fn ask(&self, shard: u16, id: [u8; SESSION_ID]) -> impl Future<Output = Option<Left>> + use<> {
        let (answer, answered) = oneshot::channel();
        if let Some(to) = self.shards.get(usize::from(shard)) {
            // What does not arrive is as good as nothing.
            let _ = to.try_send(Parcel::Ask { id, answer });
        }
        async { answered.await.ok().flatten() }
    }

    /// Tells all others, as soon as they take it, that a session can be resumed no more.
    pub(super) fn forget(
        &self,
        id: [u8; SESSION_ID],
    ) -> impl Iterator<Item = impl Future<Output = ()> + use<>> {
        let others = (0..).zip(&self.shards).filter(|(number, _)| *number != self.number);
        others.map(move |(_, to)| {
            let to = to.clone();
            async move {
                // Who is gone has nothing to forget.
                let _ = to.send(Parcel::Forget { id }).await;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_too_much_is_dropped_but_nobody_is_kept_waiting_for_an_answer_in_vain() {
        let from = "127.0.0.1:7".parse().unwrap();
        let [first, mut second] = Handover::all(2).try_into().ok().unwrap();
        for n in 0..WAITING {
            assert!(first.pass(1, from, &[n as u8]));
        }
        assert!(!first.pass(1, from, b"one more"));
        assert!(!first.pass(2, from, b"to nobody"));
        assert!(first.ask(1, [0; SESSION_ID]).await.is_none());
        for n in 0..WAITING {
            let Parcel::Datagram { bytes, .. } = second.next().await else { panic!("a datagram was passed") };
            assert_eq!(bytes, [n as u8]);
        }
        let asked = first.ask(1, [7; SESSION_ID]);
        let Parcel::Ask { id: [7, ..], answer } = second.next().await else { panic!("it was asked") };
        answer.send(Some((Secret::new(vec![1]), Duration::from_secs(1)))).unwrap();
        assert_eq!(asked.await.unwrap().0.bytes(), [1]);
        let asked = first.ask(1, [8; SESSION_ID]);
        let telling: Vec<_> = second.forget([9; SESSION_ID]).collect();
        assert_eq!(telling.len(), 1);
        drop(second);
        assert!(asked.await.is_none());
    }
}
