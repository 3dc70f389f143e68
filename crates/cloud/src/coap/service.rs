//! Requests from the CoAP server.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use sixlock_coap_msg::{Code, ContentFormat, Message};
use sixlock_coap_server::{
    Answer, Answering, Changes, Command, CommandId, DeviceId, ObservedTopics, Peer, Service, Topic,
    Unanswered,
};
use sixlock_store::{CommandOutcome, Cursor, ResourceId, Store};
use sixlock_telemetry::{At, Event, Events};

use super::answer::for_request;
use super::request::{Observable, Request};
use super::{Devices, discovery};
use crate::{Error, access, commands};

/// How long points gather before observers are told of them: however fast points come, observers are not looked through more often.
const GATHERING: Duration = Duration::from_millis(50);

impl Service for Devices {
    type Request = Request;
    type Changes = NewPoints;

    fn read(&self, message: &Message<'_>, longest_answer: usize) -> Request {
        Request::read(message, longest_answer)
    }

    fn topic(&self, request: &Request) -> Option<Topic> {
        request.observable().map(topic)
    }

    /// A post is answered with 2.04 after the commit that stores it.
    fn answer(
        self: Arc<Self>,
        peer: Peer,
        request: Request,
    ) -> Answering<impl Future<Output = Answer> + Send + 'static> {
        match discovery::answer(&request) {
            Some(shown) => Answering::Now(match shown {
                Ok(answer) => for_request(answer, &request),
                Err(refusal) => (&refusal).into(),
            }),
            None => Answering::Later(async move { self.answer_under(access::decide, peer, request).await }),
        }
    }

    async fn notification(self: Arc<Self>, peer: Peer, request: Request) -> Answer {
        self.answer_under(access::decide, peer, request).await
    }

    fn has_command(&self, DeviceId(resource): DeviceId) -> bool {
        self.store.has_command(ResourceId(resource))
    }

    async fn command(self: Arc<Self>, DeviceId(resource): DeviceId) -> Option<Command> {
        let next = commands::next(&self.store, &self.events, ResourceId(resource)).await?;
        Some(Command {
            id: CommandId(next.id.0),
            code: Code::PUT,
            path: vec![commands::ACTUATORS.to_owned(), next.actuator.clone()],
            format: ContentFormat::SENML_JSON,
            payload: commands::payload(&next),
        })
    }

    async fn command_ended(self: Arc<Self>, CommandId(id): CommandId, result: Result<Code, Unanswered>) {
        let outcome = match result {
            Ok(code) => commands::answered(code),
            Err(Unanswered::Rejected) => CommandOutcome::Rejected,
            Err(Unanswered::TimedOut) => CommandOutcome::Unanswered,
        };
        commands::note(&self.store, &self.events, sixlock_store::CommandId(id), outcome).await;
    }

    fn changes(&self) -> NewPoints {
        let feed = self.store.changes();
        let last = feed.end();
        NewPoints { store: self.store.clone(), events: self.events.clone(), feed, last }
    }
}

/// What is observed, as a number: ids are not negative, so those of streams and of resources are told apart.
const fn topic(observable: Observable) -> Topic {
    match observable {
        Observable::Stream(stream) => Topic(stream.0),
        Observable::Resource(resource) => Topic(!resource.0),
    }
}

/// Whether it is a resource that is observed.
const fn is_of_resource(Topic(topic): Topic) -> bool {
    topic < 0
}

/// The streams that have new points, and, while a resource is observed by whoever may read it, their resources.
pub(crate) struct NewPoints {
    store: Store,
    events: Events,
    feed: sixlock_store::Changes,
    /// The position up to which they were told.
    last: Cursor,
}

impl Changes for NewPoints {
    fn skip(&mut self) {
        self.last = self.feed.see_end();
    }

    async fn next(&mut self, observed: &ObservedTopics) -> BTreeSet<Topic> {
        // The sender lives as long as the store.
        let _ = self.feed.changed().await;
        tokio::time::sleep(GATHERING).await;
        self.topics(observed).await.unwrap_or_else(|error| {
            self.events.tell(Event::Fault { at: At::LookUp, error: &error });
            BTreeSet::new()
        })
    }
}

impl NewPoints {
    async fn topics(&mut self, observed: &ObservedTopics) -> Result<BTreeSet<Topic>, Error> {
        let changed = self.store.changes_since(self.last).await?;
        let streams: Vec<_> = changed.streams.iter().map(|change| change.stream).collect();
        let resources = match observed.any(is_of_resource) {
            true => self.store.resources_of_streams(&streams).await?,
            false => Vec::new(),
        };
        self.last = changed.upto;
        let streams = streams.into_iter().map(Observable::Stream);
        Ok(streams.chain(resources.into_iter().map(Observable::Resource)).map(topic).collect())
    }
}
