//! `/users/{user}/brokers`: where the readings of a user's devices are published by MQTT.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{Broker, BrokerDevices, BrokerFormat, BrokerSettings as Shown, NewBroker, Secret, Store};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::Owner;
use super::failure::Failure;
use super::recorded::AuditDetails;
use crate::Error;
use crate::brokers::{BadBroker, BrokerState, BrokerText, States, Tested, check};
use crate::pollers::Guard;

/// What topics begin with where nobody says otherwise.
const PREFIX: &str = "sixlock/{user}";

/// What a broker is to be. What is left out is as said here.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BrokerSettings {
    /// Unique among the brokers of the user
    #[schema(min_length = 1, max_length = 64)]
    label: String,
    /// Host and port alone, without user and password; without a port 1883, or 8883 with TLS
    #[schema(pattern = "^mqtts?://", max_length = 1024)]
    url: String,
    #[schema(min_length = 1, max_length = 256)]
    username: Option<String>,
    /// Never told again. Left out, the one that there is stays, if url, username and authority stay as they were
    #[schema(min_length = 1, max_length = 256)]
    password: Option<String>,
    /// For mqtts, PEM: the certificates of those who sign the broker's, in place of those whom the cloud's system trusts
    #[schema(max_length = 16_384)]
    authority: Option<String>,
    /// Left out, the one that there is, or for a new broker one that no other has
    #[schema(min_length = 1, max_length = 256)]
    client_id: Option<String>,
    /// What topics begin with; `{user}` in it stands for the name of the user. Left out: `sixlock/{user}`
    #[schema(min_length = 1, max_length = 256)]
    prefix: Option<String>,
    /// 1: the broker acknowledges what it takes, and nothing is lost; 0: it does not. Left out: 1
    #[schema(maximum = 1)]
    qos: Option<u8>,
    /// Whether the broker keeps the last message of each topic for those who subscribe later
    #[serde(default)]
    retain: bool,
    /// Left out: json
    format: Option<BrokerFormat>,
    /// The ids or labels of the devices whose readings are published: at most 1000
    resources: Option<Vec<String>>,
    /// The tag of the devices whose readings are published. Without either: all that are the user's own
    tag: Option<String>,
}

impl BrokerSettings {
    /// The broker that is described, once all of it is checked.
    fn read(self, guard: &Guard) -> Result<NewBroker, Failure> {
        let Self {
            label,
            url,
            username,
            password,
            authority,
            client_id,
            prefix,
            qos,
            retain,
            format,
            resources,
            tag,
        } = self;
        let prefix = prefix.unwrap_or_else(|| PREFIX.into());
        let text = BrokerText {
            url: &url,
            username: username.as_deref(),
            password: password.as_deref(),
            authority: authority.as_deref(),
            client_id: client_id.as_deref(),
            prefix: &prefix,
        };
        let url = check(guard, &text)?;
        let qos = qos.unwrap_or(1);
        if qos > 1 {
            return Err(Failure::invalid("qos is 0 or 1"));
        }
        let devices = match (resources, tag) {
            (Some(_), Some(_)) => {
                return Err(Failure::invalid("resources and tag exclude each other; leave one of them out"));
            }
            (Some(resources), None) => BrokerDevices::These(resources.into_iter().collect()),
            (None, Some(tag)) => BrokerDevices::Tagged(tag),
            (None, None) => BrokerDevices::All,
        };
        let password = password.map(|password| Secret::new(password.into_bytes()));
        let format = format.unwrap_or(BrokerFormat::Json);
        let settings = Shown { label, url, username, authority, prefix, qos, retain, format };
        Ok(NewBroker { settings, password, client_id, devices })
    }
}

/// A broker, and how publishing to it goes. Times are milliseconds since 1970.
#[derive(Serialize, ToSchema)]
pub(super) struct ShownBroker {
    #[serde(flatten)]
    broker: Broker,
    /// Since when it is connected; null if it is not
    connected_since: Option<i64>,
    /// Why the last connection did not begin, or ended; null while it is connected
    last_error: Option<String>,
    /// How many tries failed since the last one that did not
    failures: u32,
    /// How many points were published
    published: u64,
    /// When a point was published last
    last_published: Option<i64>,
    /// How many points wait, at most 100000
    behind: u64,
    /// How many points were left out: too many waited, or they were discarded or deleted before it was their turn
    dropped: u64,
}

/// Returns a broker as its owner sees it.
pub(super) async fn shown(store: &Store, states: &States, broker: Broker) -> Result<ShownBroker, Error> {
    let state = match states.get(broker.id) {
        Some(state) => state,
        None => BrokerState::resting(store.broker_progress(broker.id).await?),
    };
    let BrokerState { progress, connected_since, last_error, failures, .. } = state;
    Ok(ShownBroker {
        broker,
        connected_since,
        last_error,
        failures,
        published: progress.published,
        last_published: progress.last_published,
        behind: progress.waiting,
        dropped: progress.dropped,
    })
}

