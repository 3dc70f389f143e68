//! Who observes which topic ([RFC 7641](https://www.rfc-editor.org/rfc/rfc7641)).

use std::collections::{BTreeMap, BTreeSet};

use sixlock_base::{Duration, Instant};
use sixlock_coap::{Notice, Observation};
use sixlock_endpoint::{PeerId, Token};

use crate::answer::Answer;
use crate::ids::{Holder, Topic};
use crate::observation_id::ObservationId;
use crate::observed::Observed;
use crate::observed_topics::ObservedTopics;
use crate::peer::Peer;
use crate::work::Work;

/// The most of one peer.
const OF_ONE_PEER: usize = 8;

/// Something to be found out for an observation.
#[derive(Debug)]
pub(crate) struct PendingQuery<R> {
    pub(crate) id: ObservationId,
    /// How long it is to wait.
    pub(crate) wait: Duration,
    pub(crate) peer: Peer,
    pub(crate) request: R,
}

struct Observer<R> {
    serial: u64,
    /// Whether the peer may observe it, which is known from the first answer on.
    is_admitted: bool,
    /// As whose it counts.
    holder: Option<Holder>,
    peer: Peer,
    request: R,
    topic: Topic,
    observation: Observation,
    /// It is being answered or notified, or its notification is to be acknowledged.
    busy: bool,
    /// It has to be notified after that.
    is_stale: bool,
}

/// The observations, a few of each peer, and of each device and user. When there are too many of a peer or in all, another is not taken: its
/// request is answered as if it did not ask to observe. Of a device or user, another takes the place of the oldest, wherever that comes
/// from, and the peer of that is told no more.
pub(crate) struct Observers<R> {
    /// How many there may be.
    limit: usize,
    known: BTreeMap<(PeerId, Token), Observer<R>>,
    serial: u64,
    /// Those of each device and user, here and at other shards.
    observed: Observed,
    /// Which shard this is.
    shard: usize,
    topics: ObservedTopics,
    /// What observers are to be told: of each observation one notification at a time. That of one which is over waits for its time
    /// all the same, so when there are as many notifications as there may be observations, no other is taken either.
    pub(crate) notifications: Work<(ObservationId, Answer)>,
}

impl<R: Clone> Observers<R> {
    /// None yet, and at most `limit`; how many there are of each device and user stands in `observed`.
    pub(crate) fn new(limit: usize, observed: Observed) -> Self {
        let (shard, topics) = (observed.shard(), ObservedTopics::default());
        Self { limit, known: BTreeMap::new(), serial: 0, observed, shard, topics, notifications: Work::new() }
    }

