//! Testing a broker: whether it takes a message.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use sixlock_store::{BrokerId, BrokerToServe, now_ms};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use utoipa::ToSchema;

use super::packets::{Answer, PING, Publish};
use super::session::{Dialer, SessionError};
use super::topic::Topics;

/// The least time between two tests of a broker.
const BETWEEN_TESTS_MS: i64 = 10_000;
/// Tests at the same time.
const TESTS: usize = 16;
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
    last: Arc<Mutex<HashMap<BrokerId, i64>>>,
}

impl Tester {
    pub(crate) fn new(dialer: Dialer) -> Self {
        Self { dialer, turns: Arc::new(Semaphore::new(TESTS)), last: Arc::default() }
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
        let _turn = self.turns.try_acquire().ok()?;
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

    #[test]
    fn a_broker_is_tested_once_in_ten_seconds() {
        let tester = Tester::new(Dialer::new(Guard::new(Purpose::Brokers, vec![], vec![])).unwrap());
        let (one, other) = (BrokerId(1), BrokerId(2));
        assert!(tester.may(one, 0) && tester.may(other, 0));
        assert!(!tester.may(one, BETWEEN_TESTS_MS - 1));
        assert!(tester.may(one, BETWEEN_TESTS_MS));
        assert_eq!(tester.last.lock().unwrap().len(), 1, "what is over is forgotten");
    }
}
