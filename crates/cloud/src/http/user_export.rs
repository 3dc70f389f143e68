//! `/users/{user}/export`: all that is kept of a user, but for secrets, as lines of JSON that are read and sent a part at a time.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sixlock_store::{
    Alert, Channel, Command, ComputedStream, Credential, FollowedStream, GroupDetails, GroupOfResource,
    HOUR_MS, Listing, LogLine, Membership, NamedProfile, OidcLink, Parser, PointId, Poller, Quotas, Resource,
    ResourceId, Retention, Rule, Sharing, Store, Stream, StreamId, Summary, Token, User, UserIdentity, Value,
    Width, Windows, now_ms,
};

use super::app::App;
use super::brokers::{self, ShownBroker};
use super::caller::{Caller, Owner};
use super::channels::shown;
use super::failure::Failure;
use super::live_access::LiveAccess;
use super::parts::{self, Parts};
use crate::Error;
use crate::brokers::States;

/// Resources that are read at a time.
const RESOURCES: i64 = 100;
/// Points of a line.
const POINTS: i64 = 1_000;

/// Before the first point of a stream.
const BEGIN: (i64, PointId) = (i64::MIN, PointId(0));

/// A line.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    User(&'a User),
    Quotas(&'a Quotas),
    Token(&'a Token),
    OidcLink(&'a OidcLink),
    Identity(&'a UserIdentity),
    Channel(&'a Channel),
    Broker(&'a ShownBroker),
    Rule(&'a Rule),
    Alert(&'a Alert),
    Profile(&'a NamedProfile),
    Group(&'a GroupDetails),
    Membership(&'a Membership),
    Resource(&'a Resource),
    GivenTo {
        resource: ResourceId,
        group: &'a GroupOfResource,
    },
    StreamGivenTo {
        stream: StreamId,
        group: &'a GroupOfResource,
    },
    Credential {
        resource: ResourceId,
        #[serde(flatten)]
        credential: &'a Credential,
    },
    Parser {
        resource: ResourceId,
        #[serde(flatten)]
        parser: &'a Parser,
    },
    Poller {
        resource: ResourceId,
        #[serde(flatten)]
        poller: &'a Poller,
    },
    Stream {
        resource: ResourceId,
        #[serde(flatten)]
        stream: &'a Stream,
        #[serde(flatten)]
        sharing: Sharing,
    },
    Followed {
        stream: StreamId,
        since: i64,
    },
    ComputedStream {
        resource: ResourceId,
        #[serde(flatten)]
        computed: &'a ComputedStream,
    },
    Command {
        resource: ResourceId,
        #[serde(flatten)]
        command: &'a Command,
    },
    Log {
        resource: ResourceId,
        #[serde(flatten)]
        line: &'a LogLine,
    },
    Retention(&'a Retention),
    /// What hours amount to whose points are not kept.
    Hours {
        stream: StreamId,
        hours: Vec<Summary>,
    },
    /// Each as time and value.
    Points {
        stream: StreamId,
        points: Vec<(i64, Value)>,
    },
}

impl Line<'_> {
    fn write(&self, to: &mut String) -> Result<(), Error> {
        let line = serde_json::to_string(self).map_err(|_| Error::Died("writer of the export"))?;
        to.push_str(&line);
        to.push('\n');
        Ok(())
    }
}

/// All that is kept of a user, as lines of JSON
///
/// The first is the user's. Each says by `type` what it is: `user`, `quotas`, `token`, `oidc_link`, `identity`, `followed`, `channel`, `broker`, `rule`, `alert`, `profile`, `group`,
/// `membership`, `resource`, `given_to`, `stream_given_to`, `credential`, `parser`, `poller`, `stream`, `computed_stream`, `command`, `log`, `retention`, `hours`, which are those of a stream whose points are not
/// kept, or `points`, which has at most 1000 of a stream, each as `[time, value]`, oldest first.
/// What is secret is not told: passwords, tokens, keys and what pollers prove themselves by. An answer that breaks off lacks the rest.
#[utoipa::path(get, path = "/users/{user}/export", tag = "users",
    responses((status = 200, body = String, content_type = "application/jsonl")))]
pub(super) async fn export(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Result<Response, Failure> {
    let access = LiveAccess::new(&app.store, &caller, None).await?;
    let kind = HeaderValue::from_static("application/jsonl");
    let name = HeaderValue::from_static("attachment; filename=\"sixlock-export.jsonl\"");
    let export = Export {
        store: app.store.clone(),
        states: app.brokers.states.clone(),
        caller,
        owner,
        has_begun: false,
        resources: VecDeque::new(),
        after: 0,
        streams: VecDeque::new(),
        hours: VecDeque::new(),
        last: BEGIN,
    };
    Ok(([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)], parts::body(access, export))
        .into_response())
}

/// What is still to be sent.
struct Export {
    store: Store,
    states: States,
    caller: Caller,
    owner: User,
    has_begun: bool,
    resources: VecDeque<Resource>,
    /// The last resource that was read.
    after: i64,
    /// Streams of the resource that was sent last.
    streams: VecDeque<Stream>,
    /// Of those some of whose points are not kept: from when on hours are to be sent, and up to when.
    hours: VecDeque<(StreamId, i64, i64)>,
    /// The last point of the first of them that was sent.
    last: (i64, PointId),
}

impl Parts for Export {
    async fn next_part(&mut self) -> Result<Option<String>, Error> {
        if !std::mem::replace(&mut self.has_begun, true) {
            return self.about_user().await.map(Some);
        }
        loop {
            if let Some(hours) = self.hours.pop_front() {
                if let Some(text) = self.hours(hours).await? {
                    return Ok(Some(text));
                }
            } else if let Some(stream) = self.streams.front().map(|stream| stream.id) {
                match self.points(stream).await? {
                    Some(text) => return Ok(Some(text)),
                    None => self.next_stream(),
                }
            } else if let Some(resource) = self.resources.pop_front() {
                return self.about_resource(&resource).await.map(Some);
            } else {
                let listing = Listing { limit: RESOURCES, after: self.after };
                self.resources = self.store.resources(self.owner.id, listing).await?.into();
                match self.resources.back() {
                    Some(last) => self.after = last.id.0,
                    None => return Ok(None),
                }
            }
        }
    }
}

impl Export {
    fn next_stream(&mut self) {
        self.streams.pop_front();
        self.last = BEGIN;
    }

    async fn about_user(&self) -> Result<String, Error> {
        let mut text = String::new();
        Line::User(&self.owner).write(&mut text)?;
        if let Some(quotas) = self.store.quotas(self.owner.id).await? {
            Line::Quotas(&quotas).write(&mut text)?;
        }
        for token in self.store.tokens(self.owner.id, now_ms()).await? {
            Line::Token(&token).write(&mut text)?;
        }
        for link in self.store.oidc_links(self.owner.id).await?.links {
            Line::OidcLink(&link).write(&mut text)?;
        }
        for identity in self.store.user_identities(self.owner.id, now_ms()).await? {
            Line::Identity(&identity).write(&mut text)?;
        }
        for FollowedStream { id: stream, since, .. } in self.store.followed(self.owner.id).await? {
            Line::Followed { stream, since }.write(&mut text)?;
        }
        for channel in self.store.channels(self.owner.id).await? {
            Line::Channel(&shown(channel, &self.caller)).write(&mut text)?;
        }
        for broker in self.store.brokers(self.owner.id).await? {
            Line::Broker(&brokers::shown(&self.store, &self.states, broker).await?).write(&mut text)?;
        }
        for rule in self.store.rules(self.owner.id).await? {
            Line::Rule(&rule).write(&mut text)?;
        }
        // All that are remembered.
        for alert in self.store.alerts(self.owner.id, None, (i64::MAX, 0)).await? {
            Line::Alert(&alert).write(&mut text)?;
        }
        for profile in self.store.profiles(self.owner.id).await? {
            Line::Profile(&profile).write(&mut text)?;
        }
        for group in self.store.groups(self.owner.id).await? {
            let details = self.store.group_details(self.owner.id, group).await?;
            Line::Group(&details).write(&mut text)?;
        }
        for membership in self.store.memberships(self.owner.id).await? {
            Line::Membership(&membership).write(&mut text)?;
        }
        Ok(text)
    }

    /// What is said of a resource and its streams; their points come next.
    async fn about_resource(&mut self, about: &Resource) -> Result<String, Error> {
        let (mut text, resource) = (String::new(), about.id);
        Line::Resource(about).write(&mut text)?;
        for group in &self.store.groups_of_resource(resource).await? {
            Line::GivenTo { resource, group }.write(&mut text)?;
        }
        for (stream, group) in &self.store.groups_of_streams(resource).await? {
            Line::StreamGivenTo { stream: *stream, group }.write(&mut text)?;
        }
        for credential in &self.store.credentials(resource, now_ms()).await? {
            Line::Credential { resource, credential }.write(&mut text)?;
        }
        for parser in &self.store.parsers(resource).await? {
            Line::Parser { resource, parser }.write(&mut text)?;
        }
        if let Some(poller) = &self.store.poller(resource).await? {
            Line::Poller { resource, poller }.write(&mut text)?;
        }
        self.streams = self.store.streams(resource).await?.into();
        let mut shared = self.store.sharing(resource).await?;
        for stream in &self.streams {
            let sharing = shared.remove(&stream.id).unwrap_or_default();
            Line::Stream { resource, stream, sharing }.write(&mut text)?;
        }
        for computed in &self.store.computed_streams(resource).await? {
            Line::ComputedStream { resource, computed }.write(&mut text)?;
        }
        for command in &self.store.commands(resource).await? {
            Line::Command { resource, command }.write(&mut text)?;
        }
        for line in &self.store.resource_log(resource).await? {
            Line::Log { resource, line }.write(&mut text)?;
        }
        for retention in &self.store.retention_of(resource).await? {
            Line::Retention(retention).write(&mut text)?;
            self.hours.extend(retention.kept_from.map(|kept_from| (retention.stream, 0, kept_from)));
        }
        self.last = BEGIN;
        Ok(text)
    }

    /// The next hours of a stream whose points are not kept; nothing if there are no more.
    async fn hours(&mut self, (stream, from, until): (StreamId, i64, i64)) -> Result<Option<String>, Error> {
        let windows =
            Windows { width: Width::Span(HOUR_MS), limit: POINTS, from: Some(from), until: Some(until) };
        let hours = self.store.windows(stream, &windows).await?;
        let Some(last) = hours.last() else { return Ok(None) };
        if last.time + HOUR_MS < until {
            self.hours.push_front((stream, last.time + HOUR_MS, until));
        }
        let mut text = String::new();
        Line::Hours { stream, hours }.write(&mut text)?;
        Ok(Some(text))
    }

    /// The next points of a stream; nothing behind the last one.
    async fn points(&mut self, stream: StreamId) -> Result<Option<String>, Error> {
        let points = self.store.points_behind(stream, self.last, i64::MAX, POINTS).await?;
        let Some((id, last)) = points.last() else { return Ok(None) };
        self.last = (last.time, *id);
        let mut text = String::new();
        let points = points.into_iter().map(|(_, point)| (point.time, point.value)).collect();
        Line::Points { stream, points }.write(&mut text)?;
        Ok(Some(text))
    }
}