/// A user's brokers
#[utoipa::path(get, path = "/users/{user}/brokers", tag = "brokers", responses((status = 200, body = [ShownBroker])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<Vec<ShownBroker>> {
    let mut brokers = Vec::new();
    for broker in app.store.brokers(owner.id).await? {
        brokers.push(shown(&app.store, &app.brokers.states, broker).await?);
    }
    Ok(Json(brokers))
}

/// Has readings published to a broker of MQTT 3.1.1
///
/// From then on, each point that is stored of the user's own devices is published: as JSON with `time`, `value` and `unit` to
/// `PREFIX/{device}/{stream}`, or as SenML to `PREFIX/{device}`. With `qos` 1, each is published at least once, in the order in which they were
/// stored. Readings go to the open Internet, and elsewhere only where the operator allows it. A user has at most 4 brokers (409).
#[utoipa::path(post, path = "/users/{user}/brokers", tag = "brokers", request_body = BrokerSettings,
    responses((status = 201, body = ShownBroker)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<BrokerSettings>,
) -> Result<(StatusCode, Extension<AuditDetails>, Json<ShownBroker>), Failure> {
    let new = body?.0.read(&app.brokers.guard)?;
    let broker = app.store.add_broker(owner.id, new).await?;
    let deed = Extension(AuditDetails::made(broker.settings.label.clone()));
    let shown = shown(&app.store, &app.brokers.states, broker).await?;
    Ok((StatusCode::CREATED, deed, Json(shown)))
}

/// A broker, and how publishing to it goes
#[utoipa::path(get, path = "/users/{user}/brokers/{broker}", tag = "brokers", responses((status = 200, body = ShownBroker)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(broker): Extension<Broker>,
) -> Answer<ShownBroker> {
    Ok(Json(shown(&app.store, &app.brokers.states, broker).await?))
}

/// Changes a broker
///
/// All settings are replaced. With another `url`, it begins anew: what waited for the one before is not published.
#[utoipa::path(put, path = "/users/{user}/brokers/{broker}", tag = "brokers", request_body = BrokerSettings,
    responses((status = 200, body = ShownBroker)))]
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    Extension(broker): Extension<Broker>,
    body: Body<BrokerSettings>,
) -> Answer<ShownBroker> {
    let new = body?.0.read(&app.brokers.guard)?;
    let broker = app.store.change_broker(owner.id, broker.id, new).await?;
    Ok(Json(shown(&app.store, &app.brokers.states, broker).await?))
}

/// Deletes a broker: what waits for it is not published
#[utoipa::path(delete, path = "/users/{user}/brokers/{broker}", tag = "brokers",
    responses((status = 204, description = "The broker is gone")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(broker): Extension<Broker>,
) -> Result<StatusCode, Failure> {
    app.store.delete_broker(broker.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Publishes a test message, and tells what the broker said
///
/// It goes to the topic `PREFIX` itself, in a session of its own, whose client id ends in `-test`. A broker is tested once in 10 s, and two of a
/// user, and 16 of all, at the same time (429).
#[utoipa::path(post, path = "/users/{user}/brokers/{broker}/test", tag = "brokers", responses((status = 200, body = Tested)))]
pub(super) async fn test(
    State(app): State<Arc<App>>,
    Extension(broker): Extension<Broker>,
) -> Answer<Tested> {
    let (brokers, unread) = app.store.brokers_to_serve(Some(broker.id)).await?;
    let broker = match brokers.into_iter().next() {
        Some((broker, _)) => broker,
        None => return Err(unread.unwrap_or(Error::Unknown("broker")).into()),
    };
    let tested = app.brokers.tester.test(&broker).await;
    Ok(Json(tested.ok_or_else(|| {
        Failure::too_many(
            "tested",
            "This broker was tested less than 10 s ago, or two of its owner's, or 16 in all, are being tested.",
            "The broker says how publishing goes.",
            10,
        )
    })?))
}

impl From<BadBroker> for Failure {
    fn from(why: BadBroker) -> Self {
        match why {
            BadBroker::Url(why) => Self::invalid(format!("url: {why}")),
            BadBroker::Field(field, why) => Self::invalid(format!("{field}: {why}")),
            BadBroker::Refused(refusal) => Self::new(
                StatusCode::BAD_REQUEST,
                "not_published",
                format!("url: {refusal}."),
                "Readings go to the open Internet; the operator of the cloud decides where they go besides.",
            ),
        }
    }
}
