//! DTLS identities of users, by which they act over CoAP as they act by tokens over HTTP. They stand beside those of devices, so none is
//! both.

use serde::Serialize;
use sixlock_base::{Security, TransportSuite};
use sixlock_endpoint::AuthenticationMethod;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection};
use utoipa::ToSchema;

use crate::accounts::{User, UserRow, user};
use crate::credentials::{kind, method_of};
use crate::enrolment::{CertificateTerms, NewCredential, Wanted};
use crate::error::Error;
use crate::ids::{CredentialId, ResourceId, UserId};
use crate::names::{LABEL_RULE, Reference, is_label};
use crate::rotation::to_its_end;
use crate::secrets::Secret;
use crate::store::Store;
use crate::token_scope::TokenScope;

/// The most of one user.
const IDENTITIES: i64 = 32;

/// A DTLS identity of a user. Its key is shown once, when it is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct UserIdentity {
    /// The row.
    pub id: CredentialId,
    /// How the user calls it, unique for them.
    pub label: String,
    /// The identity, unique in the cloud.
    pub identity: String,
    /// By what it is proved: `dtls-psk`, `dtls-rpk` or `dtls-x509`.
    pub mode: String,
    /// When it was made, in milliseconds since 1970.
    pub created: i64,
    /// When it ends; nothing if it does not by itself.
    pub expires: Option<i64>,
    /// When its certificate ends that was made here, given, or last shown, in milliseconds since 1970, if that is known.
    pub certificate_expires: Option<i64>,
    /// Whether it may only read.
    pub read_only: bool,
    /// The only resource that it may be used for; nothing if it may be used for all.
    pub resource: Option<ResourceId>,
}

/// An identity that a user is to have.
#[derive(Debug)]
pub struct NewIdentity {
    /// How the user calls it.
    pub label: String,
    /// A mode of DTLS alone, by which it is proved.
    pub mode: Security,
    /// The identity; without one, the user's name and the label with a slash between them, or what the key says.
    pub identity: Option<String>,
    /// The pre-shared key, or the public key or certificate in PEM; without it, a pre-shared key is made.
    pub key: Option<Secret>,
    /// For how many seconds a certificate is good that is made; without it, two years.
    pub valid_s: Option<u32>,
    /// When it ends, in milliseconds since 1970; nothing if it does not by itself.
    pub expires: Option<i64>,
    /// What it may be used for: of a resource, one of the user.
    pub scope: TokenScope,
}

/// An identity just made, and what proves it.
#[derive(Clone, Debug)]
pub struct MadeIdentity {
    /// The identity.
    pub identity: UserIdentity,
    /// Its pre-shared key; nothing with public keys.
    pub key: Option<Secret>,
    /// Its certificate, if one was made, in DER.
    pub certificate: Option<Vec<u8>>,
}

/// What an identity allows at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityAccess {
    /// The user.
    pub user: User,
    /// What it may be used for.
    pub scope: TokenScope,
}

/// Id, label, identity, kind, when it was made, ends, and its certificate ends, whether it only reads, and the only resource.
type Row = (i64, String, String, String, i64, Option<i64>, Option<i64>, bool, Option<i64>);

/// The columns of a [`Row`].
const COLUMNS: &str =
    "id, called, identity, kind, made, expires, certificate_expires, read_only, only_resource";

fn identity(
    (id, label, identity, kind, created, expires, certificate_expires, read_only, resource): Row,
) -> UserIdentity {
    let mode = match &*kind {
        "rpk" => TransportSuite::DtlsRpk,
        "x509" => TransportSuite::DtlsX509,
        _ => TransportSuite::DtlsPsk,
    };
    UserIdentity {
        id: CredentialId(id),
        label,
        identity,
        mode: mode.name().to_owned(),
        created,
        expires,
        certificate_expires,
        read_only,
        resource: resource.map(ResourceId),
    }
}

