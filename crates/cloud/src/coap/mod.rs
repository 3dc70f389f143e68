//! What devices ask by CoAP, whichever door it came through.
//!
//! A device acts for its own resource: the one that the identity of its DTLS session is bound to, or at the plain door
//! the one whose key it sends as `key=`. What it does not name is that. Of another's it can do nothing (4.03).
//!
//! | path | GET | POST | PUT | DELETE |
//! | --- | --- | --- | --- | --- |
//! | `/users` | its owner's id and name | – | – | – |
//! | `/resources` | its label, mode, description | – | label, description | – |
//! | `/resources/data` | the point of each stream that arrived last | readings, as SenML | | points of all streams |
//! | `/streams` | one (`id=`) or all | a new one: label, unit, description | unit, description | one and its points |
//! | `/streams/data` | points of one | `{"value","time"?}` or some of these | | points of one |
//!
//! – is for people, by HTTP: 4.03. In the query: `id=` names the user, resource or stream that the path is about,
//! `resource=` at the plain door the device where `id=` does not, `from=` and `until=` a span of points.
//!
//! All but readings is JSON or CBOR; `Accept` chooses, of points also SenML and text. An answer longer than 1024 bytes comes
//! in blocks, as a longer request may, and one of 65,536 bytes may be cut: lists go on with `after=` the last id (of a
//! stream), points with `from=` the last time, points of which come again. Each answer to a GET has an ETag, and PUT takes
//! If-Match. `/streams/data` can be observed: what it tells is told again when points are added, at most every three seconds.
//! `/.well-known/core` tells what there is to whoever asks.

mod answer;
mod content;
mod discovery;
mod refusal;
mod request;
mod resources;
mod resources_data;
mod streams;
mod streams_data;
#[cfg(test)]
mod tests;
mod uploads;
mod users;

use std::net::SocketAddr;
use std::path::Path;

use sixlock_coap_msg::Code;
use sixlock_endpoint::Proof;
use sixlock_store::{
    Changed, Changes, Cursor, Known, ResourceId, Revocation, Store, StreamId, User, UserId, now_ms,
};
use sixlock_telemetry::{At, Event, Events, Refused, Scheme};
use tokio::sync::mpsc;

pub(crate) use answer::{Answer, LONGEST_PAYLOAD};
pub(crate) use request::Request;
pub(crate) use sixlock_store::suspended::Association;

use crate::access::{self, Action, Caller, Denial, Target};
use answer::LONGEST_BODY;
use refusal::Refusal;
use request::Kind;
use uploads::Uploads;

/// What decides: [`access::decide`].
type Policy = fn(Caller, Action, Target) -> Result<(), Denial>;

/// What a request is about.
struct Place {
    /// The device's resource, by whose key a request at the plain door is known.
    resource: Option<ResourceId>,
    target: Target,
    stream: Option<StreamId>,
    owner: Option<User>,
}

/// A request that may be served.
struct Admitted {
    kind: Kind,
    action: Action,
    resource: ResourceId,
    stream: Option<StreamId>,
    owner: Option<User>,
}

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) scheme: Scheme,
    pub(crate) from: SocketAddr,
    /// Whose DTLS session it is; nothing at the plain door, where each request brings its key.
    pub(crate) resource: Option<ResourceId>,
    /// What tells the session, or the peer without one, from all others.
    pub(crate) association: Association,
}

/// Of a peer without a session.
pub(crate) fn association_of(from: SocketAddr) -> Association {
    let (ip, scope) = match from {
        SocketAddr::V4(from) => (from.ip().to_ipv6_mapped(), 0),
        SocketAddr::V6(from) => (*from.ip(), from.scope_id()),
    };
    let mut association = Association::default();
    association[..16].copy_from_slice(&ip.octets());
    association[16..20].copy_from_slice(&scope.to_be_bytes());
    association[20..22].copy_from_slice(&from.port().to_be_bytes());
    association
}

/// The store could not tell a key, and the operator was told why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookUpFailed;

/// Serves devices. Clones share what they serve from.
#[derive(Clone)]
pub(crate) struct Devices {
    store: Store,
    events: Events,
    uploads: Uploads,
}

impl Devices {
    pub(crate) fn new(store: Store, events: Events) -> Self {
        Self { store, events, uploads: Uploads::default() }
    }

    /// The same for a shard of the doors, whose requests are counted where no other counts.
    pub(crate) fn of_shard(&self) -> Self {
        Self { events: self.events.of_shard(), ..self.clone() }
    }

    /// Whose a DTLS identity is that is proved so; nothing if there is no such identity.
    pub(crate) async fn known(&self, proof: Proof, identity: &[u8]) -> Result<Option<Known>, LookUpFailed> {
        let Ok(identity) = std::str::from_utf8(identity) else { return Ok(None) };
        self.store.known(proof, identity, now_ms()).await.map_err(|error| {
            self.events.tell(Event::Fault { at: At::LookUp, error: &error });
            LookUpFailed
        })
    }

