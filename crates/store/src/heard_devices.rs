//! When devices were heard, for who watches all of them.

use sqlx::AssertSqlSafe;

use crate::error::Error;
use crate::ids::{ResourceId, UserId};
use crate::store::Store;

/// A device or any other source of data, and when it was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardDevice {
    /// The name of the user whose it is.
    pub owner: String,
    /// Its label, unique for its owner.
    pub label: String,
    /// When its last accepted post arrived, in milliseconds since 1970; nothing if none ever did.
    pub heard: Option<i64>,
}

/// One of `of` parts of all devices. In which part a device is never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DevicePart {
    /// Which one, from 0 on.
    pub part: u16,
    /// How many parts there are.
    pub of: u16,
}

impl Store {
    /// The devices of `owner`, or of all users, that are in `part`: `most` of them, which are known for longest, and how many there are.
    pub async fn heard_devices(
        &self,
        owner: Option<UserId>,
        DevicePart { part, of }: DevicePart,
        most: u32,
    ) -> Result<(Vec<HeardDevice>, i64), Error> {
        let whose = if owner.is_some() { "owner = $1" } else { "$1 IS NULL" };
        let in_part = format!("{whose} AND resources.id % {} = {part}", of.max(1));
        let rows: Vec<(i64, String, String)> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT resources.id, users.name, label FROM resources JOIN users ON users.id = owner
             WHERE {in_part} ORDER BY resources.id LIMIT $2"
        )))
        .bind(owner.map(|owner| owner.0))
        .bind(most)
        .fetch_all(&self.readers)
        .await?;
        let [Some((first, ..)), Some((last, ..))] = [rows.first(), rows.last()] else {
            return Ok((Vec::new(), 0));
        };
        let of_page = format!("{in_part} AND resources.id BETWEEN $2 AND $3");
        let heard = self.heard_where(&of_page, owner, (ResourceId(*first), ResourceId(*last))).await?;
        let all: i64 =
            sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM resources WHERE {in_part}")))
                .bind(owner.map(|owner| owner.0))
                .fetch_one(&self.readers)
                .await?;
        let devices = rows.into_iter().map(|(id, owner, label)| HeardDevice {
            owner,
            label,
            heard: heard.get(&ResourceId(id)).copied(),
        });
        Ok((devices.collect(), all))
    }
}

#[cfg(test)]
mod tests {
    use sixlock_ingest::Reading;

    use super::*;
    use crate::journal::{Append, Idempotency};
    use crate::resources::Device;

    #[tokio::test(flavor = "multi_thread")]
    async fn each_device_is_in_one_part_and_those_that_are_too_many_are_counted() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let mut users = Vec::new();
        for name in ["ann", "bob"] {
            let user = store.add_user(name, "", "a long password".into(), false).await.unwrap();
            for n in 0..5 {
                store.enrol(user.id, Device::named(format!("{name}-{n}x"))).await.unwrap();
            }
            users.push(user.id);
        }
        let heard = store.resource(users[1], "bob-3x").await.unwrap().unwrap().id;
        let readings = vec![Reading { stream: "t".into(), unit: None, time: 1, value: 2.0.into() }];
        let idempotency = Idempotency::unique().unwrap();
        store.append(Append { resource: heard, idempotency, readings }).await.unwrap();
        let names = async |owner, (part, of), most| {
            let (devices, all) = store.heard_devices(owner, DevicePart { part, of }, most).await.unwrap();
            let name = |device: HeardDevice| (format!("{} {}", device.owner, device.label), device.heard);
            (devices.into_iter().map(name).collect::<Vec<_>>(), all)
        };
        let (whole, all) = names(None, (0, 1), 100).await;
        assert_eq!((whole.len(), all), (10, 10));
        let heard: Vec<_> = whole.iter().filter(|(_, heard)| heard.is_some()).collect();
        assert!(
            matches!(heard[..], [(name, Some(1_700_000_000_000..))] if name == "bob bob-3x"),
            "{heard:?}"
        );
        let mut parts = Vec::new();
        for part in 0..3 {
            let (some, all) = names(None, (part, 3), 100).await;
            assert_eq!(some.len() as i64, all);
            parts.extend(some);
        }
        let mut sorted = whole.clone();
        sorted.sort();
        parts.sort();
        assert_eq!(parts, sorted);
        assert_eq!(names(None, (0, 1), 3).await, (whole[..3].to_vec(), 10));
        let (of_ann, all) = names(Some(users[0]), (0, 1), 100).await;
        assert_eq!((&of_ann[..], all), (&whole[..5], 5));
    }
}
