//! Publishing to one broker.
//!
//! Messages go out in the order in which their points were stored, so many at a time that are not acknowledged. The cursor follows what was
//! acknowledged, and a session begins with what stands behind it: what was under way when the one before ended is published again. A message
//! that no broker acknowledges (QoS 0) was taken when the broker has answered a question that was sent behind it: it reads one after the other.

use std::collections::VecDeque;
use std::time::Duration;

use sixlock_store::{BrokerPoint, BrokerProgress, BrokerToServe, Cursor, now_ms, secrets};
use sixlock_telemetry::{At, Event, Events};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::backlog::Backlog;
use super::current::Current;
use super::message::{Message, is_of, messages};
use super::packets::{Answer, PING, Publish};
use super::session::{Dialer, Session, SessionError};
use super::states::States;
use super::stopping::told_to_stop;
use super::topic::Topics;
use super::windows::{Watcher, is_behind};
use crate::Error;

/// Messages that are not acknowledged, at most: as many as brokers take at a time that are not told otherwise.
const IN_FLIGHT: usize = 20;
/// The same of messages that no broker acknowledges.
const UNTOLD: usize = 256;
/// So many bytes of messages, and the one that begins below, are sent at once.
const BATCH: usize = 1 << 16;
/// Messages that were read ahead: no more points are read while so many wait here.
const AHEAD: usize = 256;
/// How long a broker may take to acknowledge a message, and to give a sign of life when it is asked for one.
const PATIENCE: Duration = Duration::from_secs(30);
/// After how long without a packet a broker is sent one.
const PING_AFTER: Duration = Duration::from_secs(45);
/// The pause after the first failure, and the longest one, but for what chance adds.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(120);
/// A session that was this long is no failure though it ended.
const LASTED: Duration = Duration::from_secs(60);

/// How long a broker is left alone after so many failures: twice as long each time, and up to half as much again, as `spread` says.
fn pause_after(failures: u32, spread: u8) -> Duration {
    let pause = SHORTEST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(LONGEST_PAUSE);
    pause + pause * u32::from(spread) / (2 * u32::from(u8::MAX))
}

/// A message that was sent.
struct Sent {
    /// Without one, it is not acknowledged.
    id: Option<u16>,
    upto: Cursor,
    points: u64,
    since: Instant,
    is_taken: bool,
}

/// What publishes to one broker.
pub(super) struct Publisher {
    broker: BrokerToServe,
    topics: Topics,
    dialer: Dialer,
    watcher: Watcher,
    current: Current,
    states: States,
    events: Events,
    backlog: Backlog,
    /// What comes next.
    queue: VecDeque<Message>,
    /// All points up to here were published, sent or are in the queue.
    read: Cursor,
    /// Whether the broker has taken something in this session.
    has_taken: bool,
}

impl Publisher {
    /// Publishes to `broker` what is behind `progress`.
    pub(super) fn new(
        broker: BrokerToServe,
        progress: BrokerProgress,
        (dialer, watcher, current): (Dialer, Watcher, Current),
        (states, events): (States, Events),
    ) -> Self {
        let topics = Topics::new(&broker.settings.prefix, &broker.owner_name);
        Self {
            broker,
            topics,
            dialer,
            watcher,
            current,
            states,
            events,
            backlog: Backlog::new(progress),
            queue: VecDeque::new(),
            read: progress.cursor,
            has_taken: false,
        }
    }

    /// Publishes until the cloud stops.
    pub(super) async fn run(mut self, mut stopping: watch::Receiver<bool>) {
        let broker = self.broker.id.0;
        let mut failures = 0u32;
        loop {
            let begun = Instant::now();
            self.has_taken = false;
            let ended = self.session(&mut stopping).await;
            let Err(why) = ended else { return };
            failures =
                if self.has_taken || begun.elapsed() >= LASTED { 1 } else { failures.saturating_add(1) };
            let said = why.to_string();
            match &why {
                SessionError::Store(error) => self.events.tell(Event::Fault { at: At::Brokers, error }),
                _ => self.events.tell(Event::BrokerFailed { broker, failure: &said }),
            }
            self.states.change(self.broker.id, self.broker.revision, |state| {
                state.connected_since = None;
                state.last_error = Some(said);
                state.failures = failures;
            });
            let [spread] = secrets::random::<1>().unwrap_or_default();
            let until = Instant::now() + pause_after(failures, spread);
            tokio::select! {
                () = self.count_until(until) => {}
                () = told_to_stop(&mut stopping) => return,
            }
        }
    }

