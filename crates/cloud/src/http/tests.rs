//! Every route, asked by every kind of caller: what it answers, and that the description of the API says so.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use sixlock_ingest::{Kind, Specification};
use sixlock_store::{
    Append, BrokerDevices, BrokerFormat, BrokerSettings, ChannelKind, CommandValue, Computation, Condition,
    Device, GroupAccess, GroupId, Idempotency, InputReference, Location, NewBroker, NewChannel, NewCommand,
    NewIdentity, NewPoller, NewRule, PollCredential, Profile, Reading, ResourceId, Role, Severity, Store,
    StreamChange, StreamId, TokenDigest, TokenScope, TotpSecret, Transmission, User, UserId, ValueType,
    now_ms,
};
use sixlock_telemetry::{Audit, Events};
use tempfile::TempDir;
use tokio::sync::{OnceCell, watch};
use tower::ServiceExt;

use super::app::App;
use super::body_deadline::MinimumRate;
use super::reach::{Endpoints, Reach};
use super::routes::router;
use super::sign_in_link::SignInLink;
use super::trusted_proxies::TrustedProxies;

use super::paths;
use super::routes;
use crate::alerts::Tellers;
use crate::brokers::{BrokerAccess, Dialer};
use crate::oidc::{Linking, Oidc, Pending};
use crate::pollers::{Guard, Http, Purpose};

/// For whom a route is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    Everybody,
    /// All, if the stream is public; the one that is asked for is not.
    Readers,
    ThisMachine,
    SignedIn,
    Owner,
    /// The user alone.
    Oneself,
    Administrator,
}

/// What ann, whose everything in the path is, or the administrator sends, and how that is answered.
struct Row {
    method: &'static str,
    path: &'static str,
    whom: For,
    body: Value,
    status: u16,
}

impl For {
    /// Somebody for whom it is.
    const fn who_may(self) -> Who {
        match self {
            Self::Oneself => Who::Owner,
            _ => Who::Administrator,
        }
    }
}