    /// The device of this identity has proved it by a certificate that ends at `end`, in milliseconds since 1970.
    pub(crate) fn note_certificate(&self, identity: &[u8], end: i64) {
        let Ok(identity) = std::str::from_utf8(identity).map(str::to_owned) else { return };
        let (store, events) = (self.store.clone(), self.events.clone());
        tokio::spawn(async move {
            if let Err(error) = store.note_certificate(&identity, end).await {
                events.tell(Event::Fault { at: At::Credentials, error: &error });
            }
        });
    }

    /// Where the cloud keeps its data.
    pub(crate) fn directory(&self) -> &Path {
        self.store.directory()
    }

    /// The credentials that end from now on.
    pub(crate) fn revocations(&self) -> mpsc::Receiver<Revocation> {
        self.store.revocations()
    }

    /// Whom to tell what happens at the doors.
    pub(crate) fn events(&self) -> &Events {
        &self.events
    }

    /// Does what is asked and answers. A post is answered with 2.04 after the commit that stores it.
    pub(crate) async fn answer(&self, peer: Peer, request: Request) -> Answer {
        let scheme = peer.scheme;
        if let Some(answer) = self.answer_at_once(scheme, &request) {
            return answer;
        }
        let answer = self.answer_under(access::decide, peer, request).await;
        self.answered(scheme, answer)
    }

    /// Answers what needs nothing from the database.
    pub(crate) fn answer_at_once(&self, scheme: Scheme, request: &Request) -> Option<Answer> {
        let shown = discovery::show(request, request.discovery.as_ref()?);
        let answer = shown.map_or_else(|refusal| (&refusal).into(), |shown| shown.for_request(request));
        Some(self.answered(scheme, answer))
    }

    fn answered(&self, scheme: Scheme, answer: Answer) -> Answer {
        let status = u16::from(answer.code.class()) * 100 + u16::from(answer.code.detail());
        self.events.tell(Event::Answered { scheme, status });
        answer
    }

    /// What is answered to an observer by now, whose request may be served no longer.
    pub(crate) async fn notification(&self, peer: Peer, request: Request) -> Answer {
        self.answer_under(access::decide, peer, request).await
    }

    /// Returns which streams have points behind `last`.
    pub(crate) async fn changes_since(&self, last: Cursor) -> Changed {
        match self.store.changes_since(last).await {
            Ok(changed) => changed,
            Err(error) => {
                self.events.tell(Event::Fault { at: At::LookUp, error: &error });
                Changed { upto: last, streams: Vec::new() }
            }
        }
    }

    /// Returns the feed of changes.
    pub(crate) fn changes(&self) -> Changes {
        self.store.changes()
    }

    async fn answer_under(&self, policy: Policy, peer: Peer, mut request: Request) -> Answer {
        match self.outcome(policy, &peer, &mut request).await {
            Ok(answer) => answer.for_request(&request),
            Err(refusal) => {
                self.take_note(&peer, &request, &refusal);
                (&refusal).into()
            }
        }
    }

    async fn outcome(&self, policy: Policy, peer: &Peer, request: &mut Request) -> Result<Answer, Refusal> {
        let admitted = self.admit(policy, peer, request).await?;
        request.check_options()?;
        let (part, about) = (request.part(), Some(admitted.resource));
        if let Some(part) = part {
            if request.size().is_some_and(|size| size as usize > LONGEST_BODY) {
                return Err(Refusal::TooLarge);
            }
            let operation = request.operation().clone();
            match self.uploads.take(
                (&peer.association, admitted.resource),
                operation,
                part,
                &request.payload,
            )? {
                Some(body) => request.payload = body,
                None => return Ok(Answer { taken: Some(part), ..Answer::bare(Code::CONTINUE) }),
            }
        }
        let answer = self.serve(admitted, peer, request).await?;
        Ok(Answer { taken: part, about, ..answer })
    }

    /// The layer in front of every handler: finds out who asks and what for, and has [`access`] decide.
    async fn admit(&self, policy: Policy, peer: &Peer, request: &Request) -> Result<Admitted, Refusal> {
        let place = self.place(peer, request).await;
        let caller = match (peer.resource, &place) {
            (Some(own), _) => Caller::Device(own),
            (None, Ok(Place { resource: Some(named), .. })) => self.by_key(*named, request).await?,
            (None, _) => Caller::Nobody,
        };
        if caller == Caller::Nobody && place.is_err() {
            return Err(Refusal::Key);
        }
        let kind = request.kind.ok_or(Refusal::NotFound)?;
        let Some(action) = request.action() else {
            return Err(if caller == Caller::Nobody { Refusal::Key } else { Refusal::Method });
        };
        let Place { resource, target, stream, owner } = place?;
        policy(caller, action, target).map_err(|denial| match (denial, caller, target) {
            (Denial::Unauthenticated, ..) => Refusal::Key,
            (Denial::Forbidden, Caller::Device(own), Target::Resource(named)) if own == named => {
                Refusal::NotForDevices
            }
            (Denial::Forbidden, ..) => Refusal::AnothersResource,
            (Denial::Unknown, ..) => Refusal::NotFound,
        })?;
        let resource = resource.ok_or(Refusal::NotFound)?;
        Ok(Admitted { kind, action, resource, stream, owner })
    }

