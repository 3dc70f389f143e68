//! The service behind a server.

use std::collections::BTreeSet;
use std::sync::Arc;

use sixlock_coap_msg::Message;

use crate::answer::Answer;
use crate::ids::Topic;
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

    /// Waits for changes since the last call, and returns their topics. It decides for how long changes gather.
    fn next(&mut self) -> impl Future<Output = BTreeSet<Topic>> + Send;
}
