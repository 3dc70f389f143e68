//! What devices ask by CoAP, over HTTP or CoAP.
//!
//! A device acts for its own resource: the one that the identity of its DTLS session is bound to, or over plain CoAP
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
//! `resource=` over plain CoAP the device where `id=` does not, `from=` and `until=` a span of points. To delete points, a span is
//! named or `all=true`. What a method does not ask for is 4.00.
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
mod service;
mod streams;
mod streams_data;
#[cfg(test)]
mod tests;
mod uploads;
mod users;

use sixlock_coap_msg::{Code, OptionNumber};
use sixlock_coap_server::{Answer, DeviceId, Peer};
use sixlock_store::{ResourceId, Store, StreamId, User, UserId, now_ms};
use sixlock_telemetry::{At, Event, Events, Refused};

pub(crate) use request::Request;

use crate::access::{Action, Caller, Denial, Target};
use answer::{LONGEST_BODY, for_request};
use refusal::Refusal;
use request::Kind;
use uploads::Uploads;

/// The critical options that requests may have.
pub(crate) const CRITICAL_OPTIONS: &[OptionNumber] = &[
    OptionNumber::IF_MATCH,
    OptionNumber::URI_HOST,
    OptionNumber::IF_NONE_MATCH,
    OptionNumber::URI_PORT,
    OptionNumber::URI_PATH,
    OptionNumber::URI_QUERY,
    OptionNumber::ACCEPT,
    OptionNumber::BLOCK2,
    OptionNumber::BLOCK1,
];

/// What decides: [`decide`](crate::access::decide).
type Policy = fn(Caller, Action, Target) -> Result<(), Denial>;

/// What a request is about.
struct RequestTarget {
    /// The device's resource, by whose key a request over plain CoAP is known.
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

/// Serves devices.
pub(crate) struct Devices {
    store: Store,
    events: Events,
    uploads: Uploads,
}

impl Devices {
    pub(crate) fn new(store: Store, events: Events) -> Self {
        Self { store, events, uploads: Uploads::default() }
    }

    async fn answer_under(&self, policy: Policy, peer: Peer, mut request: Request) -> Answer {
        let mut admitted = None;
        match self.outcome(policy, &peer, &mut request, &mut admitted).await {
            Ok(answer) => for_request(answer, &request),
            Err(refusal) => {
                self.report(&peer, &request, &refusal, admitted);
                (&refusal).into()
            }
        }
    }

    /// What a request is answered. What it may do, and to which resource, becomes `may`, if it may do it.
    async fn outcome(
        &self,
        policy: Policy,
        peer: &Peer,
        request: &mut Request,
        may: &mut Option<(Action, ResourceId)>,
    ) -> Result<Answer, Refusal> {
        let admitted = self.admit(policy, peer, request).await?;
        *may = Some((admitted.action, admitted.resource));
        request.check_options()?;
        request.check_arguments()?;
        let (part, about) = (request.part(), Some(DeviceId(admitted.resource.0)));
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
                None => return Ok(Answer { block1: Some(part), ..Answer::new(Code::CONTINUE) }),
            }
        }
        let answer = self.serve(admitted, peer, request).await?;
        Ok(Answer { block1: part, about, ..answer })
    }

    /// The layer in front of every handler: finds out who asks and what for, and has the policy decide.
    async fn admit(&self, policy: Policy, peer: &Peer, request: &Request) -> Result<Admitted, Refusal> {
        let place = self.place(peer, request).await;
        let caller = match (own(peer), &place) {
            (Some(own), _) => Caller::Device(own),
            (None, Ok(RequestTarget { resource: Some(named), .. })) => self.by_key(*named, request).await?,
            (None, _) => Caller::Nobody,
        };
        if caller == Caller::Nobody && place.is_err() {
            return Err(Refusal::Key);
        }
        let kind = request.kind.ok_or(Refusal::NotFound)?;
        let Some(action) = request.action() else {
            return Err(if caller == Caller::Nobody { Refusal::Key } else { Refusal::Method });
        };
        let RequestTarget { resource, target, stream, owner } = place?;
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
    async fn place(&self, peer: &Peer, request: &Request) -> Result<RequestTarget, Refusal> {
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
            _ => request.number("resource")?.map(ResourceId).or(own(peer)),
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
        Ok(RequestTarget { resource, target, stream, owner })
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

    /// Tells of a refusal to those whom it concerns. The request was `admitted` to do that to that resource, if it was.
    fn report(
        &self,
        peer: &Peer,
        request: &Request,
        refusal: &Refusal,
        admitted: Option<(Action, ResourceId)>,
    ) {
        if let Refusal::Internal(error) = refusal {
            self.events.tell(Event::Fault { at: At::Request(peer.scheme), error });
        }
        if let Some((Action::AddPoints, ResourceId(resource))) = admitted {
            let reason = &refusal.diagnostic();
            self.events.tell(Event::PostRefused { resource, scheme: peer.scheme, reason });
        }
        let reason = match refusal {
            Refusal::Key => "wrong_key",
            Refusal::AnothersResource => "anothers_resource",
            Refusal::NotForDevices => "forbidden",
            _ => return,
        };
        let mut refused = Refused::new(peer.scheme, peer.from, reason).what(request.what());
        if let Some(resource) = own(peer) {
            refused = refused.who(format!("resource {}", resource.0)).of(resource.0);
        } else if let Some(resource) = request.named_resource() {
            refused = refused.of_stranger(resource.0);
        }
        self.events.tell(Event::Refused(&refused));
    }

    /// Who asks over plain CoAP: the device of `resource`, if the request brings a key of it.
    async fn by_key(&self, resource: ResourceId, request: &Request) -> Result<Caller, Refusal> {
        let Some(given) = &request.key else { return Ok(Caller::Nobody) };
        let fits = self.store.has_key(resource, given, now_ms()).await?;
        Ok(if fits { Caller::Device(resource) } else { Caller::Nobody })
    }
}

/// The resource of a device that has proved its identity by DTLS.
fn own(peer: &Peer) -> Option<ResourceId> {
    peer.device.map(|DeviceId(resource)| ResourceId(resource))
}