    /// Waits until then, and counts what comes meanwhile.
    async fn count_until(&mut self, until: Instant) {
        loop {
            let counted = self.count(false).await;
            self.tell();
            let has_more = match counted {
                Ok(has_more) => has_more,
                Err(error) => {
                    self.events.tell(Event::Fault { at: At::Brokers, error: &error });
                    return sleep_until(until).await;
                }
            };
            tokio::select! {
                changed = self.watcher.newest.changed(), if !has_more => if changed.is_err() {
                    return sleep_until(until).await;
                },
                () = std::future::ready(()), if has_more => {}
                () = sleep_until(until) => return,
            }
        }
    }

    /// A session, until it ends for the reason that is returned, or the cloud stops.
    async fn session(&mut self, stopping: &mut watch::Receiver<bool>) -> Result<(), SessionError> {
        let mut session = tokio::select! {
            session = self.dialer.connect(&self.broker, &self.broker.client_id) => session?,
            () = told_to_stop(stopping) => return Ok(()),
        };
        self.events.tell(Event::BrokerConnected { broker: self.broker.id.0 });
        self.states.change(self.broker.id, self.broker.revision, |state| {
            state.connected_since = Some(now_ms());
            (state.last_error, state.failures) = (None, 0);
        });
        self.queue.clear();
        self.read = self.backlog.progress().cursor;
        self.publish(&mut session, stopping).await?;
        session.end().await;
        Ok(())
    }

    async fn publish(
        &mut self,
        session: &mut Session,
        stopping: &mut watch::Receiver<bool>,
    ) -> Result<(), SessionError> {
        let most = if self.broker.settings.qos > 0 { IN_FLIGHT } else { UNTOLD };
        let mut in_flight: VecDeque<Sent> = VecDeque::with_capacity(most);
        let mut last_id = 0u16;
        let (mut sent_last, mut asked) = (Instant::now(), None);
        // So many were sent before the question that is asked, of those that are not acknowledged.
        let mut before_question = 0;
        let mut packets = Vec::new();
        loop {
            let has_more = self.count(true).await? | self.read_ahead().await?;
            tokio::select! {
                biased;
                () = self.current.settled() => {}
                () = told_to_stop(stopping) => return Ok(()),
            }
            // Without acknowledgements, each batch is followed by a question, and the next one waits for the answer.
            let mut may_send = self.broker.settings.qos > 0 || asked.is_none();
            while may_send
                && in_flight.len() < most
                && packets.len() < BATCH
                && let Some(message) = self.queue.pop_front()
            {
                last_id = if last_id == u16::MAX { 1 } else { last_id + 1 };
                let Message { topic, payload, upto, points } = &message;
                let id = (self.broker.settings.qos > 0).then_some(last_id);
                let retain = self.broker.settings.retain;
                Publish { topic, id, retain, payload }.append(&mut packets);
                let since = Instant::now();
                in_flight.push_back(Sent { id, upto: *upto, points: *points, since, is_taken: false });
            }
            let asks = asked.is_none() && in_flight.front().is_some_and(|sent| sent.id.is_none());
            if asks {
                packets.extend(PING);
                before_question = in_flight.len();
            }
            if !packets.is_empty() {
                session.send(&packets).await?;
                packets.clear();
                sent_last = Instant::now();
            }
            if asks {
                // The time to answer begins when all is sent, which may take long itself.
                asked = Some(sent_last);
                may_send = false;
            }
            if in_flight.is_empty() && self.queue.is_empty() {
                self.backlog.nothing_upto(self.read);
            }
            self.tell();
            let has_more =
                has_more || !self.queue.is_empty() || is_behind(self.backlog.progress().counted, self.read);
            let has_more = has_more && may_send && in_flight.len() < most;
            let unacknowledged = in_flight.front().filter(|sent| sent.id.is_some());
            let unacknowledged = unacknowledged.map(|sent| sent.since + PATIENCE);
            let silent = asked.map(|asked: Instant| asked + PATIENCE);
            let ping = (sent_last + PING_AFTER, None);
            let due = [(unacknowledged, SessionError::Unacknowledged), (silent, SessionError::Silent)];
            let due = due.into_iter().filter_map(|(at, why)| Some((at?, Some(why))));
            let (at, why) = due.chain([ping]).min_by_key(|(at, _)| *at).unwrap_or((sent_last, None));
            tokio::select! {
                answer = session.receive() => match answer? {
                    Answer::Published(id) => {
                        if let Some(sent) = in_flight.iter_mut().find(|sent| sent.id == Some(id)) {
                            sent.is_taken = true;
                        }
                        self.taken(&mut in_flight);
                    }
                    Answer::Pong => {
                        let answered = in_flight.iter_mut().take(before_question);
                        answered.for_each(|sent| sent.is_taken = true);
                        (asked, before_question) = (None, 0);
                        self.taken(&mut in_flight);
                    }
                    Answer::Connected(_) => return Err(SessionError::NotMqtt),
                },
                changed = self.watcher.newest.changed() => if changed.is_err() {
                    return Ok(());
                },
                () = std::future::ready(()), if has_more => {}
                () = sleep_until(at) => match why {
                    Some(why) => return Err(why),
                    None => {
                        session.send(&PING).await?;
                        sent_last = Instant::now();
                        asked = asked.or(Some(sent_last));
                    }
                },
                () = told_to_stop(stopping) => return Ok(()),
            }
        }
    }

