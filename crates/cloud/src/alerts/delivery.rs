//! Empties the outbox: one message of a channel at a time, so that one that is slow, or floods, holds up no other.

use std::collections::HashMap;
use std::time::Duration;

use sixlock_store::{ChannelId, ChannelKind, DAY_MS, Message, Store, UserId, now_ms, pause_after, secrets};
use sixlock_telemetry::{At, Event, Events};
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};

use super::tell::{SendError, Tellers};
use crate::Error;

/// Messages that are being told at the same time.
const UNDER_WAY: usize = 32;
/// Those of one user.
const OF_ONE_USER: usize = 4;
/// E-mails of one user and day, of UTC: what they say, and to whom they go, is the user's, and the operator's name is on them.
const MAILS_A_DAY: u32 = 100;
/// Those of them that ask for a code: they go where nobody has asked for them.
const CODES_A_DAY: u32 = 10;
/// When the database fails.
const AGAIN: Duration = Duration::from_secs(10);

/// The least time until the next message of the channel that has told this one.
fn pace_ms(message: &Message) -> i64 {
    match message.kind {
        ChannelKind::Webhook | ChannelKind::Ntfy => 1_000,
        // Whoever confirms an address waits for what comes there.
        ChannelKind::Email if message.event == "confirm" => 0,
        ChannelKind::Email => 10_000,
    }
}

/// A message, and whether its receiver took it.
type Ended = (Message, Result<(), SendError>);

/// Sends the messages of the outbox.
pub(crate) struct Delivery {
    store: Store,
    events: Events,
    tellers: Tellers,
    sending: JoinSet<Ended>,
    /// Messages that are being told, or whose end is not noted.
    under_way: HashMap<Id, (ChannelId, UserId)>,
    ended: Vec<(Id, Ended)>,
    mails: Mails,
}

/// How many e-mails were sent today. A cloud that is started anew counts anew.
#[derive(Default)]
struct Mails {
    day: i64,
    of_users: HashMap<UserId, MailsOfUser>,
}

#[derive(Default)]
struct MailsOfUser {
    sent: u32,
    /// Those that asked for a code.
    codes: u32,
}

impl Mails {
    /// Counts another of a user, at the time `now`; false if there were as many already as may be.
    fn count(&mut self, user: UserId, asks_for_code: bool, now: i64) -> bool {
        let day = now.div_euclid(DAY_MS);
        if self.day != day {
            self.day = day;
            self.of_users.clear();
        }
        let MailsOfUser { sent, codes } = self.of_users.entry(user).or_default();
        let may = *sent < MAILS_A_DAY && !(asks_for_code && *codes >= CODES_A_DAY);
        *sent += u32::from(may);
        *codes += u32::from(may && asks_for_code);
        may
    }
}

impl Delivery {
    pub(crate) fn new(store: Store, events: Events, tellers: Tellers) -> Self {
        let (sending, under_way, ended, mails) = Default::default();
        Self { store, events, tellers, sending, under_way, ended, mails }
    }

    /// Sends messages until the cloud stops. Messages that are under way then are sent again by the next cloud.
    pub(crate) async fn run(mut self, mut stopping: watch::Receiver<bool>) {
        loop {
            let wait = match self.note().await {
                Ok(()) => self.begin().await,
                Err(error) => Err(error),
            };
            let wait = wait.unwrap_or_else(|error| {
                self.events.tell(Event::Fault { at: At::Alerts, error: &error });
                Some(AGAIN)
            });
            tokio::select! {
                Some(ended) = self.sending.join_next_with_id() => self.ended(ended),
                () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {}
                () = self.store.outbox_filled() => {}
                _ = stopping.wait_for(|stopping| *stopping) => break,
            }
        }
        self.sending.shutdown().await;
    }

    /// Begins to tell what may be told now, and returns when the next channel may.
    async fn begin(&mut self) -> Result<Option<Duration>, Error> {
        let now = now_ms();
        for message in self.store.messages().await? {
            if message.next_try > now {
                let wait = message.next_try.saturating_sub(now);
                return Ok(Some(Duration::from_millis(wait.unsigned_abs())));
            }
            let is_busy = self.under_way.values().any(|(channel, _)| *channel == message.channel);
            let of_user = self.under_way.values().filter(|(_, owner)| *owner == message.owner).count();
            if is_busy || of_user >= OF_ONE_USER || self.under_way.len() >= UNDER_WAY {
                continue;
            }
            let (tellers, channel, owner) = (self.tellers.clone(), message.channel, message.owner);
            let may = message.kind != ChannelKind::Email
                || self.mails.count(owner, message.event == "confirm", now);
            let task = self.sending.spawn(async move {
                let sent = match may {
                    true => tellers.tell(&message, now_ms()).await,
                    false => Err(SendError::TooManyMails),
                };
                (message, sent)
            });
            self.under_way.insert(task.id(), (channel, owner));
        }
        Ok(None)
    }

    /// A message was told, or not: that is still to be noted, and until then its channel tells nothing else.
    fn ended(&mut self, ended: Result<(Id, Ended), JoinError>) {
        match ended {
            Ok((id, ended)) => self.ended.push((id, ended)),
            // It panicked, which costs a try that is not counted.
            Err(error) => drop(self.under_way.remove(&error.id())),
        }
    }

    /// Notes the outcome of each message that has ended. An outcome that cannot be noted is kept for the next time.
    async fn note(&mut self) -> Result<(), Error> {
        while let Some((id, (message, sent))) = self.ended.last() {
            let (now, channel) = (now_ms(), message.channel.0);
            match sent {
                Ok(()) => {
                    self.store.sent(message, now, now.saturating_add(pace_ms(message))).await?;
                    self.events.tell(Event::MessageSent { channel, failure: None, given_up: 0 });
                }
                Err(why) => {
                    let [spread] = secrets::random::<1>().unwrap_or_default();
                    let next_try = now.saturating_add(pause_after(message.failures, spread));
                    let why = why.to_string();
                    let given_up = self.store.not_told(message, &why, now, next_try).await?;
                    self.events.tell(Event::MessageSent { channel, failure: Some(&why), given_up });
                }
            }
            self.under_way.remove(id);
            self.ended.pop();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_user_and_day_so_many_mails_are_sent() {
        let (mut mails, ann, bob) = (Mails::default(), UserId(1), UserId(2));
        assert!((0..10).all(|_| mails.count(ann, true, 5)));
        assert!(!mails.count(ann, true, 5), "more codes than may be");
        assert!((10..100).all(|_| mails.count(ann, false, 5)));
        assert!(!mails.count(ann, false, DAY_MS - 1));
        assert!(mails.count(bob, false, 6));
        assert!(mails.count(ann, true, DAY_MS));
    }
}