impl NewIdentity {
    /// How it is to be proved.
    fn method(&self) -> Result<AuthenticationMethod, Error> {
        let alone = Security { transport: self.mode.transport, ..Security::default() };
        if self.mode.transport.is_none() || self.mode != alone {
            return Err(Error::Invalid("the mode of a user's identity is dtls-psk, dtls-rpk or dtls-x509"));
        }
        Ok(method_of(self.mode))
    }
}

impl Store {
    /// The DTLS identities of `owner` that are good at the time `now`.
    pub async fn user_identities(&self, owner: UserId, now: i64) -> Result<Vec<UserIdentity>, Error> {
        let rows: Vec<Row> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM credentials
             WHERE holder = $1 AND (expires IS NULL OR expires > $2) ORDER BY id"
        )))
        .bind(owner.0)
        .bind(now)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(identity).collect())
    }

    /// Makes a DTLS identity of `owner`.
    pub async fn add_user_identity(
        &self,
        owner: &User,
        new: NewIdentity,
        now: i64,
    ) -> Result<MadeIdentity, Error> {
        let method = new.method()?;
        let NewIdentity { label, identity: stated, key, valid_s, expires, scope, .. } = new;
        if !is_label(&label) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        if expires.is_some_and(|expires| expires <= now) {
            return Err(Error::Invalid("an identity ends in the future, in milliseconds since 1970"));
        }
        if scope.stream.is_some() {
            return Err(Error::Invalid("an identity is for all resources or for one, not for a stream"));
        }
        // Labels have no slash, so no device's identity is named so that does not mean to.
        let name = format!("{}/{label}", owner.username);
        let certificate = CertificateTerms { valid_s, server: false };
        let new = NewCredential::new(
            &self.own,
            Wanted { method, identity: stated, name: &name, key, certificate },
            now,
        )?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let (identities, is_taken): (i64, bool) = sqlx::query_as(
            "SELECT count(*), coalesce(max(called = $2), FALSE) FROM credentials WHERE holder = $1",
        )
        .bind(owner.id.0)
        .bind(&label)
        .fetch_one(&mut *transaction)
        .await?;
        if is_taken {
            return Err(Error::Taken("label"));
        }
        if identities >= IDENTITIES {
            return Err(Error::Full("a user has at most 32 DTLS identities"));
        }
        let sealed = self.master.seal(new.identity.as_bytes(), new.key.bytes())?;
        let row: Option<Row> = sqlx::query_as(AssertSqlSafe(format!(
            "INSERT INTO credentials (holder, called, identity, key, kind, made, expires, certificate_expires, read_only, only_resource)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             ON CONFLICT (identity) DO NOTHING RETURNING {COLUMNS}"
        )))
        .bind(owner.id.0)
        .bind(&label)
        .bind(&new.identity)
        .bind(sealed)
        .bind(kind(method))
        .bind(now)
        .bind(expires)
        .bind(new.certificate_expires)
        .bind(scope.read_only)
        .bind(scope.resource.map(|resource| resource.0))
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(row) = row else {
            return Err(if new.is_named_by_key() { Error::KeyTaken } else { Error::Taken("identity") });
        };
        transaction.commit().await?;
        drop(writer);
        self.ends.notify_one();
        let (_, key, certificate) = new.disclose();
        Ok(MadeIdentity { identity: identity(row), key, certificate })
    }

    /// Ends a DTLS identity of `owner`, by its id or label, and closes the sessions that rest on it.
    pub async fn delete_user_identity(&self, owner: UserId, id_or_label: &str) -> Result<(), Error> {
        let (store, named) = (self.clone(), id_or_label.to_owned());
        to_its_end(async move {
            let named = Reference::read(&named);
            let ended: Vec<i64> = sqlx::query_scalar(
                "DELETE FROM credentials WHERE holder = $1 AND (id = $2 OR called = $3) RETURNING id",
            )
            .bind(owner.0)
            .bind(named.id())
            .bind(named.name())
            .fetch_all(&mut *store.writer.lock().await)
            .await?;
            if ended.is_empty() {
                return Err(Error::Unknown("identity"));
            }
            store.revoke(ended.into_iter().map(CredentialId).collect()).await;
            Ok(())
        })
        .await
    }

    /// Whom an identity of a user stands for, and what it allows at the time `now`; `None` if it is good no more, or the account is
    /// disabled.
    pub async fn identity_access(
        &self,
        credential: CredentialId,
        now: i64,
    ) -> Result<Option<IdentityAccess>, Error> {
        type Row = (i64, String, String, String, i64, String, Option<i64>, bool, Option<i64>);
        let row: Option<Row> = sqlx::query_as(
            "SELECT users.id, users.name, users.email, users.role, users.created, display_name, last_sign_in,
             read_only, only_resource
             FROM credentials JOIN users ON users.id = credentials.holder
             WHERE credentials.id = $1 AND (expires IS NULL OR expires > $2) AND NOT users.disabled",
        )
        .bind(credential.0)
        .bind(now)
        .fetch_optional(&self.readers)
        .await?;
        Ok(row.map(|(id, name, email, role, created, display_name, last_sign_in, read_only, resource)| {
            // Whoever comes by an identity is neither disabled nor waits for the first sign-in: somebody made it.
            let row: UserRow = (id, name, email, role, created, false, false, display_name, last_sign_in);
            IdentityAccess { user: user(row), scope: TokenScope::read((read_only, resource, None)) }
        }))
    }
}

