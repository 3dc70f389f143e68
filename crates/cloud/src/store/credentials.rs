//! Credentials: DTLS identities, and the keys that they are proved by.
//!
//! An identity belongs to one resource. A resource has one current credential and, while that is being introduced, the
//! one it replaces, until a stated end. Keys are sealed under the master key.

use std::collections::HashSet;
use std::sync::PoisonError;

use serde::Serialize;
use sixlock_base::{Security, TransportSuite};
use sixlock_crypto::constant_time_eq;
use sixlock_endpoint::Proof;
use sixlock_x509::{Certificate, Purpose};
use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::{mpsc, oneshot};
use utoipa::ToSchema;

use super::{CredentialId, Listing, ResourceId, Store, UserId};
use crate::Error;
use crate::public_keys::{CLOUD_NAME, OwnKeys, fingerprint, pem};
use crate::secrets::{self, MasterKey, Secret};

/// The longest identity and the longest key that
/// [RFC 4279 section 5.3](https://www.rfc-editor.org/rfc/rfc4279#section-5.3) asks to support.
const LONGEST_IDENTITY: usize = 128;
const LONGEST_KEY: usize = 64;
/// The shortest key: 128 bits, if they are random.
const SHORTEST_KEY: usize = 16;
const PUBLIC_KEY_RULE: &str = "the key is not a public key or certificate of P-256, in PEM";
/// Revocations that wait for the doors; beyond, whoever revokes waits.
const REVOCATIONS: usize = 64;

/// For how long a certificate is good that is made here, unless it is said: two years, in seconds.
const VALID_S: u32 = 2 * 365 * 24 * 3600;

/// By what devices of a mode prove who they are. Those without DTLS send a key with each request.
pub(super) fn proof_of(mode: Security) -> Proof {
    match mode.transport {
        Some(TransportSuite::DtlsPsk) | None => Proof::PreSharedKey,
        Some(TransportSuite::DtlsRpk) => Proof::RawPublicKey,
        Some(TransportSuite::DtlsX509) => Proof::Certificate,
    }
}

/// Its name in the database.
fn kind(proof: Proof) -> &'static str {
    match proof {
        Proof::PreSharedKey => "psk",
        Proof::RawPublicKey => "rpk",
        Proof::Certificate => "x509",
    }
}

/// Whose an identity is, and how it is proved.
#[derive(Clone, Debug)]
pub struct Known {
    /// The credential.
    pub credential: CredentialId,
    /// The resource that the identity is bound to.
    pub resource: ResourceId,
    /// The pre-shared key. For a certificate the only public key that it may have, or nothing if it may have any and another
    /// authority than the cloud's has signed it; nothing for a raw public key.
    pub key: Secret,
    /// When it ends, in milliseconds since 1970, if it is being replaced.
    pub expires: Option<i64>,
}

/// A public key or certificate by which the device of a resource is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownKey {
    pub(crate) credential: CredentialId,
    pub(crate) identity: String,
    pub(crate) proof: Proof,
    /// As in [`Known`].
    pub(crate) key: Secret,
}

/// A credential as the owner of its resource sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Credential {
    /// The identity, unique in the cloud.
    pub identity: String,
    /// When it ends, in milliseconds since 1970, if it is being replaced.
    pub expires: Option<i64>,
}

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

/// An identity and what proves it, of the form that they need.
pub(super) struct NewCredential {
    pub(super) proof: Proof,
    pub(super) identity: String,
    /// As in [`Known`].
    pub(super) key: Secret,
    /// The certificate that was made for it.
    pub(super) certificate: Option<Vec<u8>>,
}

/// What a certificate says, besides whose it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CertificateTerms {
    /// For how many seconds it is good; without it, two years.
    pub valid_s: Option<u32>,
    /// Whether its device is a server, too, as one is that is polled. Who is none cannot pose as the cloud, not even to devices
    /// that do not check its name.
    pub server: bool,
}

impl CertificateTerms {
    fn purposes(self) -> &'static [Purpose] {
        if self.server { &[Purpose::Client, Purpose::Server] } else { &[Purpose::Client] }
    }
}

