//! Testing a broker: whether it takes a message.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use sixlock_store::{BrokerId, BrokerToServe, UserId, now_ms};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use utoipa::ToSchema;

use super::packets::{Answer, PING, Publish};
use super::session::{Dialer, SessionError};
use super::topic::Topics;

/// The least time between two tests of a broker.
const BETWEEN_TESTS_MS: i64 = 10_000;
/// Tests at the same time, and those of one user.
const TESTS: usize = 16;
const OF_ONE_USER: usize = 2;
/// How long a broker may take to answer what it is sent.
const PATIENCE: Duration = Duration::from_secs(5);

/// What came of a test.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Tested {
    /// Where the message was published
    topic: String,
    /// Whether the broker took it; without acknowledgements (QoS 0), whether it was still there afterwards
    taken: bool,
    /// What the broker said, or why it said nothing
    said: String,
}

/// Tests brokers. Clones share the limits.
#[derive(Clone)]
pub(crate) struct Tester {
    dialer: Dialer,
    turns: Arc<Semaphore>,
    /// Of whom brokers are being tested, each as often as there are.
    testing: Arc<Mutex<Vec<UserId>>>,
    last: Arc<Mutex<HashMap<BrokerId, i64>>>,
}

/// A test that is under way.
struct Turn<'a> {
    tester: &'a Tester,
    user: UserId,
    _permit: SemaphorePermit<'a>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut testing = self.tester.testing();
        if let Some(place) = testing.iter().position(|user| *user == self.user) {
            testing.swap_remove(place);
        }
    }
}

impl Tester {
    pub(crate) fn new(dialer: Dialer) -> Self {
        Self { dialer, turns: Arc::new(Semaphore::new(TESTS)), testing: Arc::default(), last: Arc::default() }
    }

    fn testing(&self) -> MutexGuard<'_, Vec<UserId>> {
        self.testing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a test of a broker of `user`; nothing if too many are under way.
    fn turn(&self, user: UserId) -> Option<Turn<'_>> {
        let permit = self.turns.try_acquire().ok()?;
        let mut testing = self.testing();
        if testing.iter().filter(|of| **of == user).count() >= OF_ONE_USER {
            return None;
        }
        testing.push(user);
        Some(Turn { tester: self, user, _permit: permit })
    }

    /// Whether the broker may be tested at the time `now`, which counts as a test of it.
    fn may(&self, broker: BrokerId, now: i64) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.retain(|_, at| (0..BETWEEN_TESTS_MS).contains(&(now - *at)));
        match last.entry(broker) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(now);
                true
            }
        }
    }

    /// Publishes a test message to `broker`; nothing if it was tested lately, or too many are.
    pub(crate) async fn test(&self, broker: &BrokerToServe) -> Option<Tested> {
        let _turn = self.turn(broker.owner)?;
        if !self.may(broker.id, now_ms()) {
            return None;
        }
        let topic = Topics::new(&broker.settings.prefix, &broker.owner_name).test();
        let published = self.publish(broker, &topic).await;
        let said = match (&published, broker.settings.qos) {
            (Ok(()), 0) => {
                "the broker took the connection; without acknowledgements (QoS 0), it says no more".into()
            }
            (Ok(()), _) => "the broker acknowledged the message".into(),
            (Err(why), _) => why.to_string(),
        };
        Some(Tested { topic, taken: published.is_ok(), said })
    }

    async fn publish(&self, broker: &BrokerToServe, topic: &str) -> Result<(), SessionError> {
        // Under the same name, the broker would end the session in which readings are published.
        let client_id = format!("{}-test", broker.client_id);
        let mut session = self.dialer.connect(broker, &client_id).await?;
        let id = (broker.settings.qos > 0).then_some(1);
        let payload = format!("{{\"test\":true,\"time\":{}}}", now_ms());
        let mut packets = Vec::new();
        Publish { topic, id, retain: false, payload: payload.as_bytes() }.append(&mut packets);
        let expected = match id {
            Some(id) => Answer::Published(id),
            None => {
                packets.extend(PING);
                Answer::Pong
            }
        };
        session.send(&packets).await?;
        let answer = timeout(PATIENCE, session.receive()).await.map_err(|_| SessionError::Unacknowledged)?;
        if answer? != expected {
            return Err(SessionError::NotMqtt);
        }
        session.end().await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pollers::{Guard, Purpose};

    fn tester() -> Tester {
        Tester::new(Dialer::new(Guard::new(Purpose::Brokers, vec![], vec![])).unwrap())
    }

    #[test]
    fn no_user_takes_the_turns_of_all() {
        let tester = tester();
        let mut of_ann: Vec<_> = (0..OF_ONE_USER).map(|_| tester.turn(UserId(1)).unwrap()).collect();
        for _ in 0..TESTS {
            assert!(tester.turn(UserId(1)).is_none());
        }
        of_ann.pop();
        of_ann.push(tester.turn(UserId(1)).unwrap());
        let others = (2..).map(UserId).take(TESTS - OF_ONE_USER);
        let others: Vec<_> = others.map(|user| tester.turn(user).unwrap()).collect();
        assert!(tester.turn(UserId(99)).is_none(), "there are as many as there may be");
        drop((of_ann, others));
        assert!(tester.testing().is_empty());
    }

    #[test]
    fn a_broker_is_tested_once_in_ten_seconds() {
        let tester = tester();
        let (one, other) = (BrokerId(1), BrokerId(2));
        assert!(tester.may(one, 0) && tester.may(other, 0));
        assert!(!tester.may(one, BETWEEN_TESTS_MS - 1));
        assert!(tester.may(one, BETWEEN_TESTS_MS));
        assert_eq!(tester.last.lock().unwrap().len(), 1, "what is over is forgotten");
    }
}