    /// Moves the cursor behind what was taken, up to the first message that was not.
    fn taken(&mut self, in_flight: &mut VecDeque<Sent>) {
        while let Some(Sent { upto, points, .. }) = in_flight.pop_front_if(|sent| sent.is_taken) {
            self.backlog.published(upto, points, now_ms());
            self.has_taken = true;
        }
    }

    /// Counts the next of the points that were not counted; if nothing comes before them and there is room, they are the next in the queue. Returns
    /// whether there are more.
    async fn count(&mut self, is_connected: bool) -> Result<bool, Error> {
        let newest = *self.watcher.newest.borrow_and_update();
        let counted = self.backlog.progress().counted;
        if !is_behind(newest, counted) {
            return Ok(false);
        }
        let (points, upto) = self.watcher.next(self.broker.owner, counted, newest).await?;
        let own: Vec<&BrokerPoint> = points.iter().filter(|point| is_of(&self.broker, point)).collect();
        self.backlog.count(upto, own.len() as u64);
        if is_connected && self.read == counted && self.queue.len() < AHEAD {
            self.queue.extend(messages(self.broker.settings.format, &self.topics, &own));
            self.read = upto;
        }
        self.go_on_behind_cursor();
        Ok(is_behind(newest, upto))
    }

    /// Reads points that were counted, when it is their turn; returns whether there are more.
    async fn read_ahead(&mut self) -> Result<bool, Error> {
        let counted = self.backlog.progress().counted;
        if !self.queue.is_empty() || !is_behind(counted, self.read) {
            return Ok(false);
        }
        let (points, upto) = self.watcher.next(self.broker.owner, self.read, counted).await?;
        let upto = if is_behind(upto, counted) { counted } else { upto };
        let is_next = |point: &&BrokerPoint| is_of(&self.broker, point) && !is_behind(point.position, upto);
        let own: Vec<&BrokerPoint> = points.iter().filter(is_next).collect();
        self.queue.extend(messages(self.broker.settings.format, &self.topics, &own));
        self.read = upto;
        Ok(is_behind(counted, upto))
    }

    /// What was left out is not published.
    fn go_on_behind_cursor(&mut self) {
        let cursor = self.backlog.progress().cursor;
        if is_behind(cursor, self.read) {
            self.read = cursor;
        }
        while self.queue.pop_front_if(|message| !is_behind(message.upto, cursor)).is_some() {}
    }

    fn tell(&self) {
        let progress = self.backlog.progress();
        self.states.change(self.broker.id, self.broker.revision, |state| state.progress = progress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_get_longer_up_to_a_bound() {
        let seconds = |failures, spread| pause_after(failures, spread).as_secs_f64();
        assert_eq!(
            [1, 2, 3, 8, 9, 1000].map(|failures| seconds(failures, 0)),
            [1.0, 2.0, 4.0, 120.0, 120.0, 120.0]
        );
        assert_eq!((seconds(1, 255), seconds(9, 255)), (1.5, 180.0));
    }
}