/// What a credential is to be made of.
pub(super) struct Wanted<'a> {
    pub(super) proof: Proof,
    pub(super) identity: Option<String>,
    /// The identity, if none is stated.
    pub(super) name: &'a str,
    /// A pre-shared key; or a public key or certificate, in PEM.
    pub(super) key: Option<Secret>,
    /// What a certificate is to say that is made.
    pub(super) certificate: CertificateTerms,
}

impl NewCredential {
    /// Checks what is wanted, and makes what is not there: a pre-shared key, or the certificate of a public one.
    pub(super) fn new(own: &OwnKeys, wanted: Wanted<'_>, now: i64) -> Result<Self, Error> {
        let proof = wanted.proof;
        let credential = match proof {
            Proof::PreSharedKey => Self::pre_shared(wanted),
            Proof::RawPublicKey => Self::raw(wanted),
            Proof::Certificate => Self::certified(own, wanted, now),
        }?;
        let identity = &credential.identity;
        if !(1..=LONGEST_IDENTITY).contains(&identity.len()) || identity.chars().any(char::is_control) {
            return Err(Error::Invalid("an identity has 1 to 128 bytes and no control characters"));
        }
        Ok(credential)
    }

    /// What is told of it, once: the identity, and the pre-shared key or a certificate that was made.
    pub(super) fn told(self) -> (String, Option<Secret>, Option<Vec<u8>>) {
        let Self { proof, identity, key, certificate } = self;
        (identity, (proof == Proof::PreSharedKey).then_some(key), certificate)
    }

    fn pre_shared(Wanted { proof, identity, name, key, .. }: Wanted<'_>) -> Result<Self, Error> {
        let key = match key {
            Some(key) => key,
            None => Secret::new(secrets::printable_key()?.into_bytes()),
        };
        if !(SHORTEST_KEY..=LONGEST_KEY).contains(&key.bytes().len()) {
            return Err(Error::Invalid("a pre-shared key has 16 to 64 bytes"));
        }
        let identity = identity.unwrap_or_else(|| name.to_owned());
        Ok(Self { proof, identity, key, certificate: None })
    }

    fn raw(Wanted { proof, identity, key, .. }: Wanted<'_>) -> Result<Self, Error> {
        let read = key.map(|key| read(&key).public_key.ok_or(Error::Invalid(PUBLIC_KEY_RULE))).transpose()?;
        let identity = match (identity.map(|identity| identity.to_ascii_lowercase()), read) {
            (Some(identity), None)
                if identity.len() == 64 && identity.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
            {
                identity
            }
            (None, Some(point)) => fingerprint(&point),
            (Some(identity), Some(point)) if identity == fingerprint(&point) => identity,
            _ => {
                return Err(Error::Invalid(
                    "with dtls-rpk the key is the public key, which sixlock keys makes, and the identity, if stated, SHA-256 of it in hexadecimal \
                     digits",
                ));
            }
        };
        Ok(Self { proof, identity, key: Secret::new(Vec::new()), certificate: None })
    }

    fn certified(
        own: &OwnKeys,
        Wanted { proof, identity, name, key, certificate: terms }: Wanted<'_>,
        now: i64,
    ) -> Result<Self, Error> {
        let contents = key.as_ref().map(read).unwrap_or_default();
        let (identity, key, certificate) = match (contents.certificates.first(), contents.public_key) {
            (Some(der), _) => {
                let parsed = Certificate::parse(der).map_err(|_| Error::Invalid(PUBLIC_KEY_RULE))?;
                let named = parsed.identity().and_then(|name| str::from_utf8(name).ok());
                let named = named.filter(|named| identity.as_ref().is_none_or(|identity| identity == named));
                let named = named.ok_or(Error::Invalid("the identity is the name in the certificate"))?;
                (named.to_owned(), parsed.public_key().to_vec(), None)
            }
            (None, Some(point)) => {
                let identity = identity.unwrap_or_else(|| name.to_owned());
                let until = now / 1000 + i64::from(terms.valid_s.unwrap_or(VALID_S));
                let certificate = own.issue(&identity, &point, until, terms.purposes())?;
                (identity, point.to_vec(), Some(certificate))
            }
            (None, None) if key.is_none() => {
                let identity = identity.ok_or(Error::Invalid(
                    "with dtls-x509 the key is the public key to be certified, which sixlock keys makes, or the device's certificate; \
                     without it, the identity is the name in certificates of another authority",
                ))?;
                (identity, Vec::new(), None)
            }
            (None, None) => return Err(Error::Invalid(PUBLIC_KEY_RULE)),
        };
        if identity.eq_ignore_ascii_case(CLOUD_NAME) {
            return Err(Error::Invalid("this is the name of the cloud; choose another"));
        }
        Ok(Self { proof, identity, key: Secret::new(key), certificate })
    }
}

