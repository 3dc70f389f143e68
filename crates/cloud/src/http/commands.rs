//! `…/resources/{resource}/commands`: what its device is to be set to.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use sixlock_store::{Command, CommandId, CommandState, CommandValue, Error, NewCommand, Resource, now_ms};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::{Caller, Given};
use super::failure::Failure;
use super::live_access::LiveAccess;

/// What a device is to be set to.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandSettings {
    /// What of the device is set: `led` is `/actuators/led` there
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9][A-Za-z0-9._:-]*$")]
    actuator: String,
    /// A number, `true` or `false`, or a text of at most 160 characters
    value: CommandValue,
    /// For how many seconds it may wait for the device; without it, 3600
    #[serde(default = "hour")]
    #[schema(minimum = 1, maximum = 2_592_000)]
    expires_in: u32,
}

const fn hour() -> u32 {
    3600
}

/// The commands of a resource: those that wait, and the last 100 that have ended, the newest first
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/commands", tag = "commands",
    responses((status = 200, body = [Command])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Answer<Vec<Command>> {
    Ok(Json(app.store.commands(resource.id).await?))
}

/// Sets something of a device
///
/// The cloud asks the device by `PUT /actuators/{actuator}` over its DTLS session when it is heard next, or at once if a poller asks it by
/// coaps. A command that still waits for the same actuator is replaced. At most 32 wait for a device (409).
#[utoipa::path(post, path = "/users/{user}/resources/{resource}/commands", tag = "commands",
    request_body = CommandSettings, responses((status = 201, body = Command)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(resource): Extension<Resource>,
    body: Body<CommandSettings>,
) -> Result<(StatusCode, Json<Command>), Failure> {
    let Json(CommandSettings { actuator, value, expires_in }) = body?;
    if !is_reached(&app, &resource).await? {
        return Err(Failure::invalid(
            "no command reaches this device: the resource has no device that speaks DTLS, and no poller asks one by coaps",
        ));
    }
    let author = caller.user.clone();
    let command =
        app.store.add_command(resource.id, NewCommand { actuator, value, expires_in, author }).await?;
    Ok((StatusCode::CREATED, Json(command)))
}

/// Whether there is a way to the device of a resource: a session of its own, or that of a poller.
async fn is_reached(app: &App, resource: &Resource) -> Result<bool, Failure> {
    if !app.store.own_keys_of(resource.id, now_ms()).await?.is_empty() {
        return Ok(true);
    }
    let poller = app.store.poller(resource.id).await?;
    Ok(poller.is_some_and(|poller| poller.url.starts_with("coaps://")))
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct CommandQuery {
    /// For how many seconds the answer may wait for the command to end, 0 to 60
    #[serde(default)]
    #[param(minimum = 0, maximum = 60)]
    wait: u8,
}

/// A command
///
/// With `wait`, the answer comes when the command has ended, or that time is over.
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/commands/{command}", tag = "commands",
    params(CommandQuery), responses((status = 200, body = Command)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(resource): Extension<Resource>,
    given: Option<Extension<Given>>,
    path: Result<Path<CommandPath>, PathRejection>,
    query: Result<Query<CommandQuery>, QueryRejection>,
) -> Answer<Command> {
    let (id, Query(CommandQuery { wait })) = (id_of(path)?, query?);
    if wait > 60 {
        return Err(Failure::invalid("wait is not between 0 and 60 seconds"));
    }
    if wait == 0 {
        return Ok(Json(find(&app, &resource, id).await?));
    }
    let mut access = LiveAccess::new(&app.store, &caller, given.map(|Extension(given)| given)).await?;
    let (mut changes, mut stopping) = (app.store.command_changes(), app.stopping.clone());
    let end = tokio::time::sleep(Duration::from_secs(wait.into()));
    tokio::pin!(end);
    loop {
        if !access.holds().await {
            return Err(access.ended().await);
        }
        let command = find(&app, &resource, id).await?;
        let expires = Duration::from_millis((command.expires - now_ms()).max(1).unsigned_abs());
        if command.state != CommandState::Queued {
            return Ok(Json(command));
        }
        tokio::select! {
            () = &mut end => return Ok(Json(command)),
            _ = stopping.wait_for(|stopping| *stopping) => return Ok(Json(command)),
            () = tokio::time::sleep(expires) => {}
            () = access.doubtful() => {}
            // The sender lives as long as the store.
            _ = changes.changed() => {}
        }
    }
}

/// Takes a command back that waits
///
/// One that has ended stays (409). A device that is just being told it may do it all the same.
#[utoipa::path(delete, path = "/users/{user}/resources/{resource}/commands/{command}", tag = "commands",
    responses((status = 204, description = "Withdrawn")))]
pub(super) async fn withdraw(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    path: Result<Path<CommandPath>, PathRejection>,
) -> Result<StatusCode, Failure> {
    let id = id_of(path)?;
    find(&app, &resource, id).await?;
    match app.store.withdraw_command(resource.id, id).await {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        Err(Error::Changed) => Err(Failure::ended_command()),
        Err(error) => Err(error.into()),
    }
}

async fn find(app: &App, resource: &Resource, id: CommandId) -> Result<Command, Failure> {
    app.store.command(resource.id, id).await?.ok_or(Failure::unknown("command"))
}

/// What the path names.
#[derive(Deserialize)]
pub(super) struct CommandPath {
    command: String,
}

fn id_of(path: Result<Path<CommandPath>, PathRejection>) -> Result<CommandId, Failure> {
    let named = path.ok().and_then(|Path(CommandPath { command })| command.parse().ok());
    named.map(CommandId).ok_or(Failure::unknown("command"))
}
