//! Credentials: DTLS identities, and the keys that they are proved by.
//!
//! An identity belongs to one resource, or to one user ([`crate::user_identities`]). A resource has one current credential and, while that
//! is being introduced, the one it replaces, until a stated end. Keys are sealed under the master key.

use std::sync::PoisonError;

use serde::Serialize;
use sixlock_base::{Security, TransportSuite};
use sixlock_crypto::constant_time_eq;
use sixlock_endpoint::AuthenticationMethod;
use sqlx::sqlite::SqliteConnection;
use utoipa::ToSchema;

use crate::enrolment::NewCredential;
use crate::error::Error;
use crate::ids::{CredentialId, Listing, ResourceId, UserId};
use crate::known::{Holder, Known, KnownKey};
use crate::master_key::MasterKey;
use crate::secrets::Secret;
use crate::store::Store;

/// By what devices of a mode prove who they are. Those without DTLS send a key with each request.
pub(crate) fn method_of(mode: Security) -> AuthenticationMethod {
    match mode.transport {
        Some(TransportSuite::DtlsPsk) | None => AuthenticationMethod::PreSharedKey,
        Some(TransportSuite::DtlsRpk) => AuthenticationMethod::RawPublicKey,
        Some(TransportSuite::DtlsX509) => AuthenticationMethod::Certificate,
    }
}

/// Its name in the database.
pub(crate) fn kind(method: AuthenticationMethod) -> &'static str {
    match method {
        AuthenticationMethod::PreSharedKey => "psk",
        AuthenticationMethod::RawPublicKey => "rpk",
        AuthenticationMethod::Certificate => "x509",
    }
}

/// A credential as the owner of its resource sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Credential {
    /// The identity, unique in the cloud.
    pub identity: String,
    /// When it ends, in milliseconds since 1970, if it is being replaced.
    pub expires: Option<i64>,
    /// When its certificate ends that was made here, given, or last shown by its device, in milliseconds since 1970, if that is
    /// known.
    pub certificate_expires: Option<i64>,
}

type HeldRow = (i64, i64, String, String, String, Option<i64>, Option<i64>);

/// A credential with the resource that has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct HeldCredential {
    /// The row of the credential.
    pub id: CredentialId,
    /// The row of the resource.
    pub resource: ResourceId,
    /// The resource's label.
    pub label: String,
    /// The resource's security mode.
    pub mode: String,
    /// The credential.
    #[serde(flatten)]
    pub credential: Credential,
}

impl Store {
    /// Whose `identity` is that is proved so, if it is good at the time `now`. That of a user whose account is disabled is not.
    pub async fn known(
        &self,
        method: AuthenticationMethod,
        identity: &str,
        now: i64,
    ) -> Result<Option<Known>, Error> {
        type Row = (i64, Option<i64>, Option<i64>, Vec<u8>, Option<i64>);
        let row: Option<Row> = sqlx::query_as(
            "SELECT credentials.id, resource, holder, key, expires
             FROM credentials LEFT JOIN users ON users.id = credentials.holder
             WHERE identity = $1 AND (expires IS NULL OR expires > $2) AND kind = $3
             AND NOT coalesce(users.disabled, FALSE)",
        )
        .bind(identity)
        .bind(now)
        .bind(kind(method))
        .fetch_optional(&self.keys)
        .await?;
        let Some((id, resource, user, sealed, expires)) = row else { return Ok(None) };
        let Some(holder) = Holder::read(resource, user) else { return Ok(None) };
        let key = self.master.open_sealed(identity.as_bytes(), &sealed)?;
        Ok(Some(Known { credential: CredentialId(id), holder, key, expires }))
    }