/// Reads keys and certificates.
fn read(text: &Secret) -> pem::Contents {
    str::from_utf8(text.bytes()).map(pem::read).unwrap_or_default()
}

/// How a resource's credential is replaced.
#[derive(Clone, Debug)]
pub struct Rotation {
    /// The new identity; without one, the next name after the present one.
    pub identity: Option<String>,
    /// The new key; without one, a new pre-shared key is made. A public key, or a certificate, is PEM.
    pub key: Option<Secret>,
    /// What a certificate says that is made.
    pub certificate: CertificateTerms,
    /// Until when the present credential stays good, in milliseconds since 1970.
    pub until: i64,
}

impl Rotation {
    /// By a new pre-shared key under the next name; the present one stays good until then.
    pub fn until(until: i64) -> Self {
        Self { identity: None, key: None, certificate: CertificateTerms::default(), until }
    }
}

/// A credential just made, and its key.
#[derive(Clone, Debug)]
pub struct Rotated {
    /// The new credential's identity.
    pub identity: String,
    /// Its pre-shared key; nothing with public keys.
    pub key: Option<Secret>,
    /// Its certificate, if one was made, in DER.
    pub certificate: Option<Vec<u8>>,
    /// The credential that it replaces, if that stays good for a while.
    pub replaced: Option<Credential>,
}

/// Credentials that have ended. The doors close what sessions rest on them and then say so.
#[derive(Debug)]
pub(crate) struct Revocation {
    pub(crate) credentials: HashSet<CredentialId>,
    /// A credential that was given an end: what was known of it is out of date.
    pub(crate) replaced: Option<CredentialId>,
    pub(crate) closed: oneshot::Sender<()>,
}

impl Revocation {
    /// Whether what was known of a credential is to be forgotten.
    pub(crate) fn is_of(&self, known: CredentialId) -> bool {
        self.credentials.contains(&known) || self.replaced == Some(known)
    }
}

impl Store {
    /// The revocations from now on. There is one listener.
    pub(crate) fn revocations(&self) -> mpsc::Receiver<Revocation> {
        let (doors, revocations) = mpsc::channel(REVOCATIONS);
        let _ = self.doors.set(doors);
        revocations
    }

    /// Returns when no session rests on these credentials any more. They are gone from the database already, so that
    /// no new session can.
    pub(super) async fn revoke(&self, credentials: Vec<CredentialId>) {
        if !credentials.is_empty() {
            self.tell_doors(credentials, None).await;
        }
    }

