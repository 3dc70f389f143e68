//! What devices and users ask by CoAP.
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
//! – is for people: 4.03. In the query: `id=` names the user, resource or stream that the path is about,
//! `resource=` over plain CoAP the device where `id=` does not, `from=` and `until=` a span of points. To delete points, a span is
//! named or `all=true`. What a method does not ask for is 4.00.
//!
//! A user with a DTLS identity of their own may do by it what they may do over HTTP, as far as the scope of the identity goes. Readings, streams and points are as for
//! devices, with `resource=` where a stream is listed or made; what differs:
//!
//! | path | GET | POST | PUT | DELETE |
//! | --- | --- | --- | --- | --- |
//! | `/users` | oneself, one (`id=`) or all (`after=`) | a new one | email, role, disabled | one |
//! | `/resources` | one (`id=`), or one's own, a user's (`user=`) or everybody's (`all=true`) | a new one, with its key | what HTTP changes | one |
//!
//! An identity for one resource means that where none is named.
//!
//! All but readings is JSON or CBOR; `Accept` chooses, of points also SenML and text. An answer longer than 1024 bytes comes
//! in blocks, as a longer request may, and one of 65,536 bytes may be cut: lists go on with `after=` the last id (of a
//! stream), points with `from=` the last time, points of which come again. Each answer to a GET has an ETag, and PUT takes
//! If-Match. `/streams/data` and `/resources/data` can be observed by their `id=`: what they tell is told again when points are added, at most every three seconds.
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
mod user_accounts;
mod user_resources;
mod user_targets;
mod users;

use axum::http::Method;
use sixlock_coap_msg::{Code, OptionNumber};
use sixlock_coap_server::{Answer, DeviceId, Holder, Peer};
use sixlock_store::{IdentityAccess, ResourceId, Store, StreamId, User, UserId, now_ms};
use sixlock_telemetry::{At, Done, Event, Events, Refused};

pub(crate) use request::Request;

use crate::access::{Action, Caller, Denial, Target};
use crate::http::recorded_name;
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

/// Entries of a list that are looked at: more do not fit an answer.
const MOST_ENTRIES: i64 = 1_000;

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
    /// The resource that it is about; always one where a device asks.
    resource: Option<ResourceId>,
    stream: Option<StreamId>,
    /// The user whom it is about.
    owner: Option<User>,
    by: By,
}

/// By whom a request came that may be served.
enum By {
    Device,
    /// A user. `is_given`: a group lets them do it, who has nothing of it otherwise.
    User {
        access: IdentityAccess,
        is_given: bool,
    },
}

impl By {
    /// As whose observations and bodies in blocks it counts that a request about `resource` begins.
    fn holder(&self, resource: Option<ResourceId>) -> Option<Holder> {
        match self {
            Self::Device => resource.map(|resource| Holder::Device(DeviceId(resource.0))),
            Self::User { access, .. } => Some(Holder::User(sixlock_coap_server::UserId(access.user.id.0))),
        }
    }
}

/// The user who asks, as the policy knows them.
const fn caller(IdentityAccess { user, scope }: &IdentityAccess) -> Caller {
    Caller::User { id: user.id, role: user.role, scope: *scope }
}

/// What is known of a request by the time that it is refused.
#[derive(Default)]
struct Noted {
    /// The user who asks, if one does.
    user: Option<String>,
    /// The resource that the user asks about, and whether they have it.
    resource: Option<(ResourceId, bool)>,
    /// What it may do, and to which resource, if it may do it.
    may: Option<(Action, Option<ResourceId>)>,
}

/// What a user did, for the record.
#[derive(Default)]
struct AuditDetails {
    /// In words, where the action alone does not say it.
    actions: Option<Vec<&'static str>>,
    /// The id of what was made.
    made: Option<i64>,
}

