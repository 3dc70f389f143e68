//! Streams that users follow: their own, and those of others that anyone may read, or that groups let them read.

use serde::Serialize;
use sqlx::Connection;
use utoipa::ToSchema;

use crate::error::Error;
use crate::ids::{StreamId, UserId};
use crate::names::Reference;
use crate::sharing::SharedStream;
use crate::store::Store;

/// The most streams that one user follows.
const FOLLOWED: i64 = 100;

/// A stream that a user follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FollowedStream {
    /// The stream.
    pub id: StreamId,
    /// Since when, in milliseconds since 1970.
    pub since: i64,
    /// What there is to know of it; nothing if the user may read it no more, or it is gone.
    pub stream: Option<SharedStream>,
}

impl Store {
    /// The streams that `user` follows, in the order in which that began.
    pub async fn followed(&self, user: UserId) -> Result<Vec<FollowedStream>, Error> {
        let rows: Vec<(i64, i64)> = sqlx::query_as(
            "SELECT stream, since FROM followed_streams WHERE owner = $1 ORDER BY since, stream",
        )
        .bind(user.0)
        .fetch_all(&self.readers)
        .await?;
        let mut shared = self.followed_that_are_shared(user).await?;
        let followed = |(id, since)| {
            let id = StreamId(id);
            FollowedStream { id, since, stream: shared.remove(&id) }
        };
        Ok(rows.into_iter().map(followed).collect())
    }

    /// Begins at the time `now` to follow the stream of this id for `user`, who follows it already or may read it.
    pub async fn follow(&self, user: UserId, id: &str, now: i64) -> Result<FollowedStream, Error> {
        const UNKNOWN: Error = Error::Unknown("stream");
        let id = Reference::read(id).id().ok_or(UNKNOWN)?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let (others, follows, may): (i64, bool, bool) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM followed_streams WHERE owner = $1 AND stream <> $2),
             EXISTS (SELECT 1 FROM followed_streams WHERE owner = $1 AND stream = $2),
             EXISTS (SELECT 1 FROM streams JOIN resources ON resources.id = streams.resource
                     WHERE streams.id = $2 AND (public_access OR resources.owner = $1))
             OR EXISTS (SELECT 1 FROM given_streams WHERE member = $1 AND stream = $2)",
        )
        .bind(user.0)
        .bind(id)
        .fetch_one(&mut *transaction)
        .await?;
        if !follows && !may {
            return Err(UNKNOWN);
        }
        if !follows && others >= FOLLOWED {
            return Err(Error::Full("a user follows at most 100 streams"));
        }
        sqlx::query(
            "INSERT INTO followed_streams (owner, stream, since) SELECT id, $2, $3 FROM users WHERE id = $1
             ON CONFLICT (owner, stream) DO NOTHING",
        )
        .bind(user.0)
        .bind(id)
        .bind(now)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        drop(writer);
        let mut followed = self.followed(user).await?.into_iter();
        followed.find(|followed| followed.id == StreamId(id)).ok_or(UNKNOWN)
    }

    /// Follows the stream of this id for `user` no more.
    pub async fn unfollow(&self, user: UserId, id: &str) -> Result<(), Error> {
        let deleted = sqlx::query("DELETE FROM followed_streams WHERE owner = $1 AND stream = $2")
            .bind(user.0)
            .bind(Reference::read(id).id())
            .execute(&mut *self.writer.lock().await)
            .await?;
        if deleted.rows_affected() == 0 { Err(Error::Unknown("stream")) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Device;
    use crate::streams::StreamChange;
    use sixlock_ingest::ValueType;

    fn access(public_access: bool) -> StreamChange<'static> {
        StreamChange { public_access: Some(public_access), ..Default::default() }
    }

    #[tokio::test]
    async fn a_user_follows_what_is_public_or_their_own_and_learns_nothing_of_it_when_it_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let mut ids = Vec::new();
        let mut users = Vec::new();
        for name in ["ann", "bob"] {
            let user = store.add_user(name, "", "long enough".into(), false).await.unwrap().id;
            let node = store.add_resource(user, Device::named(name)).await.unwrap().resource.id;
            ids.push(store.add_stream(node, (name, None, ""), ValueType::Number).await.unwrap().id);
            users.push(user);
        }
        let ([ann, bob], [of_ann, of_bob]) = ([users[0], users[1]], [ids[0], ids[1]]);
        let follow = async |user, id: StreamId, now| store.follow(user, &id.0.to_string(), now).await;
        for id in [of_ann, StreamId(99)] {
            assert!(matches!(follow(bob, id, 1).await, Err(Error::Unknown("stream"))), "{id:?}");
        }
        assert!(matches!(store.follow(bob, "ann", 1).await, Err(Error::Unknown("stream"))));
        store.change_stream(of_ann, access(true), None).await.unwrap();
        let followed = follow(bob, of_ann, 2).await.unwrap();
        assert_eq!(followed.stream.as_ref().unwrap().owner, "ann");
        // Who follows it already goes on to do so.
        assert_eq!(follow(bob, of_ann, 7).await.unwrap(), followed);
        follow(bob, of_bob, 3).await.unwrap();
        store.change_stream(of_ann, access(false), None).await.unwrap();
        let gone = FollowedStream { id: of_ann, since: 2, stream: None };
        let listed = store.followed(bob).await.unwrap();
        assert_eq!((&listed[0], listed[1].stream.is_some(), listed.len()), (&gone, true, 2));
        // One that was deleted looks the same.
        store.delete_stream(of_ann).await.unwrap();
        assert_eq!(store.followed(bob).await.unwrap(), listed);
        assert_eq!(store.followed(ann).await.unwrap(), []);
        store.unfollow(bob, &of_ann.0.to_string()).await.unwrap();
        assert!(matches!(store.unfollow(bob, &of_ann.0.to_string()).await, Err(Error::Unknown("stream"))));
        assert_eq!(store.followed(bob).await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_user_follows_so_many_streams_and_no_more() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "long enough".into(), false).await.unwrap().id;
        let mut ids = Vec::new();
        for device in ["one", "two"] {
            let node = store.add_resource(ann, Device::named(device)).await.unwrap().resource.id;
            for n in 0..=FOLLOWED / 2 {
                ids.push(
                    store
                        .add_stream(node, (&format!("s{n}"), None, ""), ValueType::Number)
                        .await
                        .unwrap()
                        .id
                        .0
                        .to_string(),
                );
            }
        }
        for id in &ids[..FOLLOWED as usize] {
            store.follow(ann, id, 0).await.unwrap();
        }
        let last = &ids[FOLLOWED as usize];
        assert!(matches!(store.follow(ann, last, 0).await, Err(Error::Full(_))));
        store.follow(ann, &ids[0], 0).await.unwrap();
        store.unfollow(ann, &ids[0]).await.unwrap();
        store.follow(ann, last, 0).await.unwrap();
    }
}