    async fn tell_doors(&self, ended: Vec<CredentialId>, replaced: Option<CredentialId>) {
        let (closed, all_closed) = oneshot::channel();
        let revocation = Revocation { credentials: ended.into_iter().collect(), replaced, closed };
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).forget(|known| revocation.is_of(known));
        let Some(doors) = self.doors.get() else { return };
        // Doors that are gone have closed all sessions.
        if doors.send(revocation).await.is_ok() {
            let _ = all_closed.await;
        }
    }

    /// Whose `identity` is that is proved so, if it is good at the time `now`.
    pub async fn known(&self, proof: Proof, identity: &str, now: i64) -> Result<Option<Known>, Error> {
        let row: Option<(i64, i64, Vec<u8>, Option<i64>)> = sqlx::query_as(
            "SELECT id, resource, key, expires FROM credentials
             WHERE identity = $1 AND (expires IS NULL OR expires > $2) AND kind = $3",
        )
        .bind(identity)
        .bind(now)
        .bind(kind(proof))
        .fetch_optional(&self.keys)
        .await?;
        let Some((id, resource, sealed, expires)) = row else { return Ok(None) };
        let key = self.master.open_sealed(identity.as_bytes(), &sealed)?;
        Ok(Some(Known { credential: CredentialId(id), resource: ResourceId(resource), key, expires }))
    }

    /// Whether `key` is a pre-shared key of `resource` that is good at the time `now`. Who sends one again does not wait for the
    /// database.
    pub(crate) async fn has_key(&self, resource: ResourceId, key: &Secret, now: i64) -> Result<bool, Error> {
        let is_it = |known: &Known| constant_time_eq(known.key.bytes(), key.bytes());
        let sent = || self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let forgotten = {
            let mut sent = sent();
            if sent.get(&resource, now).is_some_and(is_it) {
                return Ok(true);
            }
            sent.forgotten()
        };
        // It may be another that is good as well.
        let known = self.keys_of(resource, now).await?.into_iter().find(is_it);
        let is_known = known.is_some();
        if let Some(known) = known {
            sent().insert(resource, known, forgotten);
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
            Ok(Known { credential: CredentialId(id), resource, key, expires })
        };
        rows.into_iter().map(open).collect()
    }

    /// The public keys of `resource` that are good at the time `now`, of the kind of the current one, which is the first.
    pub(crate) async fn public_keys_of(
        &self,
        resource: ResourceId,
        now: i64,
    ) -> Result<Vec<KnownKey>, Error> {
        let rows: Vec<(i64, String, String, Vec<u8>)> = sqlx::query_as(
            "SELECT id, identity, kind, key FROM credentials
             WHERE resource = $1 AND (expires IS NULL OR expires > $2) ORDER BY expires IS NOT NULL",
        )
        .bind(resource.0)
        .bind(now)
        .fetch_all(&self.readers)
        .await?;
        let current = rows.first().map(|(_, _, kind, _)| kind.clone());
        let proofs = [Proof::RawPublicKey, Proof::Certificate];
        let proof = proofs.into_iter().find(|&proof| current.as_deref() == Some(kind(proof)));
        let Some(proof) = proof else { return Ok(Vec::new()) };
        let of_kind = rows.into_iter().filter(|row| row.2 == kind(proof));
        let open = |(id, identity, _, sealed): (i64, String, String, Vec<u8>)| {
            let key = self.master.open_sealed(identity.as_bytes(), &sealed)?;
            Ok(KnownKey { credential: CredentialId(id), identity, proof, key })
        };
        of_kind.map(open).collect()
    }

    /// The credentials of `resource` that are good at the time `now`, the current one first.
    pub async fn credentials(&self, resource: ResourceId, now: i64) -> Result<Vec<Credential>, Error> {
        let rows: Vec<(String, Option<i64>)> = sqlx::query_as(
            "SELECT identity, expires FROM credentials
             WHERE resource = $1 AND (expires IS NULL OR expires > $2) ORDER BY expires IS NOT NULL",
        )
        .bind(resource.0)
        .bind(now)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(|(identity, expires)| Credential { identity, expires }).collect())
    }

    /// The credentials of the resources of `owner` that are good at the time `now`, a page of them in the order of their
    /// ids: those behind `after`.
    pub async fn credentials_of(
        &self,
        owner: UserId,
        listing: Listing,
        now: i64,
    ) -> Result<Vec<HeldCredential>, Error> {
        let rows: Vec<(i64, i64, String, String, String, Option<i64>)> = sqlx::query_as(
            "SELECT credentials.id, resources.id, label, mode, identity, expires
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
        let held = |(id, resource, label, mode, identity, expires)| HeldCredential {
            id: CredentialId(id),
            resource: ResourceId(resource),
            label,
            mode,
            credential: Credential { identity, expires },
        };
        Ok(rows.into_iter().map(held).collect())
    }

    /// Gives `resource` a new credential. The present one stays good until the stated time, one that was being
    /// replaced already ends at once.
    pub async fn rotate(&self, resource: ResourceId, rotation: Rotation, now: i64) -> Result<Rotated, Error> {
        let store = self.clone();
        to_its_end(async move {
            let (rotated, ended, replaced) = store.replace(resource, rotation, now).await?;
            store.tell_doors(ended, replaced).await;
            store.ends.notify_one();
            Ok(rotated)
        })
        .await
    }

    async fn replace(
        &self,
        resource: ResourceId,
        Rotation { identity, key, certificate, until }: Rotation,
        now: i64,
    ) -> Result<(Rotated, Vec<CredentialId>, Option<CredentialId>), Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let row: Option<(String, String)> = sqlx::query_as("SELECT label, mode FROM resources WHERE id = $1")
            .bind(resource.0)
            .fetch_optional(&mut *transaction)
            .await?;
        let (label, mode) = row.ok_or(Error::Unknown("resource"))?;
        let mode = mode.parse().map_err(|_| Error::Invalid("the resource's mode is none of this version"))?;
        let proof = proof_of(mode);
        let present: Option<String> = sqlx::query_scalar(
            "SELECT identity FROM credentials WHERE resource = $1 AND expires IS NULL AND kind = $2",
        )
        .bind(resource.0)
        .bind(kind(proof))
        .fetch_optional(&mut *transaction)
        .await?;
        let name = free_name(&mut transaction, present.as_deref(), &label).await?;
        let wanted = Wanted { proof, identity, name: &name, key, certificate };
        let new = NewCredential::new(&self.own, wanted, now)?;
        // Of the present credential if nothing of it is to stay, and of one that was being replaced already.
        let ended = sqlx::query_scalar(
            "DELETE FROM credentials WHERE resource = $1 AND (expires IS NOT NULL OR $2 <= $3) RETURNING id",
        )
        .bind(resource.0)
        .bind(until)
        .bind(now)
        .fetch_all(&mut *transaction)
        .await?;
        let replaced: Option<(i64, String)> = sqlx::query_as(
            "UPDATE credentials SET expires = $1 WHERE resource = $2 AND expires IS NULL RETURNING id, identity",
        )
        .bind(until)
        .bind(resource.0)
        .fetch_optional(&mut *transaction)
        .await?;
        insert(&mut transaction, &self.master, resource, &new).await?;
        transaction.commit().await?;
        let (id, replaced) = replaced
            .map(|(id, identity)| (CredentialId(id), Credential { identity, expires: Some(until) }))
            .unzip();
        let (identity, key, certificate) = new.told();
        let rotated = Rotated { identity, key, certificate, replaced };
        Ok((rotated, ended.into_iter().map(CredentialId).collect(), id))
    }

    /// Ends a credential of `resource` and closes the sessions that rest on it; without an identity, all credentials.
    pub async fn remove_credentials(
        &self,
        resource: ResourceId,
        identity: Option<String>,
    ) -> Result<(), Error> {
        let store = self.clone();
        to_its_end(async move {
            let ended: Vec<i64> = sqlx::query_scalar(
                "DELETE FROM credentials WHERE resource = $1 AND ($2 IS NULL OR identity = $2) RETURNING id",
            )
            .bind(resource.0)
            .bind(&identity)
            .fetch_all(&mut *store.writer.lock().await)
            .await?;
            if ended.is_empty() {
                return Err(Error::Unknown("credential"));
            }
            store.revoke(ended.into_iter().map(CredentialId).collect()).await;
            Ok(())
        })
        .await
    }

    /// Removes the credentials that have ended by the time `now`, closes the sessions that rest on them and tells
    /// when the next one ends.
    pub async fn expire_credentials(&self, now: i64) -> Result<Option<i64>, Error> {
        let mut writer = self.writer.lock().await;
        let next: Option<i64> =
            sqlx::query_scalar("SELECT min(expires) FROM credentials").fetch_one(&mut *writer).await?;
        if next.is_none_or(|next| next > now) {
            return Ok(next);
        }
        let ended: Vec<i64> = sqlx::query_scalar("DELETE FROM credentials WHERE expires <= $1 RETURNING id")
            .bind(now)
            .fetch_all(&mut *writer)
            .await?;
        let next: Option<i64> =
            sqlx::query_scalar("SELECT min(expires) FROM credentials").fetch_one(&mut *writer).await?;
        drop(writer);
        self.revoke(ended.into_iter().map(CredentialId).collect()).await;
        Ok(next)
    }

    /// Returns when a credential was given an end since the last call.
    pub(crate) async fn credential_ends(&self) {
        self.ends.notified().await;
    }
}