    /// Which resource a request is about: the one that it names, or its device's own.
    async fn place(&self, peer: &Peer, request: &Request) -> Result<Place, Refusal> {
        let id = request.number("id")?;
        let kind = request.kind.ok_or(Refusal::NotFound)?;
        let stream = match kind {
            Kind::StreamsData => Some(StreamId(id.ok_or(Refusal::Malformed("id=STREAM is missing"))?)),
            Kind::Streams => id.map(StreamId),
            _ => None,
        };
        let resource = match (kind, stream) {
            (_, Some(stream)) => self.store.resource_of_stream(stream).await?,
            (Kind::Resources | Kind::ResourcesData, _) if id.is_some() => id.map(ResourceId),
            _ => request.number("resource")?.map(ResourceId).or(peer.resource),
        };
        let owner = match (kind, resource) {
            (Kind::Users, Some(resource)) => self.store.owner_of(resource).await?,
            _ => None,
        };
        let target = match (&owner, id, resource) {
            (Some(owner), Some(id), _) if owner.id != UserId(id) => Target::User(UserId(id)),
            (_, _, Some(resource)) => Target::Resource(resource),
            (_, _, None) => Target::Unknown,
        };
        Ok(Place { resource, target, stream, owner })
    }

    async fn serve(&self, admitted: Admitted, peer: &Peer, request: &Request) -> Result<Answer, Refusal> {
        let Admitted { kind, action, resource, stream, owner } = admitted;
        match (kind, action, stream) {
            (Kind::Users, Action::ReadUser, _) => users::show(&owner.ok_or(Refusal::NotFound)?, request),
            (Kind::Resources, Action::ReadResource, _) => self.show_resource(resource, request).await,
            (Kind::Resources, Action::ChangeResource, _) => self.change_resource(resource, request).await,
            (Kind::ResourcesData, Action::ReadPoints, _) => self.latest(resource, request).await,
            (Kind::ResourcesData, Action::AddPoints, _) => self.add_readings(peer, resource, request).await,
            (Kind::ResourcesData, Action::DeletePoints, _) => self.delete_readings(resource, request).await,
            (Kind::Streams, Action::ReadStream, None) => self.list_streams(resource, request).await,
            (Kind::Streams, Action::ReadStream, Some(id)) => self.show_stream(resource, id, request).await,
            (Kind::Streams, Action::AddStream, _) => self.add_stream(resource, request).await,
            (Kind::Streams, Action::ChangeStream, Some(id)) => {
                self.change_stream(resource, id, request).await
            }
            (Kind::Streams, Action::DeleteStream, Some(id)) => self.delete_stream(id).await,
            (Kind::Streams, _, None) => Err(Refusal::Malformed("id=STREAM is missing")),
            (Kind::StreamsData, Action::ReadPoints, Some(id)) => {
                self.read_points((resource, id), request).await
            }
            (Kind::StreamsData, Action::AddPoints, Some(id)) => {
                self.add_points(peer, (resource, id), request).await
            }
            (Kind::StreamsData, Action::DeletePoints, Some(id)) => self.delete_points(id, request).await,
            _ => Err(Refusal::NotForDevices),
        }
    }

    fn take_note(&self, peer: &Peer, request: &Request, refusal: &Refusal) {
        if let Refusal::Internal(error) = refusal {
            return self.events.tell(Event::Fault { at: At::Request(peer.scheme), error });
        }
        let reason = match refusal {
            Refusal::Key => "wrong_key",
            Refusal::AnothersResource => "anothers_resource",
            Refusal::NotForDevices => "forbidden",
            _ => return,
        };
        let mut refused = Refused::new(peer.scheme, peer.from, reason).what(request.what());
        if let Some(resource) = peer.resource {
            refused = refused.who(format!("resource {}", resource.0));
        }
        self.events.tell(Event::Refused(&refused));
    }

    /// Who asks at the plain door: the device of `resource`, if the request brings a key of it.
    async fn by_key(&self, resource: ResourceId, request: &Request) -> Result<Caller, Refusal> {
        let Some(given) = &request.key else { return Ok(Caller::Nobody) };
        let fits = self.store.has_key(resource, given, now_ms()).await?;
        Ok(if fits { Caller::Device(resource) } else { Caller::Nobody })
    }
}