    /// What is observed here.
    pub(crate) const fn topics(&self) -> &ObservedTopics {
        &self.topics
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Takes up an observation whose first answer is being found; it takes the place of one with the same token.
    pub(crate) fn register(
        &mut self,
        now: Instant,
        (peer_id, token): (PeerId, Token),
        topic: Topic,
        peer: &Peer,
        request: &R,
    ) -> Option<ObservationId> {
        self.remove(peer_id, token);
        self.end_displaced();
        let most = self.known.len().max(self.notifications.len());
        if most >= self.limit || self.of(peer_id).len() >= OF_ONE_PEER {
            return None;
        }
        self.serial += 1;
        let observer = Observer {
            serial: self.serial,
            is_admitted: false,
            holder: None,
            peer: peer.clone(),
            request: request.clone(),
            topic,
            observation: Observation::new(now),
            busy: true,
            is_stale: false,
        };
        self.topics.begin(topic);
        self.known.insert((peer_id, token), observer);
        Some(ObservationId { peer: peer_id, token, serial: self.serial })
    }

    /// An observation was found to be of what its peer may read: it counts as one of `holder`, if that is known.
    pub(crate) fn admit(&mut self, id: ObservationId, holder: Option<Holder>) {
        let topics = self.topics.clone();
        let Some(observer) = self.get(id).filter(|observer| !observer.is_admitted) else { return };
        observer.is_admitted = true;
        observer.is_stale |= topics.admit(observer.topic);
        observer.holder = holder;
        let Some(holder) = holder else { return };
        self.observed.add(holder, self.shard, id);
        self.end_displaced();
    }

    /// Ends an observation.
    pub(crate) fn remove(&mut self, peer: PeerId, token: Token) {
        let Some(Observer { serial, is_admitted, holder, topic, .. }) = self.known.remove(&(peer, token))
        else {
            return;
        };
        self.topics.end(topic, is_admitted);
        if let Some(holder) = holder {
            self.observed.remove(holder, self.shard, ObservationId { peer, token, serial });
        }
    }

    /// Ends the observations whose place others have taken.
    fn end_displaced(&mut self) {
        for id in self.observed.ended(self.shard) {
            self.end(id);
        }
    }

    /// Ends an observation, unless another has taken its place.
    pub(crate) fn end(&mut self, id: ObservationId) {
        if self.get(id).is_some() {
            self.remove(id.peer, id.token);
        }
    }

    /// Ends the observations of a peer.
    pub(crate) fn forget(&mut self, peer: PeerId) {
        for token in self.of(peer) {
            self.remove(peer, token);
        }
    }

    /// The topics have changed: what is to be found out now.
    pub(crate) fn on_changed(&mut self, now: Instant, topics: &BTreeSet<Topic>) -> Vec<PendingQuery<R>> {
        self.end_displaced();
        let observers = self.known.iter_mut().filter(|(_, observer)| topics.contains(&observer.topic));
        observers.filter_map(|(&key, observer)| observer.change(now, key)).collect()
    }

    /// How a notification is to be sent that is there now; nothing if it is of no use any more.
    pub(crate) fn notice(&mut self, now: Instant, id: ObservationId) -> Option<Notice> {
        self.get(id).map(|observer| observer.observation.notify(now))
    }

    /// An observation was answered or notified: what is to be found out for it next.
    pub(crate) fn on_notified(
        &mut self,
        now: Instant,
        peer: PeerId,
        token: Token,
    ) -> Option<PendingQuery<R>> {
        let observer = self.known.get_mut(&(peer, token))?;
        observer.busy = false;
        if observer.is_stale { observer.change(now, (peer, token)) } else { None }
    }

    fn get(&mut self, id: ObservationId) -> Option<&mut Observer<R>> {
        self.known.get_mut(&(id.peer, id.token)).filter(|observer| observer.serial == id.serial)
    }

    fn of(&self, peer: PeerId) -> Vec<Token> {
        let from = self.known.range((peer, Token::default())..);
        from.map(|(&key, _)| key).take_while(|(other, _)| *other == peer).map(|(_, token)| token).collect()
    }
}

impl<R: Clone> Observer<R> {
    fn change(&mut self, now: Instant, (peer, token): (PeerId, Token)) -> Option<PendingQuery<R>> {
        self.is_stale = self.busy;
        if self.busy {
            return None;
        }
        self.busy = true;
        let id = ObservationId { peer, token, serial: self.serial };
        let wait = self.observation.wait(now);
        Some(PendingQuery { id, wait, peer: self.peer.clone(), request: self.request.clone() })
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use sixlock_coap_msg::Code;
    use sixlock_endpoint::{Config, Endpoint, Transport};
    use tokio::sync::oneshot;

    use super::*;
    use crate::host_context::HostContext;
    use crate::ids::DeviceId;
    use crate::machine::CoapEndpoint;

    /// An endpoint that clients ask without a session.
    struct Asked {
        context: HostContext,
        endpoint: CoapEndpoint,
    }

    impl Asked {
        fn new(max_plain: u32) -> Self {
            let mut context = HostContext::new();
            let config = Config { max_plain, ..Config::default() };
            Self { endpoint: Endpoint::new(&mut context.cx(), config), context }
        }

        /// A confirmable GET without a token, from this port: when it comes, what tells it from others, and who asks.
        fn get(&mut self, port: u16) -> (Instant, (PeerId, Token), Peer) {
            let from = (Ipv4Addr::LOCALHOST, port).into();
            let mut get = [0x40, 1, 0, 7];
            let asked = self.endpoint.handle(&mut self.context.cx(), Transport::Udp, from, &mut get);
            let asked = asked.request.expect("it is a request");
            let key = (asked.id.peer(), Token::of(&asked.message));
            (self.context.cx().now, key, Peer::plain(from))
        }
    }

    #[tokio::test]
    async fn notifications_of_observations_that_are_over_count_until_their_time() {
        let (now, key, peer) = Asked::new(1).get(7);
        let (mut observers, topic) = (Observers::new(2, Observed::default()), Topic(1));
        let mut waiting = Vec::new();
        for _ in 0..2 {
            let id = observers.register(now, key, topic, &peer, &()).unwrap();
            assert!(observers.on_notified(now, id.peer, id.token).is_none());
            assert_eq!(observers.on_changed(now, &BTreeSet::from([topic])).len(), 1);
            let (time, is_time) = oneshot::channel::<()>();
            observers.notifications.begin(async move {
                let _ = is_time.await;
                (id, Answer::new(Code::CONTENT))
            });
            waiting.push(time);
            observers.end(id);
        }
        assert!(observers.is_empty());
        assert!(observers.register(now, key, topic, &peer, &()).is_none());
        drop(waiting.pop());
        let (id, _) = observers.notifications.next().await.unwrap();
        assert!(observers.notice(now, id).is_none(), "there is nobody to be told any more");
        assert!(observers.register(now, key, topic, &peer, &()).is_some());
    }

    #[tokio::test]
    async fn a_change_that_is_passed_over_before_the_first_answer_is_told_after_it() {
        let (now, key, peer) = Asked::new(1).get(7);
        let (mut observers, topic) = (Observers::new(2, Observed::default()), Topic(1));
        let begin = |observers: &mut Observers<()>, looks: bool| {
            let id = observers.register(now, key, topic, &peer, &()).unwrap();
            if looks {
                assert!(!observers.topics().any(|_| true), "it may yet be refused");
            }
            observers.admit(id, None);
            observers.on_notified(now, id.peer, id.token).is_some()
        };
        assert!(!begin(&mut observers, false));
        assert!(begin(&mut observers, true));
        assert!(observers.topics().any(|observed| observed == topic));
        observers.remove(key.0, key.1);
        assert!(!observers.topics().any(|_| true));
    }

    #[tokio::test]
    async fn of_a_device_another_observation_takes_the_place_of_the_oldest_at_whatever_shard_that_is() {
        let mut asked = Asked::new(100);
        let observed = Observed::default();
        let mut shards = [(); 2].map(|()| Observers::new(64, observed.clone()));
        let mut register = |shard: usize, port: u16, device, observers: &mut [Observers<()>; 2]| {
            let (now, key, peer) = asked.get(port);
            let id = observers[shard].register(now, key, Topic(1), &peer, &()).unwrap();
            observers[shard].admit(id, Some(Holder::Device(DeviceId(device))));
            assert!(observers[shard].on_notified(now, id.peer, id.token).is_none());
            (now, id)
        };
        let (now, other) = register(0, 1, 1, &mut shards);
        let (_, first) = register(0, 2, 2, &mut shards);
        for port in 3..18 {
            register(1, port, 2, &mut shards);
        }
        assert!(shards[0].notice(now, first).is_some(), "16 of a device are taken");
        let (_, last) = register(1, 18, 2, &mut shards);
        let told = shards.each_mut().map(|shard| shard.on_changed(now, &BTreeSet::from([Topic(1)])).len());
        assert_eq!(told, [1, 16], "at the first shard, only that of the other device is left");
        assert!(shards[0].notice(now, first).is_none());
        assert!(shards[0].notice(now, other).is_some());
        // One that ends makes room for another.
        shards[1].end(last);
        let (now, _) = register(0, 19, 2, &mut shards);
        let told = shards.each_mut().map(|shard| shard.on_changed(now, &BTreeSet::from([Topic(1)])).len());
        assert_eq!(told.iter().sum::<usize>(), 1, "the new one; all others are being told");
        assert_eq!(shards.each_ref().map(|shard| shard.known.len()), [2, 15]);
    }
}
