//! The layer in front of every handler. It finds out who asks, resolves the user, resource, stream, parser, rule, alert, channel, broker and group
//! that the path names, and the stream that it names by its id alone, has [`crate::access`] decide, and hands the handler only what the caller may have. A handler cannot reach
//! anything else by a name in its path.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::RequestExt;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{ConnectInfo, MatchedPath, RawPathParams, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header, uri::Authority};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sixlock_store::{
    Alert, Broker, Channel, Parser, Resource, ResourceId, Role, Rule, SignedIn, Stream, User, UserGroup,
    UserId, WantedStream, now_ms,
};
use sixlock_telemetry::{At, Client, Event, Refused, Scheme};

use super::actions::action;
use super::app::App;
use super::body_deadline::{MinimumRate, TooSlow, with_deadline};
use super::body_limits::longest_body;
use super::caller::{COOKIE, Caller, Given, Owner, ReadAs, Shared, for_policy, is_strangers};
use super::connections::Permit;
use super::cookies::cookie_of;
use super::failure::{Failure, Fault, Reason, Refusal};
use super::openapi::Document;
use super::paths::API;
use super::query::check_query;
use super::reach::Reach;
use super::recorded;
use super::strangers::Turn;
use crate::Error;
use crate::access::{self, Action, Denial, Target};

/// Who asks for what, and whether they may.
struct Admission {
    caller: Option<Caller>,
    action: Option<Action>,
    /// Holds a stranger's turn, if a stranger asks for public streams.
    outcome: Result<Option<Turn>, Failure>,
}

/// The layer.
pub(super) async fn guard(
    State((app, document)): State<(Arc<App>, Arc<Document>)>,
    mut request: Request,
    next: Next,
) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let client = app.reach.proxies.client(peer(&request), request.headers());
    request.extensions_mut().insert(client);
    let Admission { mut caller, action, outcome } = admit(&app, &mut request).await;
    let may = outcome.is_ok();
    let resource = request.extensions().get().copied();
    if let Some(place) = request.extensions().get::<Arc<Permit>>() {
        match &caller {
            Some(caller) if !is_strangers(Some(caller)) => place.is_users(caller.user.id),
            _ => place.is_strangers(client.network()),
        }
    }
    let (_turn, outcome) = outcome.map_or_else(|failure| (None, Err(failure)), |turn| (turn, Ok(())));
    let checked =
        outcome.and_then(|()| check_length(&request)).and_then(|()| check_query(&request, &document));
    let admitted = match checked {
        // Without a body, no time has passed.
        Ok(()) if action.is_some_and(Action::is_decided_again) && !request.body().is_end_stream() => {
            admit_again(&app, request, &mut caller).await
        }
        Ok(()) => Ok(request),
        Err(failure) => Err(failure.into_response()),
    };
    let is_done_to_its_end =
        admitted.is_ok() && action.is_some_and(|action| recorded::is_done_to_its_end(action, &method));
    let asked = Asked { method, path, action, caller, client, resource, may };
    let answered = answer(app.clone(), asked, admitted, next);
    let mut response = match is_done_to_its_end {
        true => tokio::spawn(answered)
            .await
            .unwrap_or_else(|_| Failure::from(Error::Died("request")).into_response()),
        false => answered.await,
    };
    let headers = response.headers_mut();
    if app.reach.tls {
        // A browser that was here by https comes by nothing else for a year
        // (https://www.rfc-editor.org/rfc/rfc6797#section-6.1).
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
    // The dashboard says itself for how long its files may be kept. Nothing else is kept.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    response
}

/// A request that may be answered, and by whom it came.
struct Asked {
    method: Method,
    path: String,
    action: Option<Action>,
    caller: Option<Caller>,
    client: Client,
    /// The resource that the path names, if there is one.
    resource: Option<NamedResource>,
    /// Whether the caller may do this.
    may: bool,
}

/// The resource that the path names, whether the caller may do anything to it or not.
#[derive(Clone, Copy)]
struct NamedResource {
    id: ResourceId,
    /// Whether the caller has it: is its owner or an administrator, or has it by a group.
    is_callers: bool,
}

