//! Who observes which stream ([RFC 7641](https://www.rfc-editor.org/rfc/rfc7641)).

use std::collections::{BTreeMap, BTreeSet};

use sixlock_base::{Duration, Instant};
use sixlock_coap::{Notice, Observation};
use sixlock_endpoint::{PeerId, Token};
use sixlock_store::{ResourceId, StreamId};

use super::observed::Observed;
use super::work::Work;
use crate::coap::{Answer, Peer, Request};

/// The most of one peer.
const OF_ONE_PEER: usize = 8;

/// Which observation: no other has the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id {
    pub(super) peer: PeerId,
    pub(super) token: Token,
    serial: u64,
}

/// Something to be found out for an observation.
#[derive(Debug)]
pub(super) struct Due {
    pub(super) id: Id,
    /// How long it is to wait.
    pub(super) wait: Duration,
    pub(super) peer: Peer,
    pub(super) request: Request,
}

struct Observer {
    serial: u64,
    /// Whose stream it is. Before the first answer it is not known whether the peer may observe it.
    resource: Option<ResourceId>,
    peer: Peer,
    request: Request,
    stream: StreamId,
    observation: Observation,
    /// It is being answered or notified, or its notification is to be acknowledged.
    busy: bool,
    /// It has to be notified after that.
    changed: bool,
}

/// The observations, a few of each peer and of each resource. When there are too many of a peer or in all, another is not taken: its
/// request is answered as if it did not ask to observe. Of a resource, another takes the place of the oldest, wherever that comes
/// from, and the peer of that is told no more.
pub(super) struct Observers {
    /// How many there may be.
    limit: usize,
    known: BTreeMap<(PeerId, Token), Observer>,
    serial: u64,
    /// Those of each resource, here and at other shards.
    observed: Observed,
    /// Which shard this is.
    shard: usize,
    /// What observers are to be told: of each observation one notification at a time. That of one which is over waits for its time
    /// all the same, so when there are as many notifications as there may be observations, no other is taken either.
    pub(super) notifications: Work<(Id, Answer)>,
}