    /// Whether `key` is a pre-shared key of `resource` that is good at the time `now`. Who sends one again does not wait for the
    /// database.
    pub async fn has_key(&self, resource: ResourceId, key: &Secret, now: i64) -> Result<bool, Error> {
        let is_it = |known: &Known| constant_time_eq(known.key.bytes(), key.bytes());
        let sent = || self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let revocations = {
            let sent = sent();
            if sent.get(resource, now).is_some_and(is_it) {
                return Ok(true);
            }
            sent.revocations()
        };
        // It may be another that is good as well.
        let known = self.keys_of(resource, now).await?.into_iter().find(is_it);
        let is_known = known.is_some();
        if let Some(known) = known {
            sent().insert(resource, known, revocations);
        }
        Ok(is_known)
    }

    /// The pre-shared keys of `resource` that are good at the time `now`: at most two.
    async fn keys_of(&self, resource: ResourceId, now: i64) -> Result<Vec<Known>, Error> {
        let rows: Vec<(i64, String, Vec<u8>, Option<i64>)> = sqlx::query_as(
            "SELECT id, identity, key, expires FROM credentials
             WHERE resource = $1 AND (expires IS NULL OR expires > $2) AND kind = 'psk'",
        )
        .bind(resource.0)
        .bind(now)
        .fetch_all(&self.readers)
        .await?;
        let open = |(id, identity, sealed, expires): (i64, String, Vec<u8>, _)| {
            let key = self.master.open_sealed(identity.as_bytes(), &sealed)?;
            Ok(Known { credential: CredentialId(id), holder: Holder::Device(resource), key, expires })
        };
        rows.into_iter().map(open).collect()
    }

    /// The keys by which the device of `resource` proves itself over DTLS that are good at the time `now`, of the kind of the current one, which
    /// is the first. The key of a mode without DTLS is none: it goes in the clear.
    pub async fn own_keys_of(&self, resource: ResourceId, now: i64) -> Result<Vec<KnownKey>, Error> {
        let rows: Vec<(i64, String, String, Vec<u8>, String)> = sqlx::query_as(
            "SELECT credentials.id, identity, kind, key, mode
             FROM credentials JOIN resources ON resources.id = credentials.resource
             WHERE resource = $1 AND (expires IS NULL OR expires > $2) ORDER BY expires IS NOT NULL",
        )
        .bind(resource.0)
        .bind(now)
        .fetch_all(&self.readers)
        .await?;
        let Some((_, _, current, _, mode)) = rows.first() else { return Ok(Vec::new()) };
        let has_dtls = mode.parse::<Security>().is_ok_and(|mode| mode.transport.is_some());
        let methods = [
            AuthenticationMethod::PreSharedKey,
            AuthenticationMethod::RawPublicKey,
            AuthenticationMethod::Certificate,
        ];
        let method = methods.into_iter().find(|&method| current == kind(method));
        let Some(method) = method.filter(|_| has_dtls) else { return Ok(Vec::new()) };
        let of_kind = rows.into_iter().filter(|row| row.2 == kind(method));
        let open = |(id, identity, _, sealed, _): (i64, String, String, Vec<u8>, String)| {
            let key = self.master.open_sealed(identity.as_bytes(), &sealed)?;
            Ok(KnownKey { credential: CredentialId(id), identity, method, key })
        };
        of_kind.map(open).collect()
    }

    /// The credentials of `resource` that are good at the time `now`, the current one first.
    pub async fn credentials(&self, resource: ResourceId, now: i64) -> Result<Vec<Credential>, Error> {
        let rows: Vec<(String, Option<i64>, Option<i64>)> = sqlx::query_as(
            "SELECT identity, expires, certificate_expires FROM credentials
             WHERE resource = $1 AND (expires IS NULL OR expires > $2) ORDER BY expires IS NOT NULL",
        )
        .bind(resource.0)
        .bind(now)
        .fetch_all(&self.readers)
        .await?;
        let credential =
            |(identity, expires, certificate_expires)| Credential { identity, expires, certificate_expires };
        Ok(rows.into_iter().map(credential).collect())
    }