/// Serves devices and users.
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
        let mut noted = Noted::default();
        match self.outcome(policy, &peer, &mut request, &mut noted).await {
            Ok(answer) => for_request(answer, &request),
            Err(refusal) => {
                self.report(&peer, &request, &refusal, &noted);
                (&refusal).into()
            }
        }
    }

    /// What a request is answered. What is found out of it becomes `noted`.
    async fn outcome(
        &self,
        policy: Policy,
        peer: &Peer,
        request: &mut Request,
        noted: &mut Noted,
    ) -> Result<Answer, Refusal> {
        let admitted = match peer.holder {
            Some(Holder::User(_)) => self.admit_user(policy, peer, request, noted).await?,
            _ => self.admit(policy, peer, request).await?,
        };
        noted.may = Some((admitted.action, admitted.resource));
        request.check_options()?;
        request.check_arguments(matches!(admitted.by, By::User { .. }))?;
        let (part, about) = (request.part(), admitted.by.holder(admitted.resource));
        if let Some(part) = part {
            if request.size().is_some_and(|size| size as usize > LONGEST_BODY) {
                return Err(Refusal::TooLarge);
            }
            let operation = request.operation().clone();
            let from = (&peer.association[..], about.ok_or(Refusal::NotFound)?);
            match self.uploads.take(from, operation, part, &request.payload)? {
                Some(body) => request.payload = body,
                None => return Ok(Answer { block1: Some(part), ..Answer::new(Code::CONTINUE) }),
            }
        }
        let answer = self.serve(policy, admitted, peer, request).await?;
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
        let resource = Some(resource.ok_or(Refusal::NotFound)?);
        Ok(Admitted { kind, action, resource, stream, owner, by: By::Device })
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

    async fn serve(
        &self,
        policy: Policy,
        admitted: Admitted,
        peer: &Peer,
        request: &Request,
    ) -> Result<Answer, Refusal> {
        let Admitted { kind, action, resource, stream, owner, by } = admitted;
        let By::User { access, is_given } = by else {
            let resource = resource.ok_or(Refusal::NotFound)?;
            return self.serve_device((kind, action), (resource, stream, owner), peer, request).await;
        };
        let (answer, deed) = match kind {
            Kind::Users => self.serve_users(policy, action, (&access, owner), request).await?,
            Kind::Resources => {
                self.serve_resources(action, (&access, is_given), (owner, resource), request).await?
            }
            Kind::ResourcesData | Kind::Streams | Kind::StreamsData => {
                let about = (resource.ok_or(Refusal::NotFound)?, stream, owner);
                (self.serve_device((kind, action), about, peer, request).await?, AuditDetails::default())
            }
        };
        self.record((action, deed), (&access.user, peer), (resource, request));
        Ok(answer)
    }

    /// Tells what a user has done, if that matters to security.
    fn record(
        &self,
        (action, AuditDetails { actions, made }): (Action, AuditDetails),
        (user, peer): (&User, &Peer),
        (resource, request): (Option<ResourceId>, &Request),
    ) {
        // That something is removed, these actions say themselves.
        let name = || recorded_name(action, &Method::POST).into_iter().collect();
        let what = made.map_or_else(|| request.path(), |made| format!("{} id={made}", request.path()));
        for action in actions.unwrap_or_else(name) {
            let done = Done::new(peer.scheme, action).from(peer.from.into()).who(&user.username).what(&what);
            let done = match resource {
                Some(ResourceId(resource)) => done.of(resource),
                None => done,
            };
            self.events.tell(Event::Done(&done));
        }
    }

    /// Serves what a device may ask, and what a user asks in the same way.
    async fn serve_device(
        &self,
        (kind, action): (Kind, Action),
        (resource, stream, owner): (ResourceId, Option<StreamId>, Option<User>),
        peer: &Peer,
        request: &Request,
    ) -> Result<Answer, Refusal> {
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

    /// Tells of a refusal to those whom it concerns.
    fn report(&self, peer: &Peer, request: &Request, refusal: &Refusal, noted: &Noted) {
        if let Refusal::Internal(error) = refusal {
            self.events.tell(Event::Fault { at: At::Request(peer.scheme), error });
        }
        if let Some((Action::AddPoints, Some(ResourceId(resource)))) = noted.may {
            let reason = &refusal.diagnostic();
            self.events.tell(Event::PostRefused { resource, scheme: peer.scheme, reason });
        }
        let reason = match (refusal, &noted.user) {
            (Refusal::Key, _) => "wrong_key",
            (Refusal::Ended, _) => "unauthenticated",
            (Refusal::AnothersResource, None) => "anothers_resource",
            (Refusal::AnothersResource | Refusal::NotForDevices | Refusal::NotForIdentity, _) => "forbidden",
            _ => return,
        };
        let mut refused = Refused::new(peer.scheme, peer.from, reason).what(request.what());
        if let Some(user) = &noted.user {
            refused = refused.who(user);
            refused = match noted.resource {
                Some((ResourceId(resource), true)) => refused.of(resource),
                Some((ResourceId(resource), false)) => refused.of_stranger(resource),
                None => refused,
            };
        } else if let Some(resource) = own(peer) {
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
    match peer.holder {
        Some(Holder::Device(DeviceId(resource))) => Some(ResourceId(resource)),
        Some(Holder::User(_)) | None => None,
    }
}
