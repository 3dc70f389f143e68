//! Accounts that people make for themselves. Until its first sign-in such an account is pending: there are a hundred at most. One that is
//! not used within a day goes; where there is no room for another, one that was not used within ten minutes.

use std::net::IpAddr;

use sqlx::{AssertSqlSafe, Connection};

use crate::accounts::{self, NewUser, User, check_email};
use crate::error::Error;
use crate::hashing_turns::Origin;
use crate::names::is_label;
use crate::password;
use crate::quotas::DAY_MS;
use crate::roles::Role;
use crate::store::Store;

/// The most accounts that nobody has signed in to yet.
const PENDING: i64 = 100;
/// How long one is kept.
const PENDING_MS: i64 = DAY_MS;
/// How long one is kept where others need the room.
const SURE_MS: i64 = 10 * 60_000;
/// An account in which there is nothing yet, and which nobody has signed in to.
const UNUSED: &str = "signed_up IS NOT NULL AND NOT EXISTS (SELECT 1 FROM resources WHERE owner = users.id)";

const FULL: Error = Error::Full("100 accounts are waiting for their first sign-in");

impl Store {
    /// Adds the account of a member who signs up from the address `from` at the time `now`.
    pub async fn sign_up(
        &self,
        (username, email): (&str, &str),
        password: String,
        from: IpAddr,
        now: i64,
    ) -> Result<User, Error> {
        // Whoever chooses a name must not look like another: letters of several alphabets do.
        let is_plain = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
        if !is_label(username) || !username.chars().all(is_plain) {
            return Err(Error::Invalid(
                "a username has 1 to 64 letters of the English alphabet, digits and ._- and is not a number",
            ));
        }
        password::check(&password, username)?;
        check_email(email)?;
        // Before the work of a hash, and again when it is done.
        let is_taken: Option<i64> = sqlx::query_scalar("SELECT 1 FROM users WHERE lower(name) = lower($1)")
            .bind(username)
            .fetch_optional(&self.readers)
            .await?;
        if is_taken.is_some() {
            return Err(Error::Taken("username"));
        }
        let in_the_way: i64 = sqlx::query_scalar("SELECT count(*) FROM users WHERE signed_up > $1")
            .bind(now - SURE_MS)
            .fetch_one(&self.readers)
            .await?;
        if in_the_way >= PENDING {
            return Err(FULL);
        }
        let hash = password::hash(&self.hasher, Origin::stranger(from), password).await?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        sqlx::query(AssertSqlSafe(format!("DELETE FROM users WHERE signed_up <= $1 AND {UNUSED}")))
            .bind(now - PENDING_MS)
            .execute(&mut *transaction)
            .await?;
        sqlx::query(AssertSqlSafe(format!(
            "DELETE FROM users WHERE signed_up <= $1 AND {UNUSED} AND id <=
             (SELECT id FROM users WHERE signed_up IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET $2)"
        )))
        .bind(now - SURE_MS)
        .bind(PENDING - 1)
        .execute(&mut *transaction)
        .await?;
        let pending: i64 = sqlx::query_scalar("SELECT count(*) FROM users WHERE signed_up IS NOT NULL")
            .fetch_one(&mut *transaction)
            .await?;
        if pending >= PENDING {
            return Err(FULL);
        }
        let new = NewUser { username, email, hash, role: Role::Member, signed_up: Some(now) };
        let user = accounts::insert(&mut transaction, new).await?;
        transaction.commit().await?;
        Ok(user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn accounts_nobody_signs_in_to_are_few_and_go_after_a_day() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let from = IpAddr::from([192, 0, 2, 1]);
        let sign_up =
            async |name: &str, now| store.sign_up((name, ""), "long enough".into(), from, now).await;
        let ann = sign_up("ann", 0).await.unwrap();
        assert_eq!((ann.role, ann.admin), (Role::Member, false));
        for name in ["ann", "ANN"] {
            assert!(matches!(sign_up(name, 0).await, Err(Error::Taken(_))), "{name}");
        }
        for name in ["\u{430}nn", "a b", "12", ""] {
            assert!(matches!(sign_up(name, 0).await, Err(Error::Invalid(_))), "{name}");
        }
        for number in 1..PENDING {
            sqlx::query(
                "INSERT INTO users (name, email, password, created, signed_up) VALUES ($1, '', '', 0, 0)",
            )
            .bind(format!("u{number}"))
            .execute(&mut *store.writer.lock().await)
            .await
            .unwrap();
        }
        assert!(matches!(sign_up("bob", 1).await, Err(Error::Full(_))));
        // Whoever signs in makes room, and stays.
        store.begin_session(ann.id, 1).await.unwrap();
        sign_up("bob", 1).await.unwrap();
        assert!(matches!(sign_up("eve", 1).await, Err(Error::Full(_))));
        assert!(matches!(sign_up("eve", SURE_MS - 1).await, Err(Error::Full(_))));
        // The oldest makes room for one, and stays no longer than a day.
        sign_up("eve", SURE_MS).await.unwrap();
        let left = async || -> Vec<String> {
            sqlx::query_scalar("SELECT name FROM users ORDER BY id").fetch_all(&store.readers).await.unwrap()
        };
        let names = left().await;
        assert_eq!(names.len(), PENDING as usize + 1);
        assert!(!names.contains(&"u1".to_owned()) && names.contains(&"u2".to_owned()));
        sign_up("zoe", PENDING_MS).await.unwrap();
        assert_eq!(left().await, ["ann", "bob", "eve", "zoe"]);
    }
}
