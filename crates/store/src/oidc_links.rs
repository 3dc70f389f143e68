//! By which accounts at OpenID providers users sign in. Such an account is known by its issuer and its subject, and by nothing else: an
//! e-mail address may be given to another person, and providers let their users choose it.

use std::collections::HashSet;

use serde::Serialize;
use sqlx::{Connection, SqliteConnection};
use utoipa::ToSchema;

use crate::accounts::{self, NewUser, User, UserRow, check_email, user};
use crate::error::Error;
use crate::ids::UserId;
use crate::names::is_label;
use crate::roles::Role;
use crate::store::Store;
use crate::token_digest::TokenDigest;

/// The longest name that is made of a claim, in characters: a number that tells it from others has room behind it.
const LONGEST_NAME: usize = 58;

/// An account at an OpenID provider by which a user signs in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct OidcLink {
    /// The provider.
    pub issuer: String,
    /// What the provider calls the user.
    pub subject: String,
    /// Since when it is the user's, in milliseconds since 1970.
    pub linked: i64,
}

/// How a user signs in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct OidcLinks {
    /// The accounts at OpenID providers.
    pub links: Vec<OidcLink>,
    /// Whether the user has a password.
    pub has_password: bool,
}

impl Store {
    /// The accounts at OpenID providers by which `owner` signs in, and whether there is a password.
    pub async fn oidc_links(&self, owner: UserId) -> Result<OidcLinks, Error> {
        let rows: Vec<(String, String, i64)> = sqlx::query_as(
            "SELECT issuer, subject, linked FROM oidc_links WHERE owner = $1 ORDER BY linked, issuer",
        )
        .bind(owner.0)
        .fetch_all(&self.readers)
        .await?;
        let has_password: Option<bool> = sqlx::query_scalar("SELECT password <> '' FROM users WHERE id = $1")
            .bind(owner.0)
            .fetch_optional(&self.readers)
            .await?;
        let links = rows.into_iter().map(|(issuer, subject, linked)| OidcLink { issuer, subject, linked });
        Ok(OidcLinks { links: links.collect(), has_password: has_password.unwrap_or(false) })
    }

    /// The user who signs in by this account.
    pub async fn user_by_oidc(&self, issuer: &str, subject: &str) -> Result<Option<User>, Error> {
        let row: Option<UserRow> = sqlx::query_as(
            "SELECT id, name, email, role, created, disabled, signed_up IS NOT NULL, display_name, last_sign_in
             FROM users JOIN oidc_links ON users.id = oidc_links.owner WHERE issuer = $1 AND subject = $2",
        )
        .bind(issuer)
        .bind(subject)
        .fetch_optional(&self.readers)
        .await?;
        Ok(row.map(user))
    }

    /// Lets `owner` sign in by this account from the time `now` on. Fails if it is another user's, or if `owner` has one of this
    /// issuer already.
    pub async fn link_oidc(
        &self,
        owner: UserId,
        (issuer, subject): (&str, &str),
        now: i64,
    ) -> Result<(), Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let of: Option<i64> =
            sqlx::query_scalar("SELECT owner FROM oidc_links WHERE issuer = $1 AND subject = $2")
                .bind(issuer)
                .bind(subject)
                .fetch_optional(&mut *transaction)
                .await?;
        match of {
            Some(of) if of == owner.0 => return Ok(()),
            Some(_) => return Err(Error::Taken("account at the provider")),
            None => {}
        }
        let has_one: bool =
            sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM oidc_links WHERE owner = $1 AND issuer = $2)")
                .bind(owner.0)
                .bind(issuer)
                .fetch_one(&mut *transaction)
                .await?;
        if has_one {
            return Err(Error::Full("another account of this provider is linked already; unlink that first"));
        }
        insert(&mut transaction, owner, (issuer, subject), now).await?;
        Ok(transaction.commit().await?)
    }

    /// Lets `owner` sign in by accounts at providers no more, and ends all their sessions but that of the token `kept`, if there is one: any
    /// of them may have begun so.
    pub async fn unlink_oidc(&self, owner: UserId, kept: Option<TokenDigest>) -> Result<(), Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let unlinked = sqlx::query("DELETE FROM oidc_links WHERE owner = $1")
            .bind(owner.0)
            .execute(&mut *transaction)
            .await?;
        if unlinked.rows_affected() == 0 {
            return Ok(());
        }
        sqlx::query("DELETE FROM tokens WHERE owner = $1 AND label IS NULL AND digest <> $2")
            .bind(owner.0)
            .bind(kept.as_ref().map_or(&[][..], |kept| kept.bytes()))
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        drop(writer);
        self.access_changed();
        Ok(())
    }

    /// The user who signs in by this account, which is made for them if there is none: a member's, without a password, called like
    /// `claimed` as far as names of those who sign up may be, with a number behind it if that is taken.
    pub async fn sign_up_by_oidc(
        &self,
        (issuer, subject): (&str, &str),
        claimed: &str,
        email: &str,
        now: i64,
    ) -> Result<User, Error> {
        // Nothing rests on the address, so a strange one is left out.
        let email = if check_email(email).is_ok() { email } else { "" };
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let known: Option<UserRow> = sqlx::query_as(
            "SELECT id, name, email, role, created, disabled, signed_up IS NOT NULL, display_name, last_sign_in
             FROM users JOIN oidc_links ON users.id = oidc_links.owner WHERE issuer = $1 AND subject = $2",
        )
        .bind(issuer)
        .bind(subject)
        .fetch_optional(&mut *transaction)
        .await?;
        if let Some(known) = known {
            // Two windows of one browser.
            return Ok(user(known));
        }
        let username = free_name(&mut transaction, claimed).await?;
        let new =
            NewUser { username: &username, email, hash: String::new(), role: Role::Member, signed_up: None };
        let user = accounts::insert(&mut transaction, new).await?;
        insert(&mut transaction, user.id, (issuer, subject), now).await?;
        transaction.commit().await?;
        Ok(user)
    }
}