/// Serves a request, unless it is answered already, and tells what came of it.
async fn answer(
    app: Arc<App>,
    Asked { method, path, action, caller, client, resource, may }: Asked,
    admitted: Result<Request, Response>,
    next: Next,
) -> Response {
    // Its connection counts as one for as long as the request is served, though it may be closed meanwhile.
    let _place =
        admitted.as_ref().ok().and_then(|request| request.extensions().get::<Arc<Permit>>()).cloned();
    let mut response = match admitted {
        Ok(request) => serve(request, app.reach.sending, next).await,
        Err(response) => response,
    };
    if let Some(Refusal(reason)) = response.extensions_mut().remove() {
        let refused = Refused::new(Scheme::Http, client, reason).what(format!("{method} {path}"));
        let refused = match &caller {
            Some(caller) if !is_strangers(Some(caller)) => refused.who(&caller.user.username),
            _ => refused,
        };
        let refused = match resource {
            Some(NamedResource { id: ResourceId(resource), is_callers }) if !may => match is_callers {
                true => refused.of(resource),
                false => refused.of_stranger(resource),
            },
            _ => refused,
        };
        app.events.tell(Event::Refused(&refused));
    }
    let resource = resource.map(|resource| resource.id);
    if let (Some(Reason(reason)), Some(Action::AddPoints), Some(ResourceId(resource)), true) =
        (response.extensions_mut().remove(), action, resource, may)
    {
        app.events.tell(Event::PostRefused { resource, scheme: Scheme::Http, reason: &reason });
    }
    if let Some(action) = action {
        let by = (caller.as_ref(), client);
        recorded::tell(&app.events, (action, &method, &path), (by, resource), &mut response);
    }
    if let Some(Fault(error)) = response.extensions_mut().remove() {
        app.events.tell(Event::Fault { at: At::Request(Scheme::Http), error: &error });
    }
    app.events.tell(Event::Answered { scheme: Scheme::Http, status: response.status().as_u16() });
    response
}

/// Waits for the body of a request, and decides anew whether it may be served.
async fn admit_again(app: &App, request: Request, caller: &mut Option<Caller>) -> Result<Request, Response> {
    let mut request = with_whole_body(request, app.reach.sending).await?;
    let again = admit(app, &mut request).await;
    *caller = again.caller;
    match again.outcome {
        Ok(_) => Ok(request),
        Err(failure) => Err(failure.into_response()),
    }
}

/// Waits for the body of a request, or answers in its handler's place if it does not come.
async fn with_whole_body(request: Request, minimum_rate: MinimumRate) -> Result<Request, Response> {
    let longest = longest(&request);
    let (parts, body) = request.into_parts();
    let too_slow = TooSlow::default();
    match to_bytes(with_deadline(body, minimum_rate, too_slow.clone()), longest).await {
        Ok(bytes) => Ok(Request::from_parts(parts, Body::from(bytes))),
        Err(_) if too_slow.is_true() => Err(answer_to_slow()),
        Err(_) => Err(Failure::too_large(longest).into_response()),
    }
}

