//! Brokers of MQTT, to which the readings of their owners' devices are published.

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row};
use tokio::sync::watch;

use crate::broker_progress::{BrokerProgress, progress};
use crate::broker_settings::{Broker, BrokerDevices, BrokerSettings, BrokerToServe, NewBroker};
use crate::clock::now_ms;
use crate::error::Error;
use crate::ids::{BrokerId, ResourceId, UserId};
use crate::names::{LABEL_RULE, Reference, is_label};
use crate::roles::Role;
use crate::rotation::to_its_end;
use crate::secrets;
use crate::store::Store;
use crate::tags;

/// The most brokers of one owner.
pub const MOST_OF_ONE_OWNER: i64 = 4;
/// The most brokers of all users: each has a connection.
const MOST: i64 = 1_024;
/// The most devices that are listed for a broker; with more, a tag, or all, is meant.
const MOST_LISTED: usize = 1_000;

const COLUMNS: &str = "brokers.id, brokers.owner, users.name AS owner_name, brokers.label, url, username, brokers.password AS password,
     authority, client_id, prefix, qos, retain, format, devices, tag, brokers.created AS created, revision,
     cursor, counted, waiting, published, dropped, last_published,
     (SELECT group_concat(resource) FROM broker_resources WHERE broker = brokers.id) AS listed";

/// What a broker's password is sealed for. No identity, for which devices' keys are sealed, begins like this.
fn context(broker: i64) -> Vec<u8> {
    [b"\0broker".as_slice(), &broker.to_be_bytes()].concat()
}

/// The devices that a row names.
fn devices(row: &SqliteRow) -> Result<BrokerDevices<ResourceId>, Error> {
    let kind: String = row.try_get("devices")?;
    Ok(match &*kind {
        "all" => BrokerDevices::All,
        "tagged" => BrokerDevices::Tagged(row.try_get("tag")?),
        _ => {
            let listed: Option<String> = row.try_get("listed")?;
            let listed = listed.unwrap_or_default();
            BrokerDevices::These(listed.split(',').filter_map(|id| id.parse().ok().map(ResourceId)).collect())
        }
    })
}

fn broker(row: &SqliteRow) -> Result<Broker, Error> {
    let sealed: Option<Vec<u8>> = row.try_get("password")?;
    let (resources, tag) = match devices(row)? {
        BrokerDevices::All => (None, None),
        BrokerDevices::These(resources) => (Some(resources.into_iter().collect()), None),
        BrokerDevices::Tagged(tag) => (None, Some(tag)),
    };
    Ok(Broker {
        id: BrokerId(row.try_get("id")?),
        settings: BrokerSettings::of(row)?,
        password: sealed.is_some(),
        client_id: row.try_get("client_id")?,
        resources,
        tag,
        created: row.try_get("created")?,
    })
}

impl Store {
    /// The brokers of `owner`.
    pub async fn brokers(&self, owner: UserId) -> Result<Vec<Broker>, Error> {
        self.find_brokers(owner, None).await
    }

    /// The broker of `owner` with this id or label.
    pub async fn broker(&self, owner: UserId, id_or_label: &str) -> Result<Option<Broker>, Error> {
        Ok(self.find_brokers(owner, Some(id_or_label)).await?.pop())
    }

    async fn find_brokers(&self, owner: UserId, name: Option<&str>) -> Result<Vec<Broker>, Error> {
        let select = format!("SELECT {COLUMNS} FROM brokers JOIN users ON users.id = brokers.owner");
        self.own_rows((&select, "brokers"), owner, name).await?.iter().map(broker).collect()
    }