impl Observers {
    /// None yet, and at most `limit`; how many there are of each resource stands in `observed`.
    pub(super) fn new(limit: usize, observed: Observed) -> Self {
        let shard = observed.shard();
        Self { limit, known: BTreeMap::new(), serial: 0, observed, shard, notifications: Work::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Takes up an observation whose first answer is being found; it takes the place of one with the same token.
    pub(super) fn register(
        &mut self,
        now: Instant,
        (peer_id, token): (PeerId, Token),
        stream: StreamId,
        peer: &Peer,
        request: &Request,
    ) -> Option<Id> {
        self.remove(peer_id, token);
        self.end_displaced();
        let most = self.known.len().max(self.notifications.len());
        if most >= self.limit || self.of(peer_id).len() >= OF_ONE_PEER {
            return None;
        }
        self.serial += 1;
        let observer = Observer {
            serial: self.serial,
            resource: None,
            peer: peer.clone(),
            request: request.clone(),
            stream,
            observation: Observation::new(now),
            busy: true,
            changed: false,
        };
        self.known.insert((peer_id, token), observer);
        Some(Id { peer: peer_id, token, serial: self.serial })
    }

    /// An observation was found to be of a stream of `resource`, which its peer may read.
    pub(super) fn admit(&mut self, id: Id, resource: ResourceId) {
        let Some(observer) = self.get(id).filter(|observer| observer.resource.is_none()) else { return };
        observer.resource = Some(resource);
        self.observed.add(resource, self.shard, id);
        self.end_displaced();
    }

    /// Ends an observation.
    pub(super) fn remove(&mut self, peer: PeerId, token: Token) {
        let Some(Observer { serial, resource: Some(resource), .. }) = self.known.remove(&(peer, token))
        else {
            return;
        };
        self.observed.remove(resource, self.shard, Id { peer, token, serial });
    }

    /// Ends the observations whose place others have taken.
    fn end_displaced(&mut self) {
        for id in self.observed.ended(self.shard) {
            self.end(id);
        }
    }

    /// Ends an observation, unless another has taken its place.
    pub(super) fn end(&mut self, id: Id) {
        if self.get(id).is_some() {
            self.remove(id.peer, id.token);
        }
    }

    /// Ends the observations of a peer.
    pub(super) fn forget(&mut self, peer: PeerId) {
        for token in self.of(peer) {
            self.remove(peer, token);
        }
    }

    /// The streams have new points: what is to be found out now.
    pub(super) fn changed(&mut self, now: Instant, streams: &BTreeSet<StreamId>) -> Vec<Due> {
        self.end_displaced();
        let observers = self.known.iter_mut().filter(|(_, observer)| streams.contains(&observer.stream));
        observers.filter_map(|(&key, observer)| observer.change(now, key)).collect()
    }

    /// How a notification is to be sent that is there now; nothing if it is of no use any more.
    pub(super) fn notice(&mut self, now: Instant, id: Id) -> Option<Notice> {
        self.get(id).map(|observer| observer.observation.notify(now))
    }

    /// An observation was answered or notified: what is to be found out for it next.
    pub(super) fn told(&mut self, now: Instant, peer: PeerId, token: Token) -> Option<Due> {
        let observer = self.known.get_mut(&(peer, token))?;
        observer.busy = false;
        if observer.changed { observer.change(now, (peer, token)) } else { None }
    }

    fn get(&mut self, id: Id) -> Option<&mut Observer> {
        self.known.get_mut(&(id.peer, id.token)).filter(|observer| observer.serial == id.serial)
    }

    fn of(&self, peer: PeerId) -> Vec<Token> {
        let from = self.known.range((peer, Token::default())..);
        from.map(|(&key, _)| key).take_while(|(other, _)| *other == peer).map(|(_, token)| token).collect()
    }
}

impl Observer {
    fn change(&mut self, now: Instant, (peer, token): (PeerId, Token)) -> Option<Due> {
        self.changed = self.busy;
        if self.busy {
            return None;
        }
        self.busy = true;
        let id = Id { peer, token, serial: self.serial };
        let wait = self.observation.wait(now);
        Some(Due { id, wait, peer: self.peer.clone(), request: self.request.clone() })
    }
}

#[cfg(test)]
mod tests {
    use sixlock_coap_msg::Code;
    use sixlock_endpoint::{Config, Door, Endpoint};
    use tokio::sync::oneshot;

    use super::super::Lent;
    use super::super::machine::CoapEndpoint;
    use super::*;
    use sixlock_telemetry::Scheme;

    use crate::coap;

    #[tokio::test]
    async fn notifications_of_observations_that_are_over_count_until_their_time() {
        let mut lent = Lent::new();
        let mut endpoint: CoapEndpoint =
            Endpoint::new(&mut lent.cx(), Config { max_plain: 1, ..Config::default() });
        let from = "127.0.0.1:7".parse().unwrap();
        // A confirmable GET without a token.
        let mut get = [0x40, 1, 0, 7];
        let asked = endpoint.handle(&mut lent.cx(), Door::Plain, from, &mut get).request.unwrap();
        let key = (asked.id.peer(), Token::of(&asked.message));
        let request = Request::read(&asked.message, asked.longest_answer);
        let association = coap::association_of(from);
        let peer = Peer { scheme: Scheme::Coap, from, resource: None, association };

        let (mut observers, now, stream) =
            (Observers::new(2, Observed::default()), lent.cx().now, StreamId(1));
        let mut waiting = Vec::new();
        for _ in 0..2 {
            let id = observers.register(now, key, stream, &peer, &request).unwrap();
            assert!(observers.told(now, id.peer, id.token).is_none());
            assert_eq!(observers.changed(now, &BTreeSet::from([stream])).len(), 1);
            let (time, is_time) = oneshot::channel::<()>();
            observers.notifications.begin(async move {
                let _ = is_time.await;
                (id, Answer::bare(Code::CONTENT))
            });
            waiting.push(time);
            observers.end(id);
        }
        assert!(observers.is_empty());
        assert!(observers.register(now, key, stream, &peer, &request).is_none());
        drop(waiting.pop());
        let (id, _) = observers.notifications.next().await.unwrap();
        assert!(observers.notice(now, id).is_none(), "there is nobody to be told any more");
        assert!(observers.register(now, key, stream, &peer, &request).is_some());
    }

    #[tokio::test]
    async fn of_a_resource_another_observation_takes_the_place_of_the_oldest_at_whatever_shard_that_is() {
        let mut lent = Lent::new();
        let config = Config { max_plain: 100, ..Config::default() };
        let mut endpoint: CoapEndpoint = Endpoint::new(&mut lent.cx(), config);
        let observed = Observed::default();
        let mut shards = [(); 2].map(|()| Observers::new(64, observed.clone()));
        let mut register = |shard: usize, port: u16, resource, observers: &mut [Observers; 2]| {
            let from = (std::net::Ipv4Addr::LOCALHOST, port).into();
            let mut get = [0x40, 1, 0, 7];
            let asked = endpoint.handle(&mut lent.cx(), Door::Plain, from, &mut get).request.unwrap();
            let key = (asked.id.peer(), Token::of(&asked.message));
            let request = Request::read(&asked.message, asked.longest_answer);
            let association = coap::association_of(from);
            let peer = Peer { scheme: Scheme::Coap, from, resource: None, association };
            let now = lent.cx().now;
            let id = observers[shard].register(now, key, StreamId(1), &peer, &request).unwrap();
            observers[shard].admit(id, ResourceId(resource));
            assert!(observers[shard].told(now, id.peer, id.token).is_none());
            (now, id)
        };
        let (now, other) = register(0, 1, 1, &mut shards);
        let (_, first) = register(0, 2, 2, &mut shards);
        for port in 3..18 {
            register(1, port, 2, &mut shards);
        }
        assert!(shards[0].notice(now, first).is_some(), "16 of a resource are taken");
        let (_, last) = register(1, 18, 2, &mut shards);
        let told = shards.each_mut().map(|shard| shard.changed(now, &BTreeSet::from([StreamId(1)])).len());
        assert_eq!(told, [1, 16], "at the first shard, only that of the other resource is left");
        assert!(shards[0].notice(now, first).is_none());
        assert!(shards[0].notice(now, other).is_some());
        // One that ends makes room for another.
        shards[1].end(last);
        let (now, _) = register(0, 19, 2, &mut shards);
        let told = shards.each_mut().map(|shard| shard.changed(now, &BTreeSet::from([StreamId(1)])).len());
        assert_eq!(told.iter().sum::<usize>(), 1, "the new one; all others are being told");
        assert_eq!(shards.each_ref().map(|shard| shard.known.len()), [2, 15]);
    }
}
