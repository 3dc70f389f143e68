//! The service behind a server.

use std::collections::BTreeSet;
use std::sync::Arc;

use sixlock_coap_msg::{Code, Message};
use sixlock_endpoint::Unanswered;

use crate::answer::Answer;
use crate::command::Command;
use crate::ids::{CommandId, DeviceId, Topic};
use crate::observed_topics::ObservedTopics;
use crate::peer::Peer;

/// Answers requests, and tells observers of changes.
pub trait Service: Send + Sync + 'static {
    /// A request that outlives its datagram: until it is answered, and as long as its client observes.
    type Request: Clone + Send + 'static;
    /// Tells which topics have changed.
    type Changes: Changes;

    /// Reads a request whose client takes answers of at most `longest_answer` bytes.
    fn read(&self, message: &Message<'_>, longest_answer: usize) -> Self::Request;

    /// Returns the topic that is observed if this request asks to observe; `None` if it cannot be observed.
    fn topic(&self, request: &Self::Request) -> Option<Topic>;

    /// Answers a request.
    fn answer(
        self: Arc<Self>,
        peer: Peer,
        request: Self::Request,
    ) -> Answering<impl Future<Output = Answer> + Send + 'static>;

    /// Answers the request of an observer again, when its topic has changed. An answer that is no success ends the observation.
    fn notification(
        self: Arc<Self>,
        peer: Peer,
        request: Self::Request,
    ) -> impl Future<Output = Answer> + Send + 'static;

    /// Returns the changes from now on.
    fn changes(&self) -> Self::Changes;

    /// Returns whether there may be a command for a device. It is asked after each request that a device has made with success, and is
    /// to answer at once.
    fn has_command(&self, _: DeviceId) -> bool {
        false
    }

    /// Returns the next command for a device, which has just been heard; `None` if there is none, or one is under way.
    fn command(self: Arc<Self>, _: DeviceId) -> impl Future<Output = Option<Command>> + Send + 'static {
        std::future::ready(None)
    }

    /// Takes notice of what a device has answered to a command. One that it did not answer may be given again by
    /// [`Service::command`].
    fn command_ended(
        self: Arc<Self>,
        _: CommandId,
        _: Result<Code, Unanswered>,
    ) -> impl Future<Output = ()> + Send + 'static {
        std::future::ready(())
    }
}

/// How a request is answered.
pub enum Answering<F> {
    /// The answer needs no waiting.
    Now(Answer),
    /// The answer is to be waited for. What computes for long belongs to a thread of its own.
    Later(F),
}

/// Tells which topics have changed.
pub trait Changes: Send + 'static {
    /// Passes over all changes up to now.
    fn skip(&mut self);

    /// Waits for changes since the last call, and returns their topics; those that are not `observed` when it looks may be left out. It
    /// decides for how long changes gather.
    fn next(&mut self, observed: &ObservedTopics) -> impl Future<Output = BTreeSet<Topic>> + Send;
}