    /// All brokers whose owners may publish, as they are neither disabled nor viewers, or this one of them, and how far each has come. What cannot be read is left out, with the reason why.
    pub async fn brokers_to_serve(
        &self,
        only: Option<BrokerId>,
    ) -> Result<(Vec<(BrokerToServe, BrokerProgress)>, Option<Error>), Error> {
        let rows: Vec<SqliteRow> = sqlx::query(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM brokers JOIN users ON users.id = brokers.owner
             WHERE NOT users.disabled AND users.role <> $2 AND ($1 IS NULL OR brokers.id = $1) ORDER BY brokers.id"
        )))
        .bind(only.map(|only| only.0))
        .bind(Role::Viewer.name())
        .fetch_all(&self.readers)
        .await?;
        let (mut brokers, mut unread) = (Vec::new(), None);
        for row in &rows {
            match self.to_serve(row) {
                Ok(broker) => brokers.push(broker),
                Err(error) => unread = Some(error),
            }
        }
        Ok((brokers, unread))
    }

    fn to_serve(&self, row: &SqliteRow) -> Result<(BrokerToServe, BrokerProgress), Error> {
        let id: i64 = row.try_get("id")?;
        let sealed: Option<Vec<u8>> = row.try_get("password")?;
        let password = sealed.map(|sealed| self.master.open_sealed(&context(id), &sealed)).transpose()?;
        let broker = BrokerToServe {
            id: BrokerId(id),
            revision: row.try_get("revision")?,
            owner: UserId(row.try_get("owner")?),
            owner_name: row.try_get("owner_name")?,
            settings: BrokerSettings::of(row)?,
            password,
            client_id: row.try_get("client_id")?,
            devices: devices(row)?,
        };
        let come = (
            row.try_get("cursor")?,
            row.try_get("counted")?,
            row.try_get("waiting")?,
            row.try_get("published")?,
            row.try_get("dropped")?,
            row.try_get("last_published")?,
        );
        Ok((broker, progress(come)))
    }

    /// Adds a broker: what is stored from now on is published there.
    pub async fn add_broker(&self, owner: UserId, new: NewBroker) -> Result<Broker, Error> {
        let store = self.clone();
        to_its_end(async move { store.put_broker(owner, None, new).await }).await
    }

    /// Gives a broker these settings. At another URL, it begins anew: what waited for the one before is not published.
    pub async fn change_broker(
        &self,
        owner: UserId,
        broker: BrokerId,
        new: NewBroker,
    ) -> Result<Broker, Error> {
        let store = self.clone();
        to_its_end(async move { store.put_broker(owner, Some(broker), new).await }).await
    }

    async fn put_broker(
        &self,
        owner: UserId,
        known: Option<BrokerId>,
        new: NewBroker,
    ) -> Result<Broker, Error> {
        if !is_label(&new.settings.label) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        let tag = new.devices.tag().map(tags::tag).transpose()?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let id = match known {
            Some(BrokerId(id)) => id,
            None => self.insert(&mut transaction, owner, &new).await?,
        };
        self.write(&mut transaction, id, &new, tag).await?;
        list(&mut transaction, owner, id, &new.devices).await?;
        transaction.commit().await?;
        drop(writer);
        self.brokers_have_changed();
        self.broker(owner, &id.to_string()).await?.ok_or(Error::Unknown("broker"))
    }

    /// Makes the row of a broker, which begins with what is stored next.
    async fn insert(
        &self,
        connection: &mut SqliteConnection,
        owner: UserId,
        new: &NewBroker,
    ) -> Result<i64, Error> {
        let (own, all): (i64, i64) = sqlx::query_as(
            "SELECT coalesce(sum(CASE WHEN owner = $1 THEN 1 ELSE 0 END), 0), count(*) FROM brokers",
        )
        .bind(owner.0)
        .fetch_one(&mut *connection)
        .await?;
        if own >= MOST_OF_ONE_OWNER {
            return Err(Error::Full("this user has 4 brokers already"));
        }
        if all >= MOST {
            return Err(Error::Full("this cloud has 1024 brokers already, of all users together"));
        }
        let id: Option<i64> = sqlx::query_scalar(
            "INSERT INTO brokers (owner, label, url, client_id, prefix, qos, retain, format, devices, created, cursor, counted)
             SELECT id, $2, '', $3, '', 0, FALSE, '', '', $4, $5, $5 FROM users WHERE id = $1
             ON CONFLICT (owner, label) DO NOTHING RETURNING id",
        )
        .bind(owner.0)
        .bind(&new.settings.label)
        // As long as every broker takes (MQTT 3.1.1 section 3.1.3.1).
        .bind(format!("sixlock{}", secrets::hex(&secrets::random::<8>()?)))
        .bind(now_ms())
        .bind(self.changes.end().for_journal() as i64)
        .fetch_optional(connection)
        .await?;
        id.ok_or(Error::Taken("label"))
    }

    async fn write(
        &self,
        connection: &mut SqliteConnection,
        id: i64,
        new: &NewBroker,
        tag: Option<String>,
    ) -> Result<(), Error> {
        let settings = &new.settings;
        let sealed = new.password.as_ref().map(|password| self.master.seal(&context(id), password.bytes()));
        let written: Result<_, sqlx::Error> = sqlx::query(
            "UPDATE brokers SET revision = revision + 1, label = $2, url = $3, username = $4,
             password = CASE WHEN $4 IS NULL THEN NULL WHEN $5 IS NOT NULL THEN $5
             WHEN url = $3 AND username = $4 AND coalesce(authority, '') = coalesce($6, '') THEN password END,
             authority = $6, client_id = coalesce($7, client_id), prefix = $8, qos = $9, retain = $10, format = $11, devices = $12, tag = $13,
             cursor = CASE WHEN url IN ($3, '') THEN cursor ELSE $14 END,
             counted = CASE WHEN url IN ($3, '') THEN counted ELSE $14 END,
             waiting = CASE WHEN url IN ($3, '') THEN waiting ELSE 0 END
             WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM brokers AS other WHERE other.owner = brokers.owner AND other.label = $2
                                           AND other.id <> $1)",
        )
        .bind(id)
        .bind(&settings.label)
        .bind(&settings.url)
        .bind(&settings.username)
        .bind(sealed.transpose()?)
        .bind(&settings.authority)
        .bind(&new.client_id)
        .bind(&settings.prefix)
        .bind(settings.qos)
        .bind(settings.retain)
        .bind(settings.format.name())
        .bind(new.devices.name())
        .bind(tag)
        .bind(self.changes.end().for_journal() as i64)
        .execute(&mut *connection)
        .await;
        if written?.rows_affected() > 0 {
            return Ok(());
        }
        let is_there: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM brokers WHERE id = $1)")
            .bind(id)
            .fetch_one(connection)
            .await?;
        Err(if is_there { Error::Taken("label") } else { Error::Unknown("broker") })
    }

    /// Deletes a broker: what waits for it is not published.
    pub async fn delete_broker(&self, broker: BrokerId) -> Result<(), Error> {
        let store = self.clone();
        to_its_end(async move {
            let mut writer = store.writer.lock().await;
            let sql = "DELETE FROM brokers WHERE id = $1";
            let deleted = sqlx::query(sql).bind(broker.0).execute(&mut *writer).await?;
            drop(writer);
            store.brokers_have_changed();
            if deleted.rows_affected() == 0 { Err(Error::Unknown("broker")) } else { Ok(()) }
        })
        .await
    }

    /// Tells that brokers have changed, who may use them, or which devices there are.
    pub(crate) fn brokers_have_changed(&self) {
        self.broker_changes.send_modify(|changes| *changes += 1);
    }

    /// How often brokers have changed, or who may use them. Changes are told of when they are committed.
    pub fn broker_changes(&self) -> watch::Receiver<u64> {
        self.broker_changes.subscribe()
    }
}