fn answer_to_slow() -> Response {
    let mut response = Failure::too_slow().into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// How long the body of a request may be.
fn longest(request: &Request) -> usize {
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    longest_body(path.and_then(|path| path.strip_prefix(API)).unwrap_or_default())
}

/// Hands the request to its handler, and answers in its place if the body does not come.
async fn serve(request: Request, minimum_rate: MinimumRate, next: Next) -> Response {
    let too_slow = TooSlow::default();
    let request = request.map(|body| with_deadline(body, minimum_rate, too_slow.clone()));
    let response = next.run(request).await;
    if too_slow.is_true() { answer_to_slow() } else { response }
}

/// Refuses a body that says to be too long before any of it is read.
fn check_length(request: &Request) -> Result<(), Failure> {
    let longest = longest(request);
    let said = request.headers().get(header::CONTENT_LENGTH);
    let said = said.and_then(|said| said.to_str().ok()?.parse::<u64>().ok());
    if said.is_some_and(|said| said > longest as u64) { Err(Failure::too_large(longest)) } else { Ok(()) }
}

async fn admit(app: &App, request: &mut Request) -> Admission {
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let action = matched.and_then(|matched| action(request.method(), matched.as_str()));
    let refused = |failure| Admission { caller: None, action, outcome: Err(failure) };
    if let Err(failure) = check_host(app, request) {
        return refused(failure);
    }
    let (caller, by_cookie) = match credentials(request.headers()) {
        Some((token, by_cookie)) => match app.store.signed_in(token, now_ms()).await {
            Ok(caller) => (caller, by_cookie),
            Err(error) => return refused(error.into()),
        },
        None => (None, false),
    };
    let outcome = allow(app, request, caller.as_ref(), by_cookie).await;
    Admission { caller, action, outcome }
}

async fn allow(
    app: &App,
    request: &mut Request,
    caller: Option<&Caller>,
    by_cookie: bool,
) -> Result<Option<Turn>, Failure> {
    check_origin(app, request, by_cookie)?;
    let Some(matched) = request.extensions().get::<MatchedPath>().cloned() else {
        let dashboard = !request.uri().path().starts_with("/api/");
        return match caller {
            _ if dashboard => Ok(None),
            None => Err(Failure::unauthenticated()),
            Some(_) => Err(Failure::unknown("path")),
        };
    };
    let who = match caller {
        Some(caller) => for_policy(caller),
        None if from_this_machine(app, request) => access::Caller::ThisMachine,
        None => access::Caller::Nobody,
    };
    let Some(action) = action(request.method(), matched.as_str()) else {
        return Err(match caller {
            None => Failure::unauthenticated(),
            Some(_) => Failure::method(),
        });
    };
    if action == Action::SignUp && !app.reach.sign_up {
        return Err(Failure::no_sign_up());
    }
    let turn = match request.extensions().get::<Client>() {
        Some(client) if action.is_for_strangers() && is_strangers(caller) => {
            Some(app.strangers.enter(client.network()).await?)
        }
        _ => None,
    };
    let names: RawPathParams =
        request.extract_parts().await.map_err(|_| Failure::invalid("the path is not UTF-8"))?;
    let name = |which: &str| names.iter().find(|(key, _)| *key == which).map(|(_, value)| value);
    let owner = match name("user") {
        Some(name) => Some(app.store.user(name).await?),
        None => None,
    };
    // Each name is looked up within what the one before it names, so nothing of another's is found.
    let resource = match (&owner, name("resource")) {
        (Some(Some(owner)), Some(name)) => app.store.resource(owner.id, name).await?,
        _ => None,
    };
    let wanted = match name("shared") {
        Some(id) if action == Action::ReadShared => Some(app.store.wanted_stream(id).await?),
        _ => None,
    };
    let is_given = match (caller, wanted.as_ref().and_then(Option::as_ref)) {
        (Some(caller), Some(wanted)) if rests_on_group(caller, wanted.owner) && !wanted.is_public => {
            app.store.reads_by_groups(caller.user.id, wanted.stream.id).await?
        }
        _ => false,
    };
    // A token for one stream is judged by the stream that the path names.
    let stream = match (caller, &resource, name("stream")) {
        (Some(caller), Some(resource), Some(name)) if caller.scope.stream.is_some() => {
            app.store.stream(resource.id, name).await?
        }
        _ => None,
    };
    let target = match &owner {
        _ if wanted.is_some() => {
            let wanted = wanted.as_ref().and_then(Option::as_ref);
            wanted.map_or(Target::Unknown, |wanted| target_of(wanted, is_given))
        }
        Some(Some(owner)) if name("resource").is_some() => match (caller, &resource, &stream) {
            (_, _, Some(stream)) => Target::StreamOf(owner.id, stream.id),
            (Some(caller), Some(resource), None) => target_for(app, caller, owner, resource).await?,
            _ => Target::ResourceOf(owner.id, resource.as_ref().map(|resource| resource.id)),
        },
        Some(Some(owner)) => Target::User(owner.id),
        Some(None) => Target::Unknown,
        None => Target::Nothing,
    };
    if let Some(Resource { id, .. }) = resource {
        let is_callers = match (caller, target) {
            (_, Target::GivenResource(..)) => true,
            // Whoever holds a key for one stream may be anybody.
            (
                Some(SignedIn { user, scope, .. }),
                Target::ResourceOf(owner, _) | Target::StreamOf(owner, _),
            ) => scope.stream.is_none() && (user.id == owner || user.role == Role::Administrator),
            _ => false,
        };
        request.extensions_mut().insert(NamedResource { id, is_callers });
    }
    access::decide(who, action, target).map_err(|denial| match denial {
        Denial::Unauthenticated => Failure::unauthenticated(),
        Denial::Forbidden => Failure::forbidden(),
        Denial::Unknown if wanted.is_some() => Failure::not_shared(),
        Denial::Unknown => Failure::unknown("user"),
    })?;
    let things = request.extensions_mut();
    if let Some(caller) = caller {
        things.insert(caller.clone());
    }
    if let Target::GivenResource(_, resource, _) = target {
        things.insert(Given(resource));
    }
    if let Some(wanted) = wanted.flatten() {
        let if_private = target_of(&WantedStream { is_public: false, ..wanted.clone() }, false);
        let ground = match access::decide(who, action, if_private) {
            Ok(()) => ReadAs::Owner,
            Err(_) if wanted.is_public => ReadAs::Stranger,
            Err(_) => ReadAs::Member,
        };
        things.insert(Shared { stream: wanted.stream, ground });
    }
    let Some(owner) = owner.flatten() else { return Ok(turn) };
    if name("resource").is_some() {
        let resource: Resource = resource.ok_or(Failure::unknown("resource"))?;
        if let Some(name_of_stream) = name("stream") {
            let stream: Option<Stream> = match stream {
                Some(stream) => Some(stream),
                None => app.store.stream(resource.id, name_of_stream).await?,
            };
            things.insert(stream.ok_or(Failure::unknown("stream"))?);
        }
        if let Some(name_of_parser) = name("parser") {
            let parser: Parser =
                app.store.parser(resource.id, name_of_parser).await?.ok_or(Failure::unknown("parser"))?;
            things.insert(parser);
        }
        things.insert(resource);
    }
    if let Some(name_of_rule) = name("rule") {
        let rule: Rule = app.store.rule(owner.id, name_of_rule).await?.ok_or(Failure::unknown("rule"))?;
        things.insert(rule);
    }
    if let Some(id_of_alert) = name("alert") {
        let alert: Alert = app.store.alert(owner.id, id_of_alert).await?.ok_or(Failure::unknown("alert"))?;
        things.insert(alert);
    }
    if let Some(name_of_channel) = name("channel") {
        let channel: Channel =
            app.store.channel(owner.id, name_of_channel).await?.ok_or(Failure::unknown("channel"))?;
        things.insert(channel);
    }
    if let Some(name_of_broker) = name("broker") {
        let broker: Broker =
            app.store.broker(owner.id, name_of_broker).await?.ok_or(Failure::unknown("broker"))?;
        things.insert(broker);
    }
    if let Some(name_of_group) = name("group") {
        let group: UserGroup =
            app.store.group(owner.id, name_of_group).await?.ok_or(Failure::unknown("group"))?;
        things.insert(group);
    }
    things.insert(Owner(owner));
    Ok(turn)
}

/// A resource of `owner`, for the policy: also what a group lets `caller` do with it, if it is nothing to them otherwise.
async fn target_for(
    app: &App,
    caller: &Caller,
    owner: &User,
    resource: &Resource,
) -> Result<Target, Failure> {
    let given = match rests_on_group(caller, owner.id) {
        true => app.store.access_by_groups(caller.user.id, resource.id).await?,
        false => None,
    };
    Ok(match given {
        Some(access) => Target::GivenResource(owner.id, resource.id, access),
        None => Target::ResourceOf(owner.id, Some(resource.id)),
    })
}

/// Whether what is `owner`'s is nothing to `caller` unless a group lets them have it.
fn rests_on_group(caller: &Caller, owner: UserId) -> bool {
    caller.user.id != owner && caller.user.role != Role::Administrator
}

/// A stream that is named by its id alone, for the policy, and whether a group lets the caller read it.
const fn target_of(wanted: &WantedStream, is_given: bool) -> Target {
    let WantedStream { owner, resource, is_public, stream } = wanted;
    let (owner, resource, is_public) = (*owner, *resource, *is_public);
    Target::Stream { owner, resource, stream: stream.id, is_public, is_given }
}

/// The token of a request, and whether the browser added it by itself.
fn credentials(headers: &HeaderMap) -> Option<(&str, bool)> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        return scheme.eq_ignore_ascii_case("bearer").then_some((token.trim(), false));
    }
    cookie_of(headers, COOKIE).map(|token| (token, true))
}