async fn insert(
    connection: &mut SqliteConnection,
    owner: UserId,
    (issuer, subject): (&str, &str),
    now: i64,
) -> Result<(), Error> {
    let inserted = sqlx::query(
        "INSERT INTO oidc_links (issuer, subject, owner, linked) SELECT $1, $2, id, $3 FROM users WHERE id = $4",
    )
    .bind(issuer)
    .bind(subject)
    .bind(now)
    .bind(owner.0)
    .execute(connection)
    .await?;
    if inserted.rows_affected() == 0 { Err(Error::Unknown("user")) } else { Ok(()) }
}

/// A name like `claimed` that nobody has.
async fn free_name(connection: &mut SqliteConnection, claimed: &str) -> Result<String, Error> {
    let name = plain_name(claimed);
    let names: Vec<String> = sqlx::query_scalar("SELECT name FROM users").fetch_all(connection).await?;
    let taken: HashSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let numbered = (2..).map(|number: u32| format!("{name}-{number}"));
    // There are fewer users than numbers.
    let mut candidates = std::iter::once(name.clone()).chain(numbered);
    candidates.find(|candidate| !taken.contains(&candidate.to_lowercase())).ok_or(Error::Taken("username"))
}

/// `claimed` in the characters that names of those who sign up have, so that none looks like another. Of an e-mail address, what stands before
/// the `@`.
fn plain_name(claimed: &str) -> String {
    let local = claimed.split('@').next().unwrap_or_default();
    let plain = |char: char| if char.is_ascii_alphanumeric() || "._-".contains(char) { char } else { '-' };
    let name: String = local.trim().chars().take(LONGEST_NAME).map(plain).collect();
    let name = name.trim_matches('-');
    if is_label(name) { name.to_owned() } else { "user".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUER: &str = "https://id.example.org";

    #[tokio::test]
    async fn an_account_at_a_provider_is_one_users_until_it_is_unlinked() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "long enough".into(), false).await.unwrap();
        let bob = store.add_user("bob", "", "long enough".into(), false).await.unwrap();
        let by = async |issuer: &str, subject: &str| {
            store.user_by_oidc(issuer, subject).await.unwrap().map(|user| user.id)
        };
        assert_eq!(by(ISSUER, "1").await, None);
        for _ in 0..2 {
            store.link_oidc(ann.id, (ISSUER, "1"), 7).await.unwrap();
        }
        assert_eq!(by(ISSUER, "1").await, Some(ann.id));
        assert_eq!(by("https://other.example.org", "1").await, None, "subjects are their issuer's");
        let taken = store.link_oidc(bob.id, (ISSUER, "1"), 8).await;
        assert!(matches!(taken, Err(Error::Taken(_))), "{taken:?}");
        let second = store.link_oidc(ann.id, (ISSUER, "2"), 8).await;
        assert!(matches!(second, Err(Error::Full(_))), "{second:?}");
        let link = OidcLink { issuer: ISSUER.into(), subject: "1".into(), linked: 7 };
        let links = store.oidc_links(ann.id).await.unwrap();
        assert_eq!(links, OidcLinks { links: vec![link], has_password: true });

        let (kept, _) = store.begin_session(ann.id, 0).await.unwrap();
        let (other, _) = store.begin_session(ann.id, 0).await.unwrap();
        store.unlink_oidc(ann.id, Some(TokenDigest::of(&kept))).await.unwrap();
        assert_eq!(by(ISSUER, "1").await, None);
        assert!(store.user_by_token(&kept, 1).await.unwrap().is_some());
        assert!(store.user_by_token(&other, 1).await.unwrap().is_none());
        store.link_oidc(bob.id, (ISSUER, "1"), 9).await.unwrap();
        store.delete_user(bob).await.unwrap();
        assert_eq!(by(ISSUER, "1").await, None, "a link goes with its user");
    }

    #[tokio::test]
    async fn a_new_subject_gets_a_members_account_of_a_name_that_nobody_has() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        store.add_user("ann", "", "long enough".into(), true).await.unwrap();
        let sign_up = async |subject: &str, name: &str| {
            store.sign_up_by_oidc((ISSUER, subject), name, "ann@example.org", 5).await.unwrap()
        };
        let ann = sign_up("1", "Ann").await;
        assert_eq!((&*ann.username, ann.role, ann.pending), ("Ann-2", Role::Member, false));
        assert_eq!(sign_up("1", "whoever").await.id, ann.id, "a subject has one account");
        assert_eq!(sign_up("2", "ann@example.org").await.username, "ann-3");
        assert_eq!(sign_up("3", "").await.username, "user");
        assert_eq!(sign_up("4", "4711").await.username, "user-2");
        let links = store.oidc_links(ann.id).await.unwrap();
        assert!(!links.has_password);
        // No password is the one of somebody who has none.
        let from = std::net::IpAddr::from([192, 0, 2, 1]);
        assert_eq!(store.user_by_password("Ann-2", String::new(), from).await.unwrap(), None);
    }

    #[test]
    fn no_name_of_a_claim_looks_like_another() {
        for (claimed, name) in [
            ("ann", "ann"),
            ("Ann Smith", "Ann-Smith"),
            ("ann@example.org", "ann"),
            ("\u{430}nn", "nn"),
            ("../x", "..-x"),
            ("..", "user"),
            ("\u{202e}", "user"),
        ] {
            assert_eq!(plain_name(claimed), name, "{claimed:?}");
        }
        assert_eq!(plain_name(&"a".repeat(200)).len(), LONGEST_NAME);
    }
}