/// Lists the devices of a broker that are named by id or label: all are the owner's.
async fn list(
    connection: &mut SqliteConnection,
    owner: UserId,
    broker: i64,
    devices: &BrokerDevices<String>,
) -> Result<(), Error> {
    sqlx::query("DELETE FROM broker_resources WHERE broker = $1")
        .bind(broker)
        .execute(&mut *connection)
        .await?;
    let BrokerDevices::These(named) = devices else { return Ok(()) };
    if named.len() > MOST_LISTED {
        return Err(Error::Invalid("a broker lists at most 1000 devices; give them a tag, and name that"));
    }
    for name in named {
        let reference = Reference::read(name);
        let listed = sqlx::query(
            "INSERT INTO broker_resources (broker, resource)
             SELECT $1, id FROM resources WHERE owner = $2 AND (id = $3 OR label = $4)
             ON CONFLICT (broker, resource) DO UPDATE SET resource = excluded.resource",
        )
        .bind(broker)
        .bind(owner.0)
        .bind(reference.id())
        .bind(reference.name())
        .execute(&mut *connection)
        .await?;
        if listed.rows_affected() == 0 {
            return Err(Error::Unknown("resource"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::broker_settings::BrokerFormat;
    use crate::cursor::Cursor;
    use crate::journal::{Append, Idempotency};
    use crate::resources::Device;
    use crate::secrets::Secret;
    use crate::user_change::UserChange;
    use sixlock_ingest::Reading;

    fn new(label: &str) -> NewBroker {
        let settings = BrokerSettings {
            label: label.into(),
            url: "mqtt://broker.example.org:1883".into(),
            username: Some("ann".into()),
            authority: None,
            prefix: "sixlock/{user}".into(),
            qos: 1,
            retain: false,
            format: BrokerFormat::Json,
        };
        let password = Some(Secret::new(b"secret".to_vec()));
        NewBroker { settings, password, client_id: None, devices: BrokerDevices::All }
    }

    async fn append(store: &Store, resource: ResourceId, values: usize) {
        let readings = (0..values).map(|n| Reading {
            stream: "t".into(),
            unit: Some("Cel".into()),
            time: n as i64,
            value: (n as f64).into(),
        });
        let idempotency = Idempotency::unique().unwrap();
        store.append(Append { resource, idempotency, readings: readings.collect() }).await.unwrap();
    }

    #[tokio::test]
    async fn what_is_set_is_returned_and_a_password_goes_nowhere_else() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
        let added = store.add_broker(ann.id, new("home")).await.unwrap();
        assert_eq!(store.broker(ann.id, "home").await.unwrap(), Some(added.clone()));
        assert!(added.client_id.len() == 23 && added.password);
        let password = async || {
            let (brokers, unread) = store.brokers_to_serve(Some(added.id)).await.unwrap();
            assert!(unread.is_none());
            brokers[0].0.password.as_ref().map(|secret| secret.bytes().to_vec())
        };
        assert_eq!(password().await.unwrap(), b"secret");
        let without = || NewBroker { password: None, ..new("office") };
        let changed = store.change_broker(ann.id, added.id, without()).await.unwrap();
        assert_eq!((&*changed.settings.label, &changed.client_id), ("office", &added.client_id));
        assert_eq!(password().await.unwrap(), b"secret");
        let other = |change: fn(&mut BrokerSettings)| {
            let mut broker = without();
            change(&mut broker.settings);
            broker
        };
        for elsewhere in [
            other(|broker| broker.url = "mqtt://other.example.org:1883".into()),
            other(|broker| broker.url = "mqtts://broker.example.org:8883".into()),
            other(|broker| broker.username = Some("bob".into())),
            other(|broker| broker.username = None),
            other(|broker| broker.authority = Some("another".into())),
        ] {
            store.change_broker(ann.id, added.id, new("office")).await.unwrap();
            assert!(password().await.is_some());
            store.change_broker(ann.id, added.id, elsewhere).await.unwrap();
            assert_eq!(password().await, None);
        }
        store.delete_broker(added.id).await.unwrap();
        assert!(store.brokers(ann.id).await.unwrap().is_empty());
        assert!(matches!(store.delete_broker(added.id).await, Err(Error::Unknown("broker"))));
        let change = store.change_broker(ann.id, added.id, new("x")).await;
        assert!(matches!(change, Err(Error::Unknown("broker"))));
    }

    #[tokio::test]
    async fn brokers_have_their_limit_their_labels_and_their_owners_devices() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
        let bob = store.add_user("bob", "", "a long password".into(), false).await.unwrap();
        let of_ann = store.enrol(ann.id, Device::named("room")).await.unwrap().resource.id;
        store.enrol(bob.id, Device::named("garden")).await.unwrap();
        let listing = |label: &str, names: &[&str]| NewBroker {
            devices: BrokerDevices::These(names.iter().map(|name| (*name).to_owned()).collect()),
            ..new(label)
        };
        let id = of_ann.0.to_string();
        let added = store.add_broker(ann.id, listing("a", &["room", &id])).await.unwrap();
        assert_eq!(added.resources, Some(vec![of_ann]));
        let another = store.add_broker(ann.id, listing("b", &["garden"])).await;
        assert!(matches!(another, Err(Error::Unknown("resource"))));
        assert!(matches!(store.add_broker(ann.id, new("a")).await, Err(Error::Taken("label"))));
        for label in ["b", "c", "d"] {
            store.add_broker(ann.id, new(label)).await.unwrap();
        }
        assert!(matches!(store.add_broker(ann.id, new("e")).await, Err(Error::Full(_))));
        assert!(matches!(store.change_broker(ann.id, added.id, new("b")).await, Err(Error::Taken("label"))));
        // A list whose devices are all gone is not all devices.
        store.delete_resource(of_ann).await.unwrap();
        let serving = store.brokers_to_serve(Some(added.id)).await.unwrap().0;
        assert_eq!(serving[0].0.devices, BrokerDevices::These(BTreeSet::new()));
        // Those of a viewer or of a disabled user rest, of which it is told, and those of one who is deleted are gone.
        let mut changes = store.broker_changes();
        let role = |role| UserChange { role: Some(role), ..UserChange::default() };
        let disable = UserChange { disabled: Some(true), ..UserChange::default() };
        for (change, are_served) in
            [(role(Role::Viewer), false), (role(Role::Member), true), (disable, false)]
        {
            changes.mark_unchanged();
            store.change_user(&ann, change, None).await.unwrap();
            assert!(changes.has_changed().unwrap());
            assert_eq!(!store.brokers_to_serve(None).await.unwrap().0.is_empty(), are_served);
        }
        store.delete_user(ann.clone()).await.unwrap();
        assert!(store.brokers(ann.id).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_broker_begins_now_and_goes_on_where_that_was_noted() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
        let room = store.enrol(ann.id, Device::named("room")).await.unwrap().resource.id;
        append(&store, room, 3).await;
        let end = store.changes().end();
        let added = store.add_broker(ann.id, new("home")).await.unwrap();
        let come = store.broker_progress(added.id).await.unwrap();
        assert_eq!(come, BrokerProgress { cursor: end, counted: end, ..BrokerProgress::default() });
        append(&store, room, 5).await;
        let counted = store.changes().end();
        let later = BrokerProgress { counted, waiting: 5, published: 7, last_published: Some(9), ..come };
        let revision = store.brokers_to_serve(None).await.unwrap().0[0].0.revision;
        store.note_broker_progress(&[(added.id, revision, later)]).await.unwrap();
        assert_eq!(store.broker_progress(added.id).await.unwrap(), later);
        store.note_broker_progress(&[(added.id, revision - 1, come)]).await.unwrap();
        assert_eq!(store.broker_progress(added.id).await.unwrap(), later, "that was of other settings");
        // Other settings leave it where it is; another place is another broker.
        let with = |change: fn(&mut BrokerSettings)| {
            let mut broker = new("home");
            change(&mut broker.settings);
            broker
        };
        store.change_broker(ann.id, added.id, with(|settings| settings.retain = true)).await.unwrap();
        assert_eq!(store.broker_progress(added.id).await.unwrap(), later);
        let elsewhere = with(|settings| settings.url = "mqtt://other.example.org:1883".into());
        store.change_broker(ann.id, added.id, elsewhere).await.unwrap();
        let anew = BrokerProgress { cursor: counted, waiting: 0, ..later };
        assert_eq!(store.broker_progress(added.id).await.unwrap(), anew);
    }

    #[tokio::test]
    async fn windows_have_all_points_of_those_who_have_brokers_once_and_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let mut rooms = Vec::new();
        for name in ["ann", "bob"] {
            let user = store.add_user(name, "", "a long password".into(), false).await.unwrap();
            let device = Device { tags: vec!["Roof".into()], ..Device::named(name) };
            rooms.push((user.id, store.enrol(user.id, device).await.unwrap().resource.id));
        }
        store.add_broker(rooms[0].0, new("home")).await.unwrap();
        for _ in 0..6 {
            for (_, room) in &rooms {
                append(&store, *room, 200).await;
            }
        }
        let end = store.changes().end();
        let all = async |owner, mut at: Cursor| {
            let mut points = Vec::new();
            while at != end {
                let window = store.broker_points(owner, at, end).await.unwrap();
                assert!(window.upto != at && window.points.len() <= 500);
                points.extend(window.points);
                at = window.upto;
            }
            points
        };
        let of_ann = all(Some(rooms[0].0), Cursor::START).await;
        assert_eq!(of_ann, all(None, Cursor::START).await);
        assert!(of_ann.is_sorted_by_key(|point| point.position.for_journal()) && of_ann.len() == 1_200);
        let first = &of_ann[1];
        assert_eq!((&*first.device, &*first.stream, first.unit.as_deref()), ("ann", "t", Some("Cel")));
        assert_eq!((first.tags.clone(), first.point.time), (vec!["roof".to_owned()], 1));
        assert_eq!(all(Some(rooms[1].0), Cursor::START).await.len(), 1_200);
        assert_eq!(all(Some(rooms[0].0), of_ann[1_000].position).await, of_ann[1_001..]);
    }
}
