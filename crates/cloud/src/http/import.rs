//! `/users/{user}/import`: many devices at once.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{BadDevice, Enrolled, Resource, ResourceId};
use utoipa::ToSchema;

use super::app::{App, Body};
use super::body_limits::LONGEST_IMPORT;
use super::caller::{Caller, Owner};
use super::failure::Failure;
use super::recorded::AuditDetails;
use super::resources::{Made, NewResource};
use crate::Error;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Import {
    /// Whether to tell only what would be done.
    #[serde(default)]
    dry_run: bool,
    /// At most 1000.
    #[schema(min_items = 1, max_items = 1000)]
    devices: Vec<NewResource>,
}

/// A resource just made. The key or certificate is there if it was made here, and a key is never told again.
#[derive(Serialize, ToSchema)]
pub(super) struct Imported {
    id: ResourceId,
    label: String,
    mode: String,
    identity: Option<String>,
    #[serde(flatten)]
    made: Made,
}

#[derive(Serialize, ToSchema)]
pub(super) struct AllImported {
    /// In the order of the request; none if it was to tell only what would be done.
    devices: Vec<Imported>,
}

/// Adds many resources
///
/// All of them are added or, if one cannot be, none.
#[utoipa::path(post, path = "/users/{user}/import", tag = "resources", request_body = Import,
    responses((status = 201, body = AllImported), (status = 200, body = AllImported)))]
pub(super) async fn import(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<Import>,
) -> Result<(StatusCode, Extension<AuditDetails>, Json<AllImported>), Failure> {
    let Json(Import { dry_run, devices }) = body?;
    if devices.is_empty() || devices.len() > LONGEST_IMPORT {
        return Err(Failure::invalid(format!("an import holds 1 to {LONGEST_IMPORT} devices")));
    }
    devices.iter().try_for_each(|device| device.check_authority(&caller))?;
    let made: Vec<bool> = devices.iter().map(NewResource::has_no_key).collect();
    let mut bad = Vec::new();
    let mut read = Vec::new();
    for (device, new) in devices.into_iter().enumerate() {
        match new.read() {
            Ok(device) => read.push(device),
            Err(why) => bad.push(BadDevice { device, why }),
        }
    }
    if !bad.is_empty() {
        return Err(Error::Devices(bad).into());
    }
    let enrolled = app.store.import(owner.id, read, dry_run).await?;
    if dry_run {
        let nothing = Extension(AuditDetails::actions(Vec::new()));
        return Ok((StatusCode::OK, nothing, Json(AllImported { devices: Vec::new() })));
    }
    let imported = |(Enrolled { resource, key, certificate }, made): (Enrolled, bool)| {
        let Resource { id, label, mode, identity, .. } = resource;
        let made = Made::new(key.as_ref().filter(|_| made), certificate.as_deref());
        Imported { id, label, mode, identity, made }
    };
    let devices: Vec<Imported> = enrolled.into_iter().zip(made).map(imported).collect();
    let deed = AuditDetails {
        made: Some(format!("{} devices", devices.len())),
        ..AuditDetails::actions(vec!["devices_imported"])
    };
    Ok((StatusCode::CREATED, Extension(deed), Json(AllImported { devices })))
}