/// Does `work` to its end also when nobody waits for it any more: a client that hangs up between the commit and the
/// closing of sessions would leave them open.
pub(super) async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    tokio::spawn(work).await.unwrap_or(Err(Error::Died("change of credentials")))
}

/// Makes `new` the current credential of `resource`, which has none. The error is that its identity is in use.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    master: &MasterKey,
    resource: ResourceId,
    new: &NewCredential,
) -> Result<(), Error> {
    let sealed = master.seal(new.identity.as_bytes(), new.key.bytes())?;
    let inserted = sqlx::query(
        "INSERT INTO credentials (resource, identity, key, kind) VALUES ($1, $2, $3, $4)
         ON CONFLICT (identity) DO NOTHING",
    )
    .bind(resource.0)
    .bind(&new.identity)
    .bind(sealed)
    .bind(kind(new.proof))
    .execute(connection)
    .await?;
    if inserted.rows_affected() == 0 { Err(Error::Taken("identity")) } else { Ok(()) }
}

/// Whether `credential` is what `resource` has already, and all it has.
pub(super) async fn is_current(
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
    Ok(*identity == credential.identity && known == kind(credential.proof) && same_key)
}

/// Removes what credentials `resource` has, to be revoked after the commit.
pub(super) async fn delete_all(
    connection: &mut SqliteConnection,
    resource: ResourceId,
) -> Result<Vec<CredentialId>, Error> {
    let ended: Vec<i64> = sqlx::query_scalar("DELETE FROM credentials WHERE resource = $1 RETURNING id")
        .bind(resource.0)
        .fetch_all(connection)
        .await?;
    Ok(ended.into_iter().map(CredentialId).collect())
}

