//! What shards hand to each other. It is little: the system sends what comes from one address to one of them, whose the session
//! is then. Only a client whose address has changed comes to another.

use std::net::SocketAddr;

use sixlock_base::Duration;
use sixlock_dtls::SESSION_ID;
use sixlock_store::Secret;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use super::work::Work;

/// What waits for a shard; beyond, datagrams are dropped, and nobody asks it what is left of a session.
const WAITING: usize = 256;
/// What others are still to be told to forget: as soon as those take it of whom so much waits. Beyond, it waits in the endpoint, in the place of
/// what is to be forgotten, and with it what is to be kept.
const TELLING: usize = 1024;

/// What is left of a session, and for how long it can be resumed.
pub(super) type Left = (Secret, Duration);

/// So much waits for a shard that it cannot be asked at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Busy;

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
    /// What others are being told.
    telling: Work<()>,
}

impl Handover {
    /// One for each of `count` shards.
    pub(super) fn all(count: u16) -> Vec<Self> {
        let (shards, arrived): (Vec<_>, Vec<_>) = (0..count).map(|_| mpsc::channel(WAITING)).unzip();
        let of = |(number, arrived)| Self { number, shards: shards.clone(), arrived, telling: Work::new() };
        (0..).zip(arrived).map(of).collect()
    }

    /// What comes next from another; nothing if another has been told something instead.
    pub(super) async fn next(&mut self) -> Option<Parcel> {
        tokio::select! {
            // It has a way to itself, so there is always one that may come.
            parcel = self.arrived.recv() => parcel,
            _ = self.telling.next() => None,
        }
    }

    /// Hands a datagram over; false if it was dropped.
    pub(super) fn pass(&self, shard: u16, from: SocketAddr, bytes: &[u8]) -> bool {
        let to = self.shards.get(usize::from(shard));
        to.and_then(|to| to.try_reserve().ok())
            .map(|place| place.send(Parcel::Datagram { from, bytes: bytes.to_vec() }))
            .is_some()
    }

    /// Asks a shard what is left of a session; nothing if there is no such session there, or no such shard any more.
    pub(super) fn ask(
        &self,
        shard: u16,
        id: [u8; SESSION_ID],
    ) -> impl Future<Output = Result<Option<Left>, Busy>> + use<> {
        let (answer, answered) = oneshot::channel();
        let sent = self.shards.get(usize::from(shard)).map(|to| to.try_send(Parcel::Ask { id, answer }));
        let busy = matches!(sent, Some(Err(TrySendError::Full(_))));
        async move { if busy { Err(Busy) } else { Ok(answered.await.ok().flatten()) } }
    }

    /// Whether the others may be told to forget another session.
    pub(super) fn may_forget(&self) -> bool {
        self.telling.len() < TELLING
    }

    /// Tells all others, as soon as they take it, that a session can be resumed no more.
    pub(super) fn forget(&mut self, id: [u8; SESSION_ID]) {
        let others = (0..).zip(&self.shards).filter(|(number, _)| *number != self.number);
        for (_, to) in others {
            // Who is gone has nothing to forget.
            if let Err(TrySendError::Full(parcel)) = to.try_send(Parcel::Forget { id }) {
                let to = to.clone();
                self.telling.begin(async move { drop(to.send(parcel).await) });
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
        let [first, mut second] = Handover::all(2).try_into().ok().unwrap();
        for n in 0..WAITING {
            assert!(first.pass(1, from, &[n as u8]));
        }
        assert!(!first.pass(1, from, b"one more"));
        assert!(!first.pass(2, from, b"to nobody"));
        assert_eq!(first.ask(1, [0; SESSION_ID]).await.err(), Some(Busy));
        for n in 0..WAITING {
            let Some(Parcel::Datagram { bytes, .. }) = second.next().await else {
                panic!("a datagram was passed")
            };
            assert_eq!(bytes, [n as u8]);
        }
        let asked = first.ask(1, [7; SESSION_ID]);
        let Some(Parcel::Ask { id: [7, ..], answer }) = second.next().await else { panic!("it was asked") };
        answer.send(Some((Secret::new(vec![1]), Duration::from_secs(1)))).unwrap();
        assert_eq!(asked.await.unwrap().unwrap().0.bytes(), [1]);
        let asked = first.ask(1, [8; SESSION_ID]);
        drop(second);
        assert!(asked.await.unwrap().is_none(), "whoever is gone keeps nothing");
    }

    #[tokio::test]
    async fn what_is_to_be_forgotten_waits_for_a_shard_that_does_not_hear() {
        let [mut first, mut second, third] = Handover::all(3).try_into().ok().unwrap();
        drop(third);
        let most = WAITING + TELLING;
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
                Some(Parcel::Forget { id }) = second.next() => forgotten.push(id),
                told = first.next() => assert!(told.is_none() && first.may_forget()),
            }
        }
        forgotten.sort_unstable();
        assert!(forgotten.into_iter().eq((0..most).map(id)));
    }
}
