//! How credentials are replaced and how they end. The servers that hold sessions are told, and close those that rest on them.

use std::sync::PoisonError;

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::{mpsc, oneshot};

use crate::credentials::Credential;
use crate::credentials::{insert, kind, method_of};
use crate::enrolment::{CertificateTerms, LONGEST_IDENTITY, NewCredential, Wanted};
use crate::error::Error;
use crate::ids::{CredentialId, ResourceId};
use crate::revocation::Revocation;
use crate::secrets::Secret;
use crate::store::Store;

/// Revocations that wait for the server that holds the sessions; beyond, the one who revokes waits.
const REVOCATIONS: usize = 64;

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

impl Store {
    /// The revocations from now on. There is one listener.
    pub fn revocations(&self) -> mpsc::Receiver<Revocation> {
        let (sender, revocations) = mpsc::channel(REVOCATIONS);
        let _ = self.revocations.set(sender);
        revocations
    }

    /// Returns when no session rests on these credentials any more. They are gone from the database already, so that
    /// no new session can.
    pub async fn revoke(&self, credentials: Vec<CredentialId>) {
        if !credentials.is_empty() {
            self.close_sessions(credentials, None).await;
        }
    }

    async fn close_sessions(&self, ended: Vec<CredentialId>, replaced: Option<CredentialId>) {
        let (closed, all_closed) = oneshot::channel();
        let revocation = Revocation { credentials: ended.into_iter().collect(), replaced, closed };
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).revoke(|known| revocation.is_of(known));
        let Some(sender) = self.revocations.get() else { return };
        // A server that is gone has closed all sessions.
        if sender.send(revocation).await.is_ok() {
            let _ = all_closed.await;
        }
    }

    /// Gives `resource` a new credential. The present one stays good until the stated time, one that was being
    /// replaced already ends at once.
    pub async fn rotate(&self, resource: ResourceId, rotation: Rotation, now: i64) -> Result<Rotated, Error> {
        let store = self.clone();
        to_its_end(async move {
            let (rotated, ended, replaced) = store.replace(resource, rotation, now).await?;
            store.close_sessions(ended, replaced).await;
            store.poller_changed(resource);
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
        let method = method_of(mode);
        let present: Option<String> = sqlx::query_scalar(
            "SELECT identity FROM credentials WHERE resource = $1 AND expires IS NULL AND kind = $2",
        )
        .bind(resource.0)
        .bind(kind(method))
        .fetch_optional(&mut *transaction)
        .await?;
        let name = free_name(&mut transaction, present.as_deref(), &label).await?;
        let wanted = Wanted { method, identity, name: &name, key, certificate };
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
        let replaced: Option<(i64, String, Option<i64>)> = sqlx::query_as(
            "UPDATE credentials SET expires = $1 WHERE resource = $2 AND expires IS NULL
             RETURNING id, identity, certificate_expires",
        )
        .bind(until)
        .bind(resource.0)
        .fetch_optional(&mut *transaction)
        .await?;
        insert(&mut transaction, &self.master, resource, &new).await?;
        transaction.commit().await?;
        let (id, replaced) = replaced
            .map(|(id, identity, certificate_expires)| {
                (CredentialId(id), Credential { identity, expires: Some(until), certificate_expires })
            })
            .unzip();
        let (identity, key, certificate) = new.disclose();
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
            store.poller_changed(resource);
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
        let ended: Vec<(i64, Option<i64>)> =
            sqlx::query_as("DELETE FROM credentials WHERE expires <= $1 RETURNING id, resource")
                .bind(now)
                .fetch_all(&mut *writer)
                .await?;
        let next: Option<i64> =
            sqlx::query_scalar("SELECT min(expires) FROM credentials").fetch_one(&mut *writer).await?;
        drop(writer);
        self.revoke(ended.iter().map(|&(id, _)| CredentialId(id)).collect()).await;
        let resources = ended.into_iter().filter_map(|(_, resource)| resource);
        resources.for_each(|resource| self.poller_changed(ResourceId(resource)));
        Ok(next)
    }

    /// Returns when a credential was given an end since the last call.
    pub async fn credential_ends(&self) {
        self.ends.notified().await;
    }
}

/// Does `work` to its end also when nobody waits for it any more: a client that hangs up between the commit and the
/// closing of sessions would leave them open.
pub(crate) async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    tokio::spawn(work).await.unwrap_or(Err(Error::Died("change of credentials")))
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