/// A name that no identity has: the label, if there was none before, then `label#2`, `label#3` and so on.
async fn free_name(
    connection: &mut SqliteConnection,
    present: Option<&str>,
    label: &str,
) -> Result<String, Error> {
    /// How many names are tried.
    const TRIES: u32 = 100;
    let (base, mut number) = match present {
        None => (label, 1),
        Some(present) => {
            numbered(present).map_or((present, 2), |(base, number)| (base, number.saturating_add(1)))
        }
    };
    for _ in 0..TRIES {
        let name = nth_name(base, number);
        let taken: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM credentials WHERE identity = $1)")
            .bind(&name)
            .fetch_one(&mut *connection)
            .await?;
        if !taken {
            return Ok(name);
        }
        number = number.saturating_add(1);
    }
    Err(Error::Taken("series of identities"))
}

/// What `name` is without its number, and the number.
fn numbered(name: &str) -> Option<(&str, u32)> {
    let (base, number) = name.rsplit_once('#')?;
    let number = number.parse().ok().filter(|number| *number >= 2)?;
    (!base.is_empty()).then_some((base, number))
}

/// The `number`th name: what does not fit is cut from `base`.
fn nth_name(base: &str, number: u32) -> String {
    let suffix = if number < 2 { String::new() } else { format!("#{number}") };
    let mut end = base.len().min(LONGEST_IDENTITY - suffix.len());
    while !base.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{suffix}", &base[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_a_resources_identities_count_up() {
        for (name, next) in [
            ("node-1", "node-1#2"),
            ("node-1#2", "node-1#3"),
            ("node-1#9", "node-1#10"),
            ("node#x", "node#x#2"),
            ("#2", "#2#2"),
            ("a#1", "a#1#2"),
        ] {
            let (base, number) = numbered(name).map_or((name, 2), |(base, number)| (base, number + 1));
            assert_eq!(nth_name(base, number), next, "{name}");
        }
        let long = "ä".repeat(64);
        let next = nth_name(&long, 2);
        assert_eq!(next, format!("{}#2", "ä".repeat(63)));
        assert!(next.len() <= LONGEST_IDENTITY);
    }
}