/// Refuses names that are not ours. A page of another site whose name was pointed at this machine (DNS
/// rebinding) still sends its own name. Behind a proxy nothing rests on where a request comes from, and the
/// proxy knows the names.
fn check_host(app: &App, request: &Request) -> Result<(), Failure> {
    let is_ours = |host: Authority| {
        let mut names = app.reach.hosts.iter();
        app.reach.behind_proxy
            || is_loopback(&host)
            || names.any(|name| name.eq_ignore_ascii_case(host.host()))
    };
    let known = host(request).is_some_and(is_ours);
    if known {
        return Ok(());
    }
    Err(Failure::new(
        StatusCode::FORBIDDEN,
        "host",
        "This name is not one of this server.",
        "Use 127.0.0.1 or localhost with the port that was printed, or start the server with --host and this name.",
    ))
}

/// The host that the request is for; nothing if it names none, or two.
fn host(request: &Request) -> Option<Authority> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host: Authority = hosts.next()?.to_str().ok()?.parse().ok()?;
    let one = hosts.next().is_none()
        && !host.as_str().contains('@')
        && request.uri().authority().is_none_or(|authority| *authority == host);
    one.then_some(host)
}

fn is_loopback(authority: &Authority) -> bool {
    let host = authority.host();
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Refuses to change anything for a page of another site.
fn check_origin(app: &App, request: &Request, by_cookie: bool) -> Result<(), Failure> {
    if request.method().is_safe() {
        return Ok(());
    }
    let mut origins = request.headers().get_all(header::ORIGIN).iter();
    let same = match (origins.next(), origins.next()) {
        // Only browsers add cookies by themselves, and they name the origin.
        (None, _) => !by_cookie,
        (Some(_), Some(_)) => false,
        (Some(origin), None) => host(request).is_some_and(|host| {
            let origin = origin.to_str().unwrap_or_default();
            let Reach { tls, behind_proxy, .. } = app.reach;
            let https = origin.strip_prefix("https://").filter(|_| tls || behind_proxy);
            let origin = origin.strip_prefix("http://").filter(|_| !tls).or(https);
            origin.is_some_and(|origin| origin.eq_ignore_ascii_case(host.as_str()))
        }),
    };
    if same {
        return Ok(());
    }
    Err(Failure::new(
        StatusCode::FORBIDDEN,
        "origin",
        "This request comes from another site.",
        "Use the dashboard at this server's own address, or a bearer token without an Origin header.",
    ))
}

/// Whether a program on this machine asks, directly.
fn from_this_machine(app: &App, request: &Request) -> bool {
    const FORWARDED: [&str; 5] = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];
    !app.reach.behind_proxy
        && app.reach.endpoints.http.ip().is_loopback()
        && peer(request).ip().is_loopback()
        && host(request).is_some_and(|host| is_loopback(&host))
        && !request
            .headers()
            .keys()
            .any(|name| FORWARDED.contains(&name.as_str()) || name.as_str().starts_with("x-forwarded-"))
}