/// The credentials of a user.
pub(crate) async fn of_user(
    connection: &mut SqliteConnection,
    user: UserId,
) -> Result<Vec<CredentialId>, Error> {
    let held: Vec<i64> = sqlx::query_scalar("SELECT id FROM credentials WHERE holder = $1")
        .bind(user.0)
        .fetch_all(connection)
        .await?;
    Ok(held.into_iter().map(CredentialId).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Holder;
    use crate::public_keys::{KeyPair, pem};
    use crate::resources::Device;
    use crate::user_change::UserChange;

    fn new(label: &str) -> NewIdentity {
        NewIdentity {
            label: label.to_owned(),
            mode: "dtls-psk".parse().unwrap(),
            identity: None,
            key: None,
            valid_s: None,
            expires: None,
            scope: TokenScope::default(),
        }
    }

    async fn store() -> (tempfile::TempDir, Store, User) {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "long enough".into(), false).await.unwrap();
        (directory, store, ann)
    }

    #[tokio::test]
    async fn an_identity_is_a_devices_or_a_users_and_never_both() {
        const PSK: AuthenticationMethod = AuthenticationMethod::PreSharedKey;
        let (_directory, store, ann) = store().await;
        let mode = "dtls-psk".parse().unwrap();
        let device = |identity: &str| {
            let label = identity.replace('/', "-");
            Device { mode, identity: Some(identity.to_owned()), ..Device::named(&label) }
        };
        let node = store.add_resource(ann.id, device("node")).await.unwrap().resource.id;
        let made = store.add_user_identity(&ann, new("laptop"), 0).await.unwrap();
        assert_eq!(made.identity.identity, "ann/laptop");
        let known = store.known(PSK, "ann/laptop", 0).await.unwrap().unwrap();
        assert_eq!((known.holder, known.key.bytes()), (Holder::User(ann.id), made.key.unwrap().bytes()));
        assert_eq!(store.known(PSK, "node", 0).await.unwrap().unwrap().holder, Holder::Device(node));

        let taken = NewIdentity { identity: Some("node".into()), ..new("node") };
        assert!(matches!(store.add_user_identity(&ann, taken, 0).await, Err(Error::Taken("identity"))));
        let taken = store.add_resource(ann.id, device("ann/laptop")).await;
        assert!(matches!(taken, Err(Error::Taken("identity"))), "{taken:?}");
        let taken = store.add_user_identity(&ann, new("laptop"), 0).await;
        assert!(matches!(taken, Err(Error::Taken("label"))), "{taken:?}");
        // Nor is a public key both.
        let public = Secret::new(pem::public_key(&KeyPair::random().unwrap().point).into_bytes());
        let rpk = || "dtls-rpk".parse().unwrap();
        let by_key = Device { mode: rpk(), key: Some(public.clone()), ..Device::named("raw") };
        store.add_resource(ann.id, by_key).await.unwrap();
        let taken = NewIdentity { mode: rpk(), key: Some(public), ..new("raw") };
        assert!(matches!(store.add_user_identity(&ann, taken, 0).await, Err(Error::KeyTaken)));
        // A user's is no credential of a device.
        assert!(store.remove_credentials(node, Some("ann/laptop".into())).await.is_err());
        assert_eq!(store.credentials(node, 0).await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn an_identity_is_of_dtls_alone_and_a_user_has_so_many_and_no_more() {
        let (_directory, store, ann) = store().await;
        for mode in ["none", "llsec", "llsec+dtls-psk"] {
            let other = NewIdentity { mode: mode.parse().unwrap(), ..new("other") };
            assert!(
                matches!(store.add_user_identity(&ann, other, 0).await, Err(Error::Invalid(_))),
                "{mode}"
            );
        }
        let over = NewIdentity { expires: Some(10), ..new("over") };
        assert!(matches!(store.add_user_identity(&ann, over, 10).await, Err(Error::Invalid(_))));
        for n in 0..IDENTITIES {
            store.add_user_identity(&ann, new(&format!("i{n}")), 0).await.unwrap();
        }
        assert!(matches!(store.add_user_identity(&ann, new("more"), 0).await, Err(Error::Full(_))));
        store.delete_user_identity(ann.id, "i0").await.unwrap();
        assert!(matches!(store.delete_user_identity(ann.id, "i0").await, Err(Error::Unknown(_))));
        store.add_user_identity(&ann, new("more"), 0).await.unwrap();
        assert_eq!(store.user_identities(ann.id, 0).await.unwrap().len(), IDENTITIES as usize);
    }

    #[tokio::test]
    async fn an_identity_ends_by_its_time_with_its_resource_with_its_user_and_while_that_is_disabled() {
        let (_directory, store, ann) = store().await;
        let node = store.add_resource(ann.id, Device::named("node")).await.unwrap().resource.id;
        let scope = TokenScope { read_only: true, resource: Some(node), stream: None };
        let narrow = NewIdentity { scope, ..new("narrow") };
        let narrow = store.add_user_identity(&ann, narrow, 0).await.unwrap().identity;
        let short = NewIdentity { expires: Some(100), ..new("short") };
        let short = store.add_user_identity(&ann, short, 0).await.unwrap().identity;
        let long = store.add_user_identity(&ann, new("long"), 0).await.unwrap().identity;
        let access =
            async |identity: &UserIdentity, now| store.identity_access(identity.id, now).await.unwrap();
        assert_eq!(access(&narrow, 0).await.unwrap().scope, scope);
        assert!(access(&short, 99).await.is_some() && access(&short, 100).await.is_none());
        let good = async || store.good_credentials(50).await.unwrap().len();
        assert_eq!(good().await, 4);
        assert_eq!(store.expire_credentials(100).await.unwrap(), None);
        let left = store.user_identities(ann.id, 0).await.unwrap();
        assert_eq!(left, [narrow.clone(), long.clone()]);

        let disable = |disabled| UserChange { disabled: Some(disabled), ..UserChange::default() };
        store.change_user(&ann, disable(true), None).await.unwrap();
        let known =
            async || store.known(AuthenticationMethod::PreSharedKey, "ann/long", 0).await.unwrap().is_some();
        assert!(!known().await && access(&long, 0).await.is_none());
        assert_eq!(good().await, 1, "that of the device");
        store.change_user(&ann, disable(false), None).await.unwrap();
        assert!(known().await && access(&long, 0).await.is_some());

        store.delete_resource(node).await.unwrap();
        assert!(access(&narrow, 0).await.is_none());
        store.delete_user(ann).await.unwrap();
        assert!(!known().await && access(&long, 0).await.is_none());
    }
}