/// One row a route.
fn rows() -> Vec<Row> {
    let row = |method, path, whom, body, status| Row { method, path, whom, body, status };
    let none = Value::Null;
    let login = json!({"username": "ann", "password": PASSWORD});
    let present = json!({"current_password": PASSWORD});
    let sign_up = json!({"username": "new", "password": PASSWORD});
    let reset = json!({"token": "{reset}", "password": "another password"});
    let user = json!({"username": "eve", "password": PASSWORD});
    let resource = json!({"label": "new", "mode": "dtls-psk"});
    let import = json!({"devices": [resource]});
    let rotation = json!({"overlap_s": 60});
    let parser = json!({"kind": "json-path", "expression": "$.h", "stream": "h"});
    let sample = json!({"content_type": "application/json", "payload": "{\"t\":1}"});
    let poller = json!({"url": "https://example.org/", "period": 60, "authorization": "Bearer s3cret"});
    let inputs = json!({"t": {"stream": "t"}, "again": {"resource": "node", "stream": "t"}});
    let computed = json!({"label": "new", "unit": "K", "expression": "t + again + 273.15", "inputs": inputs});
    let computation =
        json!({"expression": "mean(t, 'day') - again", "inputs": inputs, "time_zone": "+02:00"});
    let threshold =
        json!({"kind": "threshold", "operator": ">=", "operand": 30, "hysteresis": 1, "hold_s": 60});
    let rule = json!({"label": "new", "severity": "critical", "resource": "node", "stream": "t",
        "condition": threshold, "channels": ["ops"], "payload": "call Ann"});
    let silence =
        json!({"label": "quiet", "resource": "node", "condition": {"kind": "silence", "periods": 3}});
    let webhook = json!({"label": "new", "kind": "webhook", "address": "https://example.org/hook"});
    let broker = json!({"label": "new", "url": "mqtts://broker.example.org", "username": "ann", "password": "s3cret",
        "prefix": "a/{user}", "qos": 0, "retain": true, "format": "senml", "tag": "roof"});
    let profile = json!({"tags": ["roof"], "period_s": 60, "streams": [{"label": "t", "unit": "Cel", "keep_s": 86400}],
        "parsers": [parser]});
    let tag = json!({"devices": [1], "count": 1, "change": {"kind": "tag", "tags": ["roof"]}});
    let trigger = json!({"operator": "<", "operand": 0, "url": "https://example.org/", "payload": "frost"});
    let ops = json!({"label": "ops", "kind": "webhook", "address": "https://example.org/hook"});
    let definitions = json!({"channels": [ops], "rules": [rule, silence]});
    vec![
        row("GET", "/openapi.json", For::ThisMachine, none.clone(), 200),
        row("POST", "/login", For::Everybody, login, 200),
        row("GET", "/sign-up", For::Everybody, none.clone(), 200),
        row("POST", "/sign-up", For::Everybody, sign_up, 201),
        row("GET", "/users/{user}/quotas", For::Owner, none.clone(), 200),
        row("GET", "/users/{user}/totp", For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/totp", For::Oneself, present.clone(), 201),
        row("PUT", "/users/{user}/totp", For::Oneself, json!({"code": "{code}"}), 200),
        row("DELETE", "/users/{user}/totp", For::Owner, present.clone(), 204),
        row("GET", "/users/{user}/oidc", For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/oidc", For::Oneself, present.clone(), 201),
        row("DELETE", "/users/{user}/oidc", For::Owner, present, 204),
        row("GET", "/resources", For::Administrator, none.clone(), 200),
        row("GET", "/users/{user}/alert-definitions", For::Owner, none.clone(), 200),
        row("PUT", "/users/{user}/alert-definitions", For::Owner, definitions, 200),
        row("GET", "/device-metrics", For::Administrator, none.clone(), 200),
        row("GET", "/users/{user}/device-metrics", For::Owner, none.clone(), 200),
        row("GET", "/users/{user}/export", For::Owner, none.clone(), 200),
        row("PUT", "/users/{user}/quotas", For::Administrator, json!({"resources": 5}), 200),
        row("POST", "/logout", For::SignedIn, none.clone(), 204),
        row("POST", "/reset-password", For::Everybody, reset, 204),
        row("POST", "/users/{user}/reset-link", For::Administrator, none.clone(), 201),
        row("GET", "/me", For::SignedIn, none.clone(), 200),
        row("GET", "/endpoints", For::SignedIn, none.clone(), 200),
        row("GET", "/public-keys", For::SignedIn, none.clone(), 200),
        row("GET", "/network", For::ThisMachine, none.clone(), 200),
        row("GET", "/audit", For::Administrator, none.clone(), 200),
        row("GET", "/statistics", For::Administrator, none.clone(), 200),
        row("GET", "/live", For::SignedIn, none.clone(), 200),
        row("GET", "/users", For::Administrator, none.clone(), 200),
        row("POST", "/users", For::Administrator, user, 201),
        row("GET", "/users/{user}", For::Owner, none.clone(), 200),
        row("PUT", "/users/{user}", For::Owner, json!({"email": "ann@example.org"}), 200),
        row("DELETE", "/users/{user}", For::Owner, none.clone(), 204),
        row("GET", "/users/{user}/tokens", For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/tokens", For::Owner, json!({"label": "new"}), 201),
        row("DELETE", "/users/{user}/tokens/{token}", For::Owner, none.clone(), 204),
        row("GET", "/users/{user}/identities", For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/identities", For::Owner, json!({"label": "new", "read_only": true}), 201),
        row("DELETE", "/users/{user}/identities/{identity}", For::Owner, none.clone(), 204),
        row("GET", "/users/{user}/resources", For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/resources", For::Owner, resource, 201),
        row("GET", "/users/{user}/fleet", For::Owner, none.clone(), 200),
        row("GET", "/users/{user}/fleet/places", For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/fleet/changes", For::Owner, tag, 200),
        row("GET", "/users/{user}/profiles", For::Owner, none.clone(), 200),
        row("GET", PROFILE, For::Owner, none.clone(), 200),
        row("PUT", PROFILE, For::Owner, profile, 200),
        row("DELETE", PROFILE, For::Owner, none.clone(), 204),
        row("GET", RESOURCE, For::Owner, none.clone(), 200),
        row("PUT", RESOURCE, For::Owner, json!({"description": "at the window"}), 200),
        row("DELETE", RESOURCE, For::Owner, none.clone(), 204),
        row("GET", "/users/{user}/resources/{resource}/log", For::Owner, none.clone(), 200),
        row("GET", "/users/{user}/credentials", For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/import", For::Owner, import, 201),
        row("GET", "/users/{user}/resources/{resource}/credentials", For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/resources/{resource}/credentials", For::Owner, rotation, 201),
        row("DELETE", "/users/{user}/resources/{resource}/credentials", For::Owner, none.clone(), 204),
        row(
            "DELETE",
            "/users/{user}/resources/{resource}/credentials/{identity}",
            For::Owner,
            none.clone(),
            204,
        ),
        row("GET", "/users/{user}/resources/{resource}/retention", For::Owner, none.clone(), 200),
        row("GET", RETENTION, For::Owner, none.clone(), 200),
        row("PUT", RETENTION, For::Owner, json!({"keep_s": 86400, "discard": true}), 200),
        row("GET", "/users/{user}/resources/{resource}/data", For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/resources/{resource}/data", For::Owner, json!({"t": 21.5}), 204),
        row("GET", PARSERS, For::Owner, none.clone(), 200),
        row("POST", PARSERS, For::Owner, parser.clone(), 201),
        row("POST", "/users/{user}/resources/{resource}/parsers/test", For::Owner, sample, 200),
        row("GET", PARSER, For::Owner, none.clone(), 200),
        row("PUT", PARSER, For::Owner, parser, 200),
        row("DELETE", PARSER, For::Owner, none.clone(), 204),
        row("GET", POLLER, For::Owner, none.clone(), 200),
        row("PUT", POLLER, For::Owner, poller, 200),
        row("DELETE", POLLER, For::Owner, none.clone(), 204),
        row("GET", STREAMS, For::Owner, none.clone(), 200),
        row("POST", STREAMS, For::Owner, json!({"label": "new", "unit": "lx"}), 201),
        row("GET", STREAM, For::Owner, none.clone(), 200),
        row("PUT", STREAM, For::Owner, json!({"unit": "K"}), 200),
        row("DELETE", STREAM, For::Owner, none.clone(), 204),
        row("GET", DATA, For::Owner, none.clone(), 200),
        row("POST", DATA, For::Owner, json!({"value": 2}), 204),
        row("DELETE", DATA, For::Owner, none.clone(), 200),
        row("GET", COMPUTED_STREAMS, For::Owner, none.clone(), 200),
        row("POST", COMPUTED_STREAMS, For::Owner, computed, 201),
        row("POST", EXPRESSION_TEST, For::Owner, computation.clone(), 204),
        row("GET", COMPUTED_STREAM, For::Owner, none.clone(), 200),
        row("PUT", COMPUTED_STREAM, For::Owner, computation, 200),
        row("DELETE", COMPUTED_STREAM, For::Owner, none.clone(), 204),
        row("GET", COMMANDS, For::Owner, none.clone(), 200),
        row("POST", COMMANDS, For::Owner, json!({"actuator": "valve", "value": 40}), 201),
        row("GET", COMMAND, For::Owner, none.clone(), 200),
        row("DELETE", COMMAND, For::Owner, none.clone(), 204),
        row("GET", TRIGGERS, For::Owner, none.clone(), 200),
        row("POST", TRIGGERS, For::Owner, trigger, 201),
        row("GET", "/users/{user}/rules", For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/rules", For::Owner, rule, 201),
        row("GET", RULE, For::Owner, none.clone(), 200),
        row("PUT", RULE, For::Owner, silence, 200),
        row("DELETE", RULE, For::Owner, none.clone(), 204),
        row("GET", "/users/{user}/alerts", For::Owner, none.clone(), 200),
        row("GET", "/users/{user}/alerts/{alert}", For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/alerts/{alert}/acknowledge", For::Owner, none.clone(), 200),
        row("GET", "/users/{user}/channels", For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/channels", For::Owner, webhook, 201),
        row("GET", CHANNEL, For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/channels/{channel}/test", For::Owner, none.clone(), 202),
        row("POST", "/users/{user}/channels/{channel}/confirm", For::Owner, json!({"code": "12345678"}), 204),
        row("DELETE", CHANNEL, For::Owner, none.clone(), 204),
        row("GET", "/users/{user}/brokers", For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/brokers", For::Owner, broker.clone(), 201),
        row("GET", BROKER, For::Owner, none.clone(), 200),
        row("PUT", BROKER, For::Owner, broker, 200),
        row("POST", "/users/{user}/brokers/{broker}/test", For::Owner, none.clone(), 200),
        row("DELETE", BROKER, For::Owner, none.clone(), 204),
        row("GET", LIVE, For::Owner, none.clone(), 200),
        row("GET", "/shared/streams", For::Everybody, none.clone(), 200),
        row("GET", SHARED, For::Readers, none.clone(), 200),
        row("GET", SHARED_DATA, For::Readers, none.clone(), 200),
        row("GET", SHARED_LIVE, For::Readers, none.clone(), 200),
        row("GET", "/users/{user}/groups", For::Owner, none.clone(), 200),
        row("POST", "/users/{user}/groups", For::Owner, json!({"label": "new"}), 201),
        row("GET", GROUP, For::Owner, none.clone(), 200),
        row("PUT", GROUP, For::Owner, json!({"label": "crew"}), 200),
        row("DELETE", GROUP, For::Owner, none.clone(), 204),
        row("PUT", MEMBER, For::Owner, json!({"access": "change"}), 200),
        row("DELETE", MEMBER, For::Owner, none.clone(), 204),
        row("DELETE", "/users/{user}/groups/{group}/devices/{device}", For::Owner, none.clone(), 204),
        row("GET", "/users/{user}/memberships", For::Owner, none.clone(), 200),
        row("GET", MEMBERSHIP, For::Owner, none.clone(), 200),
        row("PUT", MEMBERSHIP, For::Oneself, none.clone(), 200),
        row("DELETE", MEMBERSHIP, For::Oneself, none.clone(), 204),
        row("GET", "/users/{user}/group-resources", For::Owner, none.clone(), 200),
        row("GET", "/users/{user}/resources/{resource}/groups", For::Owner, none.clone(), 200),
        row("PUT", GIVEN_TO, For::Owner, none.clone(), 200),
        row("DELETE", GIVEN_TO, For::Owner, none.clone(), 204),
        row("GET", "/users/{user}/group-streams", For::Owner, none.clone(), 200),
        row("DELETE", GROUP_STREAM, For::Owner, none.clone(), 204),
        row("GET", STREAM_GROUPS, For::Owner, none.clone(), 200),
        row("PUT", STREAM_GIVEN_TO, For::Owner, none.clone(), 200),
        row("DELETE", STREAM_GIVEN_TO, For::Owner, none.clone(), 204),
        row("GET", "/users/{user}/followed", For::Owner, none.clone(), 200),
        row("PUT", FOLLOWED, For::Owner, none.clone(), 200),
        row("DELETE", FOLLOWED, For::Owner, none, 204),
    ]
}

const RESOURCE: &str = "/users/{user}/resources/{resource}";
const POLLER: &str = "/users/{user}/resources/{resource}/poller";
const STREAMS: &str = "/users/{user}/resources/{resource}/streams";
const STREAM: &str = "/users/{user}/resources/{resource}/streams/{stream}";
const DATA: &str = "/users/{user}/resources/{resource}/streams/{stream}/data";
const PARSERS: &str = "/users/{user}/resources/{resource}/parsers";
const PARSER: &str = "/users/{user}/resources/{resource}/parsers/{parser}";
const RETENTION: &str = "/users/{user}/resources/{resource}/streams/{stream}/retention";
const LIVE: &str = "/users/{user}/resources/{resource}/streams/{stream}/live";
const COMPUTED_STREAMS: &str = "/users/{user}/resources/{resource}/computed-streams";
const COMPUTED_STREAM: &str = "/users/{user}/resources/{resource}/computed-streams/{stream}";
const COMMANDS: &str = "/users/{user}/resources/{resource}/commands";
const COMMAND: &str = "/users/{user}/resources/{resource}/commands/{command}";
const EXPRESSION_TEST: &str = "/users/{user}/resources/{resource}/expressions/test";
const TRIGGERS: &str = "/users/{user}/resources/{resource}/streams/{stream}/triggers";
const RULE: &str = "/users/{user}/rules/{rule}";
const CHANNEL: &str = "/users/{user}/channels/{channel}";
const BROKER: &str = "/users/{user}/brokers/{broker}";
const SHARED: &str = "/shared/streams/{shared}";
const SHARED_DATA: &str = "/shared/streams/{shared}/data";
const SHARED_LIVE: &str = "/shared/streams/{shared}/live";
const FOLLOWED: &str = "/users/{user}/followed/{shared}";
const PROFILE: &str = "/users/{user}/profiles/{profile}";
const GROUP: &str = "/users/{user}/groups/{group}";
const MEMBER: &str = "/users/{user}/groups/{group}/members/{member}";
const MEMBERSHIP: &str = "/users/{user}/memberships/{membership}";
const GIVEN_TO: &str = "/users/{user}/resources/{resource}/groups/{membership}";
const GROUP_STREAM: &str = "/users/{user}/groups/{group}/streams/{shared}";
const STREAM_GROUPS: &str = "/users/{user}/resources/{resource}/streams/{stream}/groups";
const STREAM_GIVEN_TO: &str = "/users/{user}/resources/{resource}/streams/{stream}/groups/{membership}";
const PASSWORD: &str = "long enough";

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Nobody,
    ThisMachine,
    WrongToken,
    ExpiredSession,
    OtherUser,
    /// A member with the right to read of a group that the resource is given to.
    Reader,
    /// A member with the right to change.
    Changer,
    /// One whose role is viewer.
    ChangerAsViewer,
    /// The member's token that may only read.
    ChangersReadOnly,
    /// A member, with the right to change, of a group that the stream alone is given to.
    StreamReader,
    /// One who was in the group.
    FormerMember,
    /// One who is asked to join it.
    Invited,
    Owner,
    /// The owner, whose role is viewer.
    OwnerAsViewer,
    /// The owner's token that may only read.
    ReadOnly,
    /// The owner's token for the resource that the path names, if it names one.
    ForResource,
    /// The owner's token to read that resource only.
    ReadResource,
    /// The owner's token for another resource.
    ForOtherResource,
    /// The owner's token for the stream that the path names, if it names one.
    ForStream,
    /// The owner's token for another stream of that resource.
    ForOtherStream,
    /// The owner's token to post points to the stream that the path names, if it names one.
    PostsToStream,
    /// The owner's token to post points to another stream of that resource.
    PostsToOtherStream,
    /// An administrator's token that may only read.
    AdministratorsReadOnly,
    Administrator,
}

const ALL: [Who; 24] = [
    Who::Nobody,
    Who::ThisMachine,
    Who::WrongToken,
    Who::ExpiredSession,
    Who::OtherUser,
    Who::Reader,
    Who::Changer,
    Who::ChangerAsViewer,
    Who::ChangersReadOnly,
    Who::StreamReader,
    Who::FormerMember,
    Who::Invited,
    Who::Owner,
    Who::OwnerAsViewer,
    Who::ReadOnly,
    Who::ForResource,
    Who::ReadResource,
    Who::ForOtherResource,
    Who::ForStream,
    Who::ForOtherStream,
    Who::PostsToStream,
    Who::PostsToOtherStream,
    Who::AdministratorsReadOnly,
    Who::Administrator,
];

impl Who {
    /// Whether the token is one of ann's own.
    const fn is_owner(self) -> bool {
        !matches!(
            self,
            Self::Nobody
                | Self::ThisMachine
                | Self::WrongToken
                | Self::ExpiredSession
                | Self::AdministratorsReadOnly
                | Self::Administrator
        ) && !self.is_other_user()
    }

    /// Whether the token is one of a member who is not ann.
    const fn is_other_user(self) -> bool {
        matches!(
            self,
            Self::OtherUser
                | Self::Reader
                | Self::Changer
                | Self::ChangerAsViewer
                | Self::ChangersReadOnly
                | Self::StreamReader
                | Self::FormerMember
                | Self::Invited
        )
    }

    /// Whether a group lets them do it to the resource that the path names.
    fn has_by_group(self, row: &Row) -> bool {
        let route = &(row.method, row.path);
        match self {
            Self::Reader | Self::ChangerAsViewer | Self::ChangersReadOnly => MEMBERS_READ.contains(route),
            Self::Changer => MEMBERS_READ.contains(route) || MEMBERS_CHANGE.contains(route),
            _ => false,
        }
    }

    const fn is_administrator(self) -> bool {
        matches!(self, Self::AdministratorsReadOnly | Self::Administrator)
    }

    /// Whether the role of the user and the scope of the token are for the route, wherever it leads.
    fn may_take(self, row: &Row) -> bool {
        let signs_out = row.path == "/logout";
        let tries = row.path.ends_with("/parsers/test") || row.path == EXPRESSION_TEST;
        let reads = row.method == "GET" || tries;
        let own_account = OWN_ACCOUNT.contains(&(row.method, row.path));
        let within = row.path.starts_with(RESOURCE) && !REACHES_FURTHER.contains(&(row.method, row.path));
        let about_itself =
            ["/me", "/logout", "/endpoints", "/public-keys", "/openapi.json"].contains(&row.path);
        match self {
            Self::OwnerAsViewer | Self::ChangerAsViewer => reads || signs_out || own_account,
            Self::ReadOnly | Self::ChangersReadOnly | Self::AdministratorsReadOnly => reads || signs_out,
            Self::ForResource => within || about_itself,
            Self::ReadResource => (within && reads) || about_itself,
            Self::ForOtherResource => about_itself,
            Self::ForStream | Self::ForOtherStream | Self::PostsToOtherStream => false,
            Self::PostsToStream => (row.method, row.path) == ("POST", DATA),
            _ => true,
        }
    }
}

/// What a viewer may change.
const OWN_ACCOUNT: &[(&str, &str)] = &[
    ("PUT", "/users/{user}"),
    ("POST", "/users/{user}/totp"),
    ("PUT", "/users/{user}/totp"),
    ("DELETE", "/users/{user}/totp"),
    ("POST", "/users/{user}/oidc"),
    ("DELETE", "/users/{user}/oidc"),
    ("PUT", FOLLOWED),
    ("DELETE", FOLLOWED),
    ("PUT", MEMBERSHIP),
    ("DELETE", MEMBERSHIP),
];

/// What every member of a group may do to a resource that is given to it.
const MEMBERS_READ: &[(&str, &str)] = &[
    ("GET", RESOURCE),
    ("GET", "/users/{user}/resources/{resource}/credentials"),
    ("GET", "/users/{user}/resources/{resource}/retention"),
    ("GET", RETENTION),
    ("GET", "/users/{user}/resources/{resource}/data"),
    ("GET", PARSERS),
    ("POST", "/users/{user}/resources/{resource}/parsers/test"),
    ("GET", PARSER),
    ("GET", STREAMS),
    ("GET", STREAM),
    ("GET", DATA),
    ("GET", COMMANDS),
    ("GET", COMMAND),
    ("GET", LIVE),
];

/// What those with the right to change may do besides.
const MEMBERS_CHANGE: &[(&str, &str)] = &[
    ("PUT", RESOURCE),
    ("POST", PARSERS),
    ("PUT", PARSER),
    ("DELETE", PARSER),
    ("PUT", STREAM),
    ("POST", COMMANDS),
    ("DELETE", COMMAND),
];

/// What a token for a resource may not do to it.
const REACHES_FURTHER: &[(&str, &str)] = &[
    ("DELETE", RESOURCE),
    ("POST", "/users/{user}/resources/{resource}/credentials"),
    ("DELETE", "/users/{user}/resources/{resource}/credentials"),
    ("DELETE", "/users/{user}/resources/{resource}/credentials/{identity}"),
    ("PUT", POLLER),
    ("DELETE", POLLER),
    ("POST", EXPRESSION_TEST),
    ("GET", TRIGGERS),
    ("POST", TRIGGERS),
    ("POST", COMPUTED_STREAMS),
    ("PUT", COMPUTED_STREAM),
    ("DELETE", COMPUTED_STREAM),
    ("GET", "/users/{user}/resources/{resource}/groups"),
    ("PUT", GIVEN_TO),
    ("DELETE", GIVEN_TO),
    ("GET", STREAM_GROUPS),
    ("PUT", STREAM_GIVEN_TO),
    ("DELETE", STREAM_GIVEN_TO),
];

/// The answer that is due to `who`.
fn due(row: &Row, who: Who) -> u16 {
    let signed_in = who.is_owner() || who.is_administrator() || who.is_other_user();
    match (row.whom, who) {
        (For::Everybody, _) => row.status,
        (
            For::Readers,
            Who::ForOtherResource | Who::ForOtherStream | Who::PostsToStream | Who::PostsToOtherStream,
        ) => 404,
        (For::Readers, Who::StreamReader) => row.status,
        (For::Readers, _) if who.is_owner() || who.is_administrator() => row.status,
        (For::Readers, _) => 404,
        (For::ThisMachine, Who::ThisMachine) => row.status,
        (_, _) if !signed_in => 401,
        (_, _) if !who.may_take(row) => 403,
        (For::ThisMachine | For::SignedIn, _) => row.status,
        (For::Owner | For::Administrator, _) if who.is_administrator() => row.status,
        (For::Owner | For::Oneself, _) if who.is_owner() => row.status,
        (For::Owner, _) if who.has_by_group(row) => row.status,
        (_, _) => 403,
    }
}

/// The data that every bench begins with, made once: hashing passwords takes its time.
struct Template {
    directory: TempDir,
    ann: User,
    tokens: Vec<(Who, String)>,
    /// The token of a link that sets ann's password.
    reset: String,
    /// The stream `t`.
    stream: StreamId,
    /// Ann's group `team`, to which her device is given, bob's, in which she is, and her `watchers`, to which the stream alone is given.
    groups: [GroupId; 3],
    /// Ann's secret of one-time codes, which is not confirmed.
    totp: TotpSecret,
}

static TEMPLATE: OnceCell<Template> = OnceCell::const_new();

/// What asks others: reading whom the system trusts takes its time, too.
static HTTP: LazyLock<Http> = LazyLock::new(|| Http::trusting_the_system().unwrap());
static DIALER: LazyLock<Dialer> =
    LazyLock::new(|| Dialer::new(Guard::new(Purpose::Brokers, Vec::new(), Vec::new())).unwrap());

impl Template {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (store, writer) = Store::open(directory.path()).await.unwrap();
        let add = async |name: &str, admin| {
            let user = store.add_user(name, "", PASSWORD.into(), admin).await.unwrap();
            let (token, _) = store.begin_session(user.id, now_ms()).await.unwrap();
            (user, token)
        };
        let ((ann, owner), (bob, other), (root, administrator)) =
            (add("ann", false).await, add("bob", false).await, add("root", true).await);
        let (expired, _) = store.begin_session(ann.id, 0).await.unwrap();
        let totp = store.begin_second_factor(ann.id).await.unwrap();
        let (reset, _) = store.make_reset_link(ann.id, now_ms()).await.unwrap();
        store.add_token(ann.id, "script", (None, TokenScope::default()), now_ms()).await.unwrap();
        let mode = "dtls-psk".parse().unwrap();
        let identity = NewIdentity {
            label: "node".into(),
            mode,
            identity: None,
            key: None,
            valid_s: None,
            expires: None,
            scope: TokenScope::default(),
        };
        store.add_user_identity(&ann, identity, now_ms()).await.unwrap();
        let place = Some(Location { latitude: 59.4, longitude: 17.95 });
        let device = Device { mode, place, ..Device::named("node") };
        let resource = store.add_resource(ann.id, device).await.unwrap().resource.id;
        let another = store.add_resource(ann.id, Device::named("another")).await.unwrap().resource.id;
        let narrow = async |owner: &User, read_only, resource| {
            let label = format!("{read_only} {resource:?}");
            let scope = TokenScope { read_only, resource, stream: None };
            store.add_token(owner.id, &label, (None, scope), now_ms()).await.unwrap().1
        };
        let mut tokens = vec![
            (Who::WrongToken, "guess".to_owned()),
            (Who::ExpiredSession, expired),
            (Who::OtherUser, other),
            (Who::OwnerAsViewer, owner.clone()),
            (Who::Owner, owner),
            (Who::ReadOnly, narrow(&ann, true, None).await),
            (Who::ForResource, narrow(&ann, false, Some(resource)).await),
            (Who::ReadResource, narrow(&ann, true, Some(resource)).await),
            (Who::ForOtherResource, narrow(&ann, false, Some(another)).await),
            (Who::AdministratorsReadOnly, narrow(&root, true, None).await),
            (Who::Administrator, administrator),
        ];
        let parser = Specification {
            label: "t".into(),
            kind: Kind::JsonPath,
            expression: "$.t".into(),
            stream: "t".into(),
            value_type: ValueType::Number,
            time: None,
            required: true,
        };
        store.add_parser(resource, &parser).await.unwrap();
        let transmission = Transmission { association: b"", message_id: 1, token: b"" };
        let idempotency = Idempotency::of(resource, transmission, b"");
        let reading = Reading { stream: "t".into(), unit: Some("Cel".into()), time: 1, value: 1.5.into() };
        store.append(Append { resource, idempotency, readings: vec![reading] }).await.unwrap();
        let t = InputReference { resource: None, stream: "t".into() };
        let (expression, time_zone) = ("t * 2".into(), "UTC".into());
        let computation = Computation { expression, time_zone, inputs: [("t".into(), t)].into() };
        store.add_computed_stream((ann.id, resource), ("double", None, ""), &computation).await.unwrap();
        let [t, double] = ["t", "double"].map(|label| store.stream(resource, label));
        let [t, double] = [t.await.unwrap().unwrap().id, double.await.unwrap().unwrap().id];
        for (who, read_only, stream) in [
            (Who::ForStream, true, t),
            (Who::ForOtherStream, true, double),
            (Who::PostsToStream, false, t),
            (Who::PostsToOtherStream, false, double),
        ] {
            let scope = TokenScope { read_only, resource: Some(resource), stream: Some(stream) };
            let label = format!("{who:?}");
            tokens.push((who, store.add_token(ann.id, &label, (None, scope), now_ms()).await.unwrap().1));
        }
        store.follow(ann.id, &t.0.to_string(), now_ms()).await.unwrap();
        let [team, club] = join_groups(&store, (&ann, &bob), resource, &mut tokens).await;
        let groups = [team, club, watch(&store, ann.id, (resource, t), &mut tokens).await];
        let channel = NewChannel {
            label: "ops".into(),
            kind: ChannelKind::Webhook,
            address: "https://example.org/".into(),
            token: None,
        };
        store.add_channel(ann.id, channel).await.unwrap();
        let settings = BrokerSettings {
            label: "home".into(),
            // A test of it ends at once: nobody is told anything there.
            url: "mqtt://192.0.2.1".into(),
            username: None,
            authority: None,
            prefix: "sixlock/{user}".into(),
            qos: 1,
            retain: false,
            format: BrokerFormat::Json,
        };
        let broker = NewBroker { settings, password: None, client_id: None, devices: BrokerDevices::All };
        store.add_broker(ann.id, broker).await.unwrap();
        store.put_profile(ann.id, "gauge", &Profile::default()).await.unwrap();
        let rule = NewRule {
            label: "warm".into(),
            severity: Severity::Warning,
            resource: "node".into(),
            stream: Some("t".into()),
            condition: Condition::Change { by: Some(1.0) },
            channels: vec!["ops".into()],
            payload: None,
            paused: false,
        };
        store.add_rule(ann.id, &rule).await.unwrap();
        let reading = Reading { stream: "t".into(), unit: None, time: 2, value: 3.5.into() };
        let idempotency = Idempotency::unique().unwrap();
        store.append(Append { resource, idempotency, readings: vec![reading] }).await.unwrap();
        let url = "coap://sensor.example.org/".to_owned();
        let poller = NewPoller { url, period: 60, observe: false, credential: PollCredential::None };
        store.put_poller(resource, poller).await.unwrap();
        let (actuator, value) = ("led".to_owned(), CommandValue::Boolean(true));
        let command = NewCommand { actuator, value, expires_in: 3600, author: ann.clone() };
        store.add_command(resource, command).await.unwrap();
        drop(store);
        writer.ended().await.unwrap();
        // The last connections may be about to close, and with them the log beside the database goes.
        let whole = tempfile::tempdir().unwrap();
        let database = rusqlite::Connection::open(directory.path().join("sixlock.db")).unwrap();
        database.execute("VACUUM INTO ?1", [whole.path().join("sixlock.db").to_str()]).unwrap();
        for key in ["master.key", "authority.pem", "cloud.pem"] {
            std::fs::copy(directory.path().join(key), whole.path().join(key)).unwrap();
        }
        Self { directory: whole, ann, tokens, reset, stream: t, groups, totp }
    }
}

/// Makes ann's group `team`, to which `node` is given, with members of each kind, and one of bob, in which she is.
async fn join_groups(
    store: &Store,
    (ann, bob): (&User, &User),
    node: ResourceId,
    tokens: &mut Vec<(Who, String)>,
) -> [GroupId; 2] {
    let now = now_ms();
    let team = store.add_group(ann.id, "team", now).await.unwrap().id;
    let id = team.0.to_string();
    store.give_to_group(node, &id, now).await.unwrap();
    for (who, name, access) in [
        (Who::Reader, "rita", GroupAccess::Read),
        (Who::Changer, "carl", GroupAccess::Change),
        (Who::ChangerAsViewer, "vera", GroupAccess::Change),
        (Who::FormerMember, "fred", GroupAccess::Change),
        (Who::Invited, "ines", GroupAccess::Change),
    ] {
        let role = if who == Who::ChangerAsViewer { Role::Viewer } else { Role::Member };
        let user = store.add_user(name, "", PASSWORD.into(), role).await.unwrap();
        let (token, _) = store.begin_session(user.id, now).await.unwrap();
        tokens.push((who, token));
        store.put_member(team, name, access, now).await.unwrap();
        if who != Who::Invited {
            store.join_group(user.id, &id, now).await.unwrap();
        }
        if who == Who::FormerMember {
            store.leave_group(user.id, &id).await.unwrap();
        }
        if who == Who::Changer {
            let scope = TokenScope { read_only: true, ..TokenScope::default() };
            let (_, token) = store.add_token(user.id, "reader", (None, scope), now).await.unwrap();
            tokens.push((Who::ChangersReadOnly, token));
        }
    }
    let club = store.add_group(bob.id, "club", now).await.unwrap().id;
    store.put_member(club, "ann", GroupAccess::Read, now).await.unwrap();
    store.join_group(ann.id, &club.0.to_string(), now).await.unwrap();
    [team, club]
}

/// Makes ann's group `watchers`, to which a stream alone is given, with a member.
async fn watch(
    store: &Store,
    ann: UserId,
    stream: (ResourceId, StreamId),
    tokens: &mut Vec<(Who, String)>,
) -> GroupId {
    let now = now_ms();
    let watchers = store.add_group(ann, "watchers", now).await.unwrap().id;
    let id = watchers.0.to_string();
    let user = store.add_user("sven", "", PASSWORD.into(), Role::Member).await.unwrap();
    store.put_member(watchers, "sven", GroupAccess::Change, now).await.unwrap();
    store.join_group(user.id, &id, now).await.unwrap();
    store.give_stream_to_group(stream, &id, now).await.unwrap();
    tokens.push((Who::StreamReader, store.begin_session(user.id, now).await.unwrap().0));
    watchers
}

struct Bench {
    app: Arc<App>,
    template: &'static Template,
    _directory: TempDir,
}

impl Bench {
    async fn new() -> Self {
        Self::with_pace(MinimumRate::default()).await
    }

    /// One that takes bodies at this pace.
    async fn with_pace(sending: MinimumRate) -> Self {
        let template = TEMPLATE.get_or_init(Template::new).await;
        let directory = tempfile::tempdir().unwrap();
        for file in std::fs::read_dir(template.directory.path()).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), directory.path().join(file.file_name())).unwrap();
        }
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let (audit, _thread) = Audit::open(directory.path(), now_ms, drop).unwrap();
        let network = watch::channel(json!({"schema": 1}).to_string().into()).1;
        let link = SignInLink::new(template.ann.id).unwrap().0;
        let loopback = SocketAddr::from(([127, 0, 0, 1], 80));
        let endpoints = Endpoints { http: loopback, coap: None, coaps: loopback };
        let reach = Reach {
            endpoints,
            tls: false,
            behind_proxy: false,
            sign_up: true,
            hosts: Vec::new(),
            proxies: TrustedProxies::default(),
            sending,
        };
        let guard = Guard::new(Purpose::Polls, Vec::new(), Vec::new());
        let settings = json!({"issuer": "https://id.example.org", "client_id": "sixlock"});
        let http = HTTP.clone();
        let oidc = Oidc::new(serde_json::from_value(settings).unwrap(), http, Events::unheard(), Vec::new())
            .unwrap();
        let brokers = BrokerAccess::new(&DIALER);
        let app = App::new(
            store,
            Events::unheard().recorded_by(audit),
            Some(network),
            link,
            reach,
            (guard.clone(), Tellers { guard, http: HTTP.clone(), mailer: None }, brokers),
            watch::channel(false).1,
        )
        .with_oidc(Some(oidc));
        Self { app: Arc::new(app), template, _directory: directory }
    }

    /// Gives ann this role.
    async fn set_role(&self, role: Role) {
        let change = sixlock_store::UserChange { role: Some(role), ..Default::default() };
        self.app.store.change_user(&self.template.ann, change, None).await.unwrap();
    }

    fn token(&self, who: Who) -> &'static str {
        let token = self.template.tokens.iter().find(|(whose, _)| *whose == who);
        token.map(|(_, token)| token.as_str()).unwrap()
    }

    /// What `router` answers: status, kind of content, content.
    async fn ask(&self, router: Router, row: &Row, who: Who) -> (u16, String, Value) {
        let query = if (row.method, row.path) == ("DELETE", DATA) { "?all=true" } else { "" };
        let group = match row.path {
            MEMBERSHIP => 1,
            STREAM_GIVEN_TO => 2,
            _ => 0,
        };
        let path = row
            .path
            .replace("{user}", &self.template.ann.username)
            .replace("{resource}", "node")
            .replace("{identity}", "node")
            .replace("{stream}", if row.path == COMPUTED_STREAM { "double" } else { "t" })
            .replace("{parser}", "t")
            .replace("{command}", "1")
            .replace("{token}", "script")
            .replace("{rule}", "warm")
            .replace("{alert}", "1")
            .replace("{channel}", "ops")
            .replace("{broker}", "home")
            .replace("{profile}", "gauge")
            .replace("{group}", if row.path == GROUP_STREAM { "watchers" } else { "team" })
            .replace("{member}", "rita")
            .replace("{device}", "1")
            .replace("{membership}", &self.template.groups[group].0.to_string())
            .replace("{shared}", &self.template.stream.0.to_string());
        let mut request = Request::builder()
            .method(row.method)
            .uri(format!("/api/v1{path}{query}"))
            .header(header::HOST, "localhost");
        if let Some((_, token)) = self.template.tokens.iter().find(|(whose, _)| *whose == who) {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let from = if who == Who::ThisMachine { [127, 0, 0, 1] } else { [192, 0, 2, 1] };
        request = request.extension(ConnectInfo(SocketAddr::from((from, 4711))));
        let request = match &row.body {
            Value::Null => request.body(Body::empty()),
            body => {
                let body = body.to_string().replace("{reset}", &self.template.reset);
                let body = body.replace("{code}", &self.template.totp.code(now_ms()));
                request.header(header::CONTENT_TYPE, "application/json").body(body.into())
            }
        };
        let response = router.oneshot(request.unwrap()).await.unwrap();
        let status = response.status().as_u16();
        let kind = response.headers().get(header::CONTENT_TYPE);
        let kind = kind.map(|kind| kind.to_str().unwrap().to_owned()).unwrap_or_default();
        if kind != "application/json" {
            return (status, kind, Value::Null);
        }
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, kind, serde_json::from_slice(&body).unwrap())
    }
}

/// The routes that the description names: method and path below `/api/v1`.
fn described(document: &Value) -> Vec<(String, String)> {
    let paths = document["paths"].as_object().unwrap();
    let routes = paths.iter().flat_map(|(path, item)| {
        let path = path.strip_prefix("/api/v1").unwrap();
        item.as_object().unwrap().keys().map(move |method| (method.to_uppercase(), path.to_owned()))
    });
    routes.collect()
}

/// In how many parts all routes are asked: each is a test, so that they run side by side.
const PARTS: usize = 4;

/// A part of the rows: together, the parts have each row once.
fn part(number: usize) -> Vec<Row> {
    rows().into_iter().skip(number).step_by(PARTS).collect()
}

/// Asks these routes as every caller and tells what is answered otherwise than it is due.
async fn violations(rows: Vec<Row>, router: impl Fn(&Arc<App>) -> Router) -> Vec<(String, Who)> {
    let mut wrong = Vec::new();
    for row in rows {
        let mut bench = Bench::new().await;
        for who in ALL {
            let due = due(&row, who);
            // A token for a stream goes with it.
            if due < 400 || matches!(who, Who::OwnerAsViewer | Who::ForStream | Who::PostsToStream) {
                // What one of them may do is not to change what the next one finds.
                bench = Bench::new().await;
            }
            if who == Who::OwnerAsViewer {
                bench.set_role(Role::Viewer).await;
            }
            let (status, ..) = bench.ask(router(&bench.app), &row, who).await;
            if who == Who::OwnerAsViewer {
                bench.set_role(Role::Member).await;
            }
            if status != due {
                wrong.push((format!("{} {}: {status} instead of {due}", row.method, row.path), who));
            }
        }
    }
    wrong
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_answers_every_caller_as_it_is_due() {
    answers_are_due(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_answers_every_caller_as_it_is_due_in_the_second_part() {
    answers_are_due(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_answers_every_caller_as_it_is_due_in_the_third_part() {
    answers_are_due(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_answers_every_caller_as_it_is_due_in_the_fourth_part() {
    answers_are_due(3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_layer_the_table_of_answers_would_not_hold() {
    answers_need_the_layer(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_layer_the_table_of_answers_would_not_hold_in_the_second_part() {
    answers_need_the_layer(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_layer_the_table_of_answers_would_not_hold_in_the_third_part() {
    answers_need_the_layer(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_layer_the_table_of_answers_would_not_hold_in_the_fourth_part() {
    answers_need_the_layer(3).await;
}

async fn answers_are_due(number: usize) {
    assert_eq!(violations(part(number), |app| router(app.clone())).await, []);
}

async fn answers_need_the_layer(number: usize) {
    let wrong = violations(part(number), |app| routes::all(&Arc::default()).with_state(app.clone())).await;
    for row in part(number).iter().filter(|row| row.whom != For::Everybody) {
        let route = format!("{} {}:", row.method, row.path);
        for who in [Who::Nobody, Who::ExpiredSession] {
            let noticed = wrong.iter().any(|(what, whom)| what.starts_with(&route) && *whom == who);
            assert!(noticed, "{route} {who:?}");
        }
    }
}

/// That the rows are all routes, `the_description_names_every_route_and_what_it_answers` shows.
#[test]
fn the_parts_have_each_route_once() {
    let names = |rows: Vec<Row>| {
        let mut names: Vec<_> = rows.iter().map(|row| (row.method, row.path)).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(names((0..PARTS).flat_map(part).collect()), names(rows()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_stream_is_read_by_all_and_a_private_one_is_as_one_that_is_not_there() {
    let bench = Bench::new().await;
    let shared = || rows().into_iter().filter(|row| row.whom == For::Readers);
    for row in shared() {
        let nowhere = Row { path: row.path.replace("{shared}", "4711").leak(), body: Value::Null, ..row };
        for who in [
            Who::Nobody,
            Who::ThisMachine,
            Who::WrongToken,
            Who::OtherUser,
            Who::ForOtherStream,
            Who::PostsToStream,
        ] {
            let private = bench.ask(router(bench.app.clone()), &row, who).await;
            let unknown = bench.ask(router(bench.app.clone()), &nowhere, who).await;
            assert_eq!((private.0, &private), (404, &unknown), "{} {who:?}", row.path);
        }
    }
    let change = StreamChange { public_access: Some(true), ..StreamChange::default() };
    bench.app.store.change_stream(bench.template.stream, change, None).await.unwrap();
    for row in shared() {
        for who in ALL {
            let (status, ..) = bench.ask(router(bench.app.clone()), &row, who).await;
            assert_eq!(status, 200, "{} {who:?}", row.path);
        }
    }
    // Nothing else of its owner is open for that.
    for row in rows().into_iter().filter(|row| row.method == "GET" && row.path.starts_with("/users/")) {
        let (status, ..) = bench.ask(router(bench.app.clone()), &row, Who::Nobody).await;
        assert_eq!(status, 401, "{}", row.path);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_names_every_route_and_what_it_answers() {
    let bench = Bench::new().await;
    let rows = rows();
    let (status, _, document) = bench.ask(router(bench.app.clone()), &rows[0], Who::Owner).await;
    assert_eq!((rows[0].path, status), (paths::OPENAPI, 200));
    let mut named = described(&document);
    let mut known: Vec<_> = rows.iter().map(|row| (row.method.to_owned(), row.path.to_owned())).collect();
    named.sort();
    known.sort();
    assert_eq!(named, known, "a route has no row here, or a row no route");
    for row in rows {
        let bench = Bench::new().await;
        for who in [Who::Nobody, row.whom.who_may()] {
            let (status, kind, body) = bench.ask(router(bench.app.clone()), &row, who).await;
            let operation = &document["paths"][format!("/api/v1{}", row.path)][row.method.to_lowercase()];
            let responses = &operation["responses"];
            let response = match &responses[status.to_string()] {
                Value::Null => &responses["default"],
                response => response,
            };
            let about = format!("{} {} {status} {who:?}", row.method, row.path);
            if status < 400 {
                assert!(!responses[status.to_string()].is_null(), "{about} is not described");
            }
            let content = response["content"].as_object();
            let Some(content) = content else {
                assert_eq!(kind, "", "{about}");
                continue;
            };
            let described = content.get(&kind).unwrap_or_else(|| panic!("{about} {kind}: {content:?}"));
            if kind == "application/json" {
                let mut wrong = Vec::new();
                check(&document, &described["schema"], &body, "", &mut wrong);
                assert!(wrong.is_empty(), "{about}: {wrong:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parameter_that_an_operation_does_not_name_is_refused_by_all() {
    for row in rows().into_iter().filter(|row| (row.method, row.path) != ("DELETE", DATA)) {
        let bench = Bench::new().await;
        let path: &str = format!("{}?untl=5", row.path).leak();
        let mistyped = Row { path, body: row.body.clone(), ..row };
        let (status, _, said) = bench.ask(router(bench.app.clone()), &mistyped, row.whom.who_may()).await;
        let said = said["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(
            status == 400 && said.contains("\"untl\" is not known"),
            "{} {path}: {status} {said}",
            row.method
        );
        // What was refused has changed nothing: the same without it does what it does the first time.
        let (status, ..) = bench.ask(router(bench.app.clone()), &row, row.whom.who_may()).await;
        assert_eq!(status, row.status, "{} {}", row.method, row.path);
        // Whoever may not ask is told nothing else than before.
        let due = due(&row, Who::Nobody);
        let (status, ..) = bench.ask(router(bench.app.clone()), &mistyped, Who::Nobody).await;
        assert_eq!(status, if due < 400 { 400 } else { due }, "{} {path}", row.method);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_to_an_account_at_the_provider_is_confirmed_by_the_session_that_asked_for_it_alone() {
    let bench = Bench::new().await;
    let ann = bench.template.ann.id;
    let linking = Linking::new(ann, TokenDigest::of(bench.token(Who::Owner)));
    let pending = Pending::Link { linking, subject: "4711".into() };
    let sealed = bench.app.oidc.as_ref().unwrap().seal(pending, now_ms()).unwrap();
    let confirm = async |session: &str| {
        let request = Request::post(paths::OIDC_LINK)
            .header(header::HOST, "localhost")
            .header(header::ORIGIN, "http://localhost")
            .header(header::COOKIE, format!("sixlock_oidc={sealed}; sixlock_session={session}"))
            .extension(ConnectInfo(SocketAddr::from(([192, 0, 2, 1], 4711))));
        let response = router(bench.app.clone()).oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let cookies = response.headers().get_all(header::SET_COOKIE).iter();
        let is_taken_back =
            cookies.filter_map(|cookie| cookie.to_str().ok()).any(|cookie| cookie.contains("Max-Age=0"));
        assert!(is_taken_back, "{response:?}");
        response.status().as_u16()
    };
    let (another, _) = bench.app.store.begin_session(ann, now_ms()).await.unwrap();
    for session in ["", "guess", bench.token(Who::OtherUser), &another] {
        assert_eq!(confirm(session).await, 403, "{session}");
    }
    let links = async || bench.app.store.oidc_links(ann).await.unwrap().links;
    assert_eq!(links().await, []);
    assert_eq!(confirm(bench.token(Who::Owner)).await, 303);
    assert_eq!(links().await[0].subject, "4711");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let minimum_rate = MinimumRate { grace: Duration::from_millis(50), rate: 1 << 20 };
    let bench = Bench::with_pace(minimum_rate).await;
    let token = bench.token(Who::Owner);
    for (path, kind, token, status) in [
        ("/login", "application/json", None, 408),
        ("/users/ann/resources", "application/json", Some(token), 408),
        ("/users/ann/resources/node/data", "application/json", Some(token), 408),
        // All these are answered before any of it is read.
        ("/login", "text/plain", None, 415),
        ("/users/ann/resources/node/data", "application/pdf", Some(token), 415),
        ("/users/ann/resources/node/data", "application/json", None, 401),
    ] {
        let begun = stream::iter(["{"].map(Ok::<_, std::io::Error>)).chain(stream::pending());
        let mut request = Request::post(format!("/api/v1{path}"))
            .header(header::HOST, "localhost")
            .header(header::CONTENT_TYPE, kind)
            .extension(ConnectInfo(SocketAddr::from(([192, 0, 2, 1], 4711))));
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.body(Body::from_stream(begun)).unwrap();
        let response = router(bench.app.clone()).oneshot(request).await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{path} {kind}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_who_may_do_what_is_recorded_on_every_route() {
    for row in rows() {
        let bench = Bench::new().await;
        let (status, ..) = bench.ask(router(bench.app.clone()), &row, row.whom.who_may()).await;
        assert_eq!(status, row.status, "{} {}", row.method, row.path);
        let metrics = bench.app.events.metrics(0, 0, None);
        let told = metrics.lines().any(|line| line.starts_with("sixlock_actions_total{"));
        let adds_data = row.path.ends_with("/data") && row.method == "POST";
        let names_only = row.path.contains("/streams")
            && matches!(row.method, "POST" | "PUT")
            && ![TRIGGERS, RETENTION, STREAM_GIVEN_TO].contains(&row.path);
        let tries = row.path.ends_with("/parsers/test") || row.path == EXPRESSION_TEST;
        let exports = row.path.ends_with("/export");
        let follows = row.path == FOLLOWED;
        let expected = (row.method != "GET" || exports) && !adds_data && !names_only && !tries && !follows;
        assert_eq!(told, expected, "{} {}: {metrics}", row.method, row.path);
    }
}

/// Adds to `wrong` where `value` is not what `schema` describes: as much of JSON Schema as the description uses.
fn check(document: &Value, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        return check(document, &document.pointer(&reference[1..]).unwrap().clone(), value, at, wrong);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits = choices.iter().any(|choice| {
            let mut wrong = Vec::new();
            check(document, choice, value, at, &mut wrong);
            wrong.is_empty()
        });
        if !fits {
            wrong.push(format!("{at}: {value} is none of {choices:?}"));
        }
        return;
    }
    let is = |kind: &Value| match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        kind => panic!("{at}: {kind:?}"),
    };
    let fits = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    };
    if !fits {
        wrong.push(format!("{at}: {value} is no {}", schema["type"]));
    }
    if let (Some(properties), Some(fields)) = (schema["properties"].as_object(), value.as_object()) {
        for name in schema["required"].as_array().into_iter().flatten() {
            if !fields.contains_key(name.as_str().unwrap()) {
                wrong.push(format!("{at}: {name} is missing"));
            }
        }
        for (name, field) in fields {
            match properties.get(name) {
                Some(schema) => check(document, schema, field, &format!("{at}/{name}"), wrong),
                None => wrong.push(format!("{at}: {name} is not described")),
            }
        }
    }
    if let Some(items) = value.as_array() {
        for item in items {
            check(document, &schema["items"], item, &format!("{at}/*"), wrong);
        }
    }
}