fn peer(request: &Request) -> SocketAddr {
    let info = request.extensions().get::<ConnectInfo<SocketAddr>>();
    // Without an address it is nobody near.
    info.map_or(SocketAddr::from(([0, 0, 0, 0], 0)), |info| info.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_that_is_not_listed_is_closed() {
        for (method, path) in [
            (Method::PATCH, "/api/v1/users"),
            (Method::PUT, "/api/v1/login"),
            (Method::GET, "/api/v1/anything"),
            (Method::HEAD, "/sign-in"),
        ] {
            assert_eq!(action(&method, path), None, "{method} {path}");
        }
    }

    #[test]
    fn a_token_is_found_in_its_header_or_cookie() {
        let with = |name: header::HeaderName, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            credentials(&headers).map(|(token, by_cookie)| (token.to_owned(), by_cookie))
        };
        assert_eq!(with(header::AUTHORIZATION, "Bearer abc"), Some(("abc".into(), false)));
        assert_eq!(with(header::AUTHORIZATION, "Basic abc"), None);
        assert_eq!(with(header::COOKIE, "a=b; sixlock_session=abc"), Some(("abc".into(), true)));
        assert_eq!(with(header::COOKIE, "xsixlock_session=abc"), None);
    }

    #[test]
    fn loopback_names_are_few() {
        for (name, loopback) in [
            ("localhost:8080", true),
            ("127.0.0.1:8080", true),
            ("127.3.2.1", true),
            ("[::1]:8080", true),
            ("localhost.example.org", false),
            ("127.0.0.1.example.org", false),
            ("example.org:8080", false),
            ("192.168.1.1", false),
        ] {
            assert_eq!(is_loopback(&name.parse().unwrap()), loopback, "{name}");
        }
    }
}
