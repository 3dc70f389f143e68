//! Links by which users set a password without the present one: once, and within an hour. Only the digests of their tokens
//! are kept.

use sqlx::Connection;

use crate::accounts::User;
use crate::error::Error;
use crate::hashing_turns::Origin;
use crate::ids::UserId;
use crate::password;
use crate::secrets;
use crate::store::Store;
use crate::token_digest::TokenDigest;
use crate::user_change::{password_is_set, tell_of_password};

/// How long a link can be used.
const LINK_MS: i64 = 3_600_000;

impl Store {
    /// Makes a link for `user` at the time `now`: its token, and when it ends. The one before can be used no more.
    pub async fn make_reset_link(&self, user: UserId, now: i64) -> Result<(String, i64), Error> {
        let (token, expires) = (secrets::token()?, now + LINK_MS);
        let made = sqlx::query(
            "INSERT INTO reset_links (owner, digest, expires) SELECT id, $2, $3 FROM users WHERE id = $1
             ON CONFLICT (owner) DO UPDATE SET digest = excluded.digest, expires = excluded.expires",
        )
        .bind(user.0)
        .bind(&TokenDigest::of(&token).bytes()[..])
        .bind(expires)
        .execute(&mut *self.writer.lock().await)
        .await?;
        if made.rows_affected() == 0 { Err(Error::Unknown("user")) } else { Ok((token, expires)) }
    }

    /// Sets the password of the user whose link has this token, and ends all sessions of theirs. `None` if the link is no link, or
    /// good no more at the time `now`. A password that is refused leaves the link as it is.
    pub async fn reset_password(
        &self,
        token: &str,
        password: String,
        now: i64,
    ) -> Result<Option<User>, Error> {
        let digest = TokenDigest::of(token);
        let owner: Option<i64> =
            sqlx::query_scalar("SELECT owner FROM reset_links WHERE digest = $1 AND expires > $2")
                .bind(&digest.bytes()[..])
                .bind(now)
                .fetch_optional(&self.readers)
                .await?;
        let Some(owner) = owner else { return Ok(None) };
        let Some(user) = self.user(&owner.to_string()).await? else { return Ok(None) };
        password::check(&password, &user.username)?;
        let hash = password::hash(&self.hasher, Origin::SignedIn, password).await?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let used = sqlx::query("DELETE FROM reset_links WHERE digest = $1")
            .bind(&digest.bytes()[..])
            .execute(&mut *transaction)
            .await?;
        if used.rows_affected() == 0 {
            // Somebody else was faster.
            return Ok(None);
        }
        sqlx::query("UPDATE users SET password = $1 WHERE id = $2")
            .bind(hash)
            .bind(user.id.0)
            .execute(&mut *transaction)
            .await?;
        password_is_set(&mut transaction, user.id, None).await?;
        transaction.commit().await?;
        drop(writer);
        tell_of_password(self, &user);
        Ok(Some(user))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_link_sets_a_password_once_within_an_hour_and_ends_all_sessions() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "long enough".into(), false).await.unwrap();
        let (session, _) = store.begin_session(ann.id, 0).await.unwrap();
        let reset = async |token: &str, now| store.reset_password(token, "quite another".into(), now).await;

        let (first, _) = store.make_reset_link(ann.id, 0).await.unwrap();
        let (second, expires) = store.make_reset_link(ann.id, 0).await.unwrap();
        assert_eq!(expires, LINK_MS);
        assert_eq!(reset(&first, 1).await.unwrap(), None, "a new link takes the place of the one before");
        assert_eq!(reset(&second, LINK_MS).await.unwrap(), None, "its hour is over");
        let refused = store.reset_password(&second, "short".into(), 1).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
        assert!(store.user_by_token(&session, 1).await.unwrap().is_some());
        assert_eq!(reset(&second, 1).await.unwrap().unwrap().id, ann.id);
        assert!(store.user_by_token(&session, 1).await.unwrap().is_none());
        assert_eq!(reset(&second, 1).await.unwrap(), None, "it is used");

        let (third, _) = store.make_reset_link(ann.id, 0).await.unwrap();
        let change = crate::UserChange { password: Some("a third one".into()), ..Default::default() };
        store.change_user(&ann, change, None).await.unwrap();
        assert_eq!(reset(&third, 1).await.unwrap(), None, "the password was changed otherwise");
        let kept: Vec<Vec<u8>> =
            sqlx::query_scalar("SELECT digest FROM reset_links").fetch_all(&store.readers).await.unwrap();
        assert_eq!(kept, [[0; 0]; 0]);
    }
}