    /// The credentials of the resources of `owner` that are good at the time `now`, a page of them in the order of their
    /// ids: those behind `after`.
    pub async fn credentials_of(
        &self,
        owner: UserId,
        listing: Listing,
        now: i64,
    ) -> Result<Vec<HeldCredential>, Error> {
        let rows: Vec<HeldRow> = sqlx::query_as(
            "SELECT credentials.id, resources.id, label, mode, identity, expires, certificate_expires
             FROM credentials JOIN resources ON resources.id = credentials.resource
             WHERE owner = $1 AND credentials.id > $2 AND (expires IS NULL OR expires > $3)
             ORDER BY credentials.id LIMIT $4",
        )
        .bind(owner.0)
        .bind(listing.after)
        .bind(now)
        .bind(listing.limit)
        .fetch_all(&self.readers)
        .await?;
        let held = |(id, resource, label, mode, identity, expires, certificate_expires)| HeldCredential {
            id: CredentialId(id),
            resource: ResourceId(resource),
            label,
            mode,
            credential: Credential { identity, expires, certificate_expires },
        };
        Ok(rows.into_iter().map(held).collect())
    }
}

/// Makes `new` the current credential of `resource`, which has none. The error is that its identity is in use.
pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    master: &MasterKey,
    resource: ResourceId,
    new: &NewCredential,
) -> Result<(), Error> {
    let sealed = master.seal(new.identity.as_bytes(), new.key.bytes())?;
    let inserted = sqlx::query(
        "INSERT INTO credentials (resource, identity, key, kind, certificate_expires) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (identity) DO NOTHING",
    )
    .bind(resource.0)
    .bind(&new.identity)
    .bind(sealed)
    .bind(kind(new.method))
    .bind(new.certificate_expires)
    .execute(connection)
    .await?;
    match inserted.rows_affected() {
        0 if new.is_named_by_key() => Err(Error::KeyTaken),
        0 => Err(Error::Taken("identity")),
        _ => Ok(()),
    }
}

/// Whether `credential` is what `resource` has already, and all it has.
pub(crate) async fn is_current(
    connection: &mut SqliteConnection,
    master: &MasterKey,
    resource: ResourceId,
    credential: &NewCredential,
) -> Result<bool, Error> {
    let rows: Vec<(String, Vec<u8>, String)> =
        sqlx::query_as("SELECT identity, key, kind FROM credentials WHERE resource = $1")
            .bind(resource.0)
            .fetch_all(connection)
            .await?;
    let [(identity, sealed, known)] = &rows[..] else { return Ok(false) };
    // One that does not open is one to be replaced.
    let key = master.open_sealed(identity.as_bytes(), sealed).ok();
    let same_key = key.is_some_and(|key| constant_time_eq(key.bytes(), credential.key.bytes()));
    Ok(*identity == credential.identity && known == kind(credential.method) && same_key)
}

/// Removes the identities of users that are for `resource` alone, to be revoked after the commit.
pub(crate) async fn delete_those_for(
    connection: &mut SqliteConnection,
    resource: ResourceId,
) -> Result<Vec<CredentialId>, Error> {
    let ended: Vec<i64> = sqlx::query_scalar("DELETE FROM credentials WHERE only_resource = $1 RETURNING id")
        .bind(resource.0)
        .fetch_all(connection)
        .await?;
    Ok(ended.into_iter().map(CredentialId).collect())
}

/// Removes what credentials `resource` has, to be revoked after the commit.
pub(crate) async fn delete_all(
    connection: &mut SqliteConnection,
    resource: ResourceId,
) -> Result<Vec<CredentialId>, Error> {
    let ended: Vec<i64> = sqlx::query_scalar("DELETE FROM credentials WHERE resource = $1 RETURNING id")
        .bind(resource.0)
        .fetch_all(connection)
        .await?;
    Ok(ended.into_iter().map(CredentialId).collect())
}
