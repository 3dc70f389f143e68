//! Commands: values that devices are to be set to, kept until they were told, or are too old.
//!
//! A command for the same actuator takes the place of the one that is queued: a device that slept for an hour is told what is wanted now,
//! not all that was.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use tokio::sync::watch;
use utoipa::ToSchema;

use crate::accounts::User;
use crate::clock::now_ms;
use crate::command_queue::CommandQueue;
use crate::error::Error;
use crate::ids::{CommandId, ResourceId};
use crate::rotation::to_its_end;
use crate::store::Store;

/// How many a resource may have queued.
const MOST_QUEUED: i64 = 32;
/// How many that have ended are kept of a resource: the newest.
const MOST_ENDED: i64 = 100;
/// The longest name of an actuator, in bytes.
const LONGEST_NAME: usize = 64;
/// The longest text that a device is set to, in characters.
const LONGEST_TEXT: usize = 160;
/// The longest time that a command may wait, in seconds: 30 days.
const LONGEST_WAIT: u32 = 30 * 24 * 3600;

/// What a device is set to.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize, ToSchema)]
#[serde(untagged)]
pub enum CommandValue {
    /// On or off
    Boolean(bool),
    /// A finite number
    Number(f64),
    /// At most 160 characters
    Text(String),
}

/// What has become of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CommandState {
    /// The device was not heard since, or did not answer yet
    Queued,
    /// The device has answered that it is set
    Done,
    /// The device has answered that it is not, or that it takes no commands
    Refused,
    /// The device was not heard in time, or did not answer
    Expired,
    /// It was taken back
    Withdrawn,
    /// A later one for the same actuator took its place
    Replaced,
}

impl CommandState {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Queued, "queued"),
        (Self::Done, "done"),
        (Self::Refused, "refused"),
        (Self::Expired, "expired"),
        (Self::Withdrawn, "withdrawn"),
        (Self::Replaced, "replaced"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(state, _)| *state == self).map_or("", |(_, name)| name)
    }

    fn parse(name: &str) -> Self {
        Self::ALL.into_iter().find(|(_, known)| *known == name).map_or(Self::Expired, |(state, _)| state)
    }
}

/// A command.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Command {
    /// Tells it from others.
    pub id: CommandId,
    /// What of the device is set.
    pub actuator: String,
    /// What it is set to.
    pub value: CommandValue,
    /// What has become of it.
    pub state: CommandState,
    /// The name of the user who gave it.
    pub author: String,
    /// When it was given, in milliseconds since 1970.
    pub created: i64,
    /// Until when the device may be told, in milliseconds since 1970.
    pub expires: i64,
    /// How often the device was told.
    pub attempts: i64,
    /// When the device was told last, in milliseconds since 1970.
    pub last_attempt: Option<i64>,
    /// When it ended, in milliseconds since 1970.
    pub ended: Option<i64>,
    /// The CoAP code that the device has answered, such as `2.04`.
    pub code: Option<String>,
}

/// A command as it is given.
#[derive(Clone, Debug)]
pub struct NewCommand {
    /// What of the device is set: a letter or digit, then also `.`, `_`, `:` and `-`.
    pub actuator: String,
    /// What it is set to.
    pub value: CommandValue,
    /// For how many seconds the device may be told.
    pub expires_in: u32,
    /// The user who gives it.
    pub author: User,
}

/// Why a command has ended, or that it is to be told again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// The device has answered with this code: 204 for 2.04.
    Answered(u16),
    /// The device takes no commands.
    Rejected,
    /// No answer came.
    Unanswered,
}

/// What the database has of a command, as SQL.
const COLUMNS: &str =
    "id, actuator, value, state, author, created, expires, attempts, last_attempt, ended, code";

type Row = (i64, String, String, String, String, i64, i64, i64, Option<i64>, Option<i64>, Option<i64>);

/// The command of a row, as it is at a time.
fn command_of(
    (id, actuator, value, state, author, created, expires, attempts, last_attempt, ended, code): Row,
    now: i64,
) -> Command {
    let state = match CommandState::parse(&state) {
        CommandState::Queued if expires <= now => CommandState::Expired,
        state => state,
    };
    Command {
        id: CommandId(id),
        actuator,
        value: serde_json::from_str(&value).unwrap_or(CommandValue::Text(value)),
        state,
        author,
        created,
        expires,
        attempts,
        last_attempt,
        ended: ended.or((state == CommandState::Expired).then_some(expires)),
        code: code.map(|code| format!("{}.{:02}", code / 100, code % 100)),
    }
}

impl NewCommand {
    /// Refuses what no device could be told.
    fn check(&self) -> Result<(), Error> {
        let mut name = self.actuator.bytes();
        let is_name = self.actuator.len() <= LONGEST_NAME
            && name.next().is_some_and(|first| first.is_ascii_alphanumeric())
            && name.all(|byte| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte));
        if !is_name {
            return Err(Error::Invalid(
                "actuator is 1 to 64 of the characters a-z A-Z 0-9 - . _ : and begins with a letter or digit",
            ));
        }
        match &self.value {
            CommandValue::Text(text) if text.chars().count() > LONGEST_TEXT => {
                return Err(Error::Invalid("value has more than 160 characters"));
            }
            CommandValue::Number(number) if !number.is_finite() => {
                return Err(Error::Invalid("value is not a finite number"));
            }
            _ => {}
        }
        if !(1..=LONGEST_WAIT).contains(&self.expires_in) {
            return Err(Error::Invalid("expires_in is not between 1 and 2592000 seconds"));
        }
        Ok(())
    }
}

/// The resources that have commands queued.
pub(crate) async fn queued(connection: &mut SqliteConnection) -> Result<BTreeSet<ResourceId>, Error> {
    let rows: Vec<i64> = sqlx::query_scalar("SELECT DISTINCT resource FROM commands WHERE state = 'queued'")
        .fetch_all(connection)
        .await?;
    Ok(rows.into_iter().map(ResourceId).collect())
}

/// A command that a device is being told. When this is dropped, others may be told.
pub struct CommandUnderWay {
    queue: Arc<CommandQueue>,
    id: CommandId,
}

impl Drop for CommandUnderWay {
    fn drop(&mut self) {
        self.queue.end(self.id);
    }
}

impl Store {
    /// Queues a command for the device of `resource`, in place of the one that is queued for the same actuator.
    /// [`Error::Full`] if 32 others are.
    pub async fn add_command(&self, resource: ResourceId, new: NewCommand) -> Result<Command, Error> {
        new.check()?;
        let value = serde_json::to_string(&new.value).map_err(|_| Error::Invalid("value is no JSON"))?;
        let store = self.clone();
        to_its_end(async move {
            let now = now_ms();
            let mut writer = store.writer.lock().await;
            let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
            end_expired(&mut transaction, resource, now).await?;
            sqlx::query(
                "UPDATE commands SET state = 'replaced', ended = $1
                 WHERE resource = $2 AND state = 'queued' AND actuator = $3",
            )
            .bind(now)
            .bind(resource.0)
            .bind(&new.actuator)
            .execute(&mut *transaction)
            .await?;
            let queued: i64 =
                sqlx::query_scalar("SELECT count(*) FROM commands WHERE resource = $1 AND state = 'queued'")
                    .bind(resource.0)
                    .fetch_one(&mut *transaction)
                    .await?;
            if queued >= MOST_QUEUED {
                return Err(Error::Full("32 commands wait for this device already; withdraw one, or let them expire"));
            }
            sqlx::query(
                "DELETE FROM commands WHERE resource = $1 AND state <> 'queued' AND id NOT IN
                 (SELECT id FROM commands WHERE resource = $1 AND state <> 'queued' ORDER BY id DESC LIMIT $2)",
            )
            .bind(resource.0)
            .bind(MOST_ENDED)
            .execute(&mut *transaction)
            .await?;
            let row: Row = sqlx::query_as(AssertSqlSafe(format!(
                "INSERT INTO commands (resource, actuator, value, state, author, created, expires, attempts, author_id)
                 VALUES ($1, $2, $3, 'queued', $4, $5, $6, 0, $7) RETURNING {COLUMNS}"
            )))
            .bind(resource.0)
            .bind(&new.actuator)
            .bind(value)
            .bind(&new.author.username)
            .bind(now)
            .bind(now + i64::from(new.expires_in) * 1000)
            .bind(new.author.id.0)
            .fetch_one(&mut *transaction)
            .await?;
            transaction.commit().await?;
            drop(writer);
            store.commands.add(resource);
            Ok(command_of(row, now))
        })
        .await
    }

    /// The commands for the device of `resource`, the newest first: those that are queued, and the last 100 others.
    pub async fn commands(&self, resource: ResourceId) -> Result<Vec<Command>, Error> {
        self.find_commands(resource, None).await
    }

    /// One command for the device of `resource`.
    pub async fn command(&self, resource: ResourceId, id: CommandId) -> Result<Option<Command>, Error> {
        Ok(self.find_commands(resource, Some(id)).await?.pop())
    }

    async fn find_commands(
        &self,
        resource: ResourceId,
        id: Option<CommandId>,
    ) -> Result<Vec<Command>, Error> {
        let rows: Vec<Row> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM commands WHERE resource = $1 AND ($2 IS NULL OR id = $2)
             ORDER BY id DESC LIMIT $3"
        )))
        .bind(resource.0)
        .bind(id.map(|id| id.0))
        .bind(MOST_QUEUED + MOST_ENDED + 1)
        .fetch_all(&self.readers)
        .await?;
        let now = now_ms();
        Ok(rows.into_iter().map(|row| command_of(row, now)).collect())
    }

    /// Takes a command back that is queued. A device that is being told it may do it all the same. [`Error::Changed`] if it has ended.
    pub async fn withdraw_command(&self, resource: ResourceId, id: CommandId) -> Result<(), Error> {
        let store = self.clone();
        to_its_end(async move {
            let mut writer = store.writer.lock().await;
            let withdrawn = sqlx::query(
                "UPDATE commands SET state = 'withdrawn', ended = $1
                 WHERE resource = $2 AND id = $3 AND state = 'queued' AND expires > $1",
            )
            .bind(now_ms())
            .bind(resource.0)
            .bind(id.0)
            .execute(&mut *writer)
            .await?;
            drop(writer);
            store.commands.changed.send_replace(());
            if withdrawn.rows_affected() == 0 { Err(Error::Changed) } else { Ok(()) }
        })
        .await
    }

    /// Whether a command may be queued for `resource`, without looking it up.
    pub fn has_command(&self, resource: ResourceId) -> bool {
        self.commands.has(resource)
    }

    /// The resource whose device was told this command, until [`Store::command_ended`].
    pub fn resource_of_command(&self, id: CommandId) -> Option<ResourceId> {
        self.commands.resource_of(id)
    }

    /// The command that the device of `resource` is to be told now, as it can be reached: until [`Store::command_ended`], there is no other for it.
    pub async fn next_command(&self, resource: ResourceId) -> Result<Option<Command>, Error> {
        if !self.commands.has(resource) {
            return Ok(None);
        }
        let store = self.clone();
        to_its_end(async move {
            let now = now_ms();
            let mut writer = store.writer.lock().await;
            let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
            end_expired(&mut transaction, resource, now).await?;
            withdraw_of_others(&mut transaction, resource, now).await?;
            let row: Option<Row> = sqlx::query_as(AssertSqlSafe(format!(
                "UPDATE commands SET attempts = attempts + 1, last_attempt = $1
                 WHERE id = (SELECT id FROM commands WHERE resource = $2 AND state = 'queued'
                 ORDER BY attempts, id LIMIT 1) RETURNING {COLUMNS}"
            )))
            .bind(now)
            .bind(resource.0)
            .fetch_optional(&mut *transaction)
            .await?;
            let Some(row) = row else {
                transaction.commit().await?;
                store.commands.remove(resource);
                return Ok(None);
            };
            let command = command_of(row, now);
            if !store.commands.begin(resource, command.id) {
                return Ok(None);
            }
            let committed = transaction.commit().await;
            if committed.is_err() {
                store.commands.end(command.id);
            }
            committed?;
            Ok(Some(command))
        })
        .await
    }

    /// Notes what came of a command that a device was told. One without an answer is queued as before.
    pub async fn command_ended(&self, id: CommandId, outcome: CommandOutcome) -> Result<(), Error> {
        let (state, code) = match outcome {
            CommandOutcome::Answered(code @ 200..=299) => (CommandState::Done, Some(i64::from(code))),
            CommandOutcome::Answered(code) => (CommandState::Refused, Some(i64::from(code))),
            CommandOutcome::Rejected => (CommandState::Refused, None),
            CommandOutcome::Unanswered => {
                self.commands.end(id);
                return Ok(());
            }
        };
        let store = self.clone();
        to_its_end(async move {
            let mut writer = store.writer.lock().await;
            // One that was withdrawn or replaced meanwhile stays that.
            let noted = sqlx::query(
                "UPDATE commands SET state = $1, code = $2, ended = $3 WHERE id = $4 AND state = 'queued'",
            )
            .bind(state.name())
            .bind(code)
            .bind(now_ms())
            .bind(id.0)
            .execute(&mut *writer)
            .await;
            drop(writer);
            store.commands.end(id);
            noted?;
            Ok(())
        })
        .await
    }

    /// Lets a command that [`Store::next_command`] gave be under way no longer than what this returns lives, whoever tells it ends early.
    pub fn command_under_way(&self, id: CommandId) -> CommandUnderWay {
        CommandUnderWay { queue: self.commands.clone(), id }
    }

    /// Waits until commands have been given, and tells for which resources.
    pub async fn commanded(&self) -> BTreeSet<ResourceId> {
        self.commands.added.wait().await
    }

    /// Tells, from now on, that a command came or ended.
    pub fn command_changes(&self) -> watch::Receiver<()> {
        self.commands.changed.subscribe()
    }

    /// Looks up anew which resources have commands queued, as some are gone.
    pub(crate) async fn reload_commands(&self) -> Result<(), Error> {
        let mut writer = self.writer.lock().await;
        self.commands.replace(queued(&mut writer).await?);
        Ok(())
    }
}

/// Takes those of `resource` back whose authors may give it no commands any more: they are gone, disabled, or viewers, or members whose it is not
/// and whom no group lets change it.
async fn withdraw_of_others(
    connection: &mut SqliteConnection,
    resource: ResourceId,
    now: i64,
) -> Result<(), Error> {
    sqlx::query(
        "UPDATE commands SET state = 'withdrawn', ended = $2 WHERE resource = $1 AND state = 'queued' AND NOT EXISTS
         (SELECT 1 FROM users JOIN resources ON resources.id = $1 WHERE users.id = author_id AND NOT users.disabled AND
          (role = 'administrator' OR role = 'member' AND (resources.owner = users.id OR EXISTS
           (SELECT 1 FROM given_resources WHERE member = users.id AND resource = $1 AND access = 'change'))))",
    )
    .bind(resource.0)
    .bind(now)
    .execute(connection)
    .await?;
    Ok(())
}

/// Ends those of `resource` that are too old.
async fn end_expired(connection: &mut SqliteConnection, resource: ResourceId, now: i64) -> Result<(), Error> {
    sqlx::query(
        "UPDATE commands SET state = 'expired', ended = expires
         WHERE resource = $1 AND state = 'queued' AND expires <= $2",
    )
    .bind(resource.0)
    .bind(now)
    .execute(connection)
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups::GroupAccess;
    use crate::resources::Device;
    use crate::roles::Role;
    use crate::user_change::UserChange;

    #[tokio::test]
    async fn what_a_member_of_a_group_commands_waits_no_longer_than_they_may() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let add = async |name: &str| {
            store.add_user(name, "", "a long password".into(), Role::Member).await.unwrap()
        };
        let (ann, bob) = (add("ann").await, add("bob").await);
        let node = store.enrol(ann.id, Device::named("node")).await.unwrap().resource.id;
        let group = store.add_group(ann.id, "team", 0).await.unwrap().id;
        let name = group.0.to_string();
        store.put_member(group, "bob", GroupAccess::Change, 0).await.unwrap();
        store.join_group(bob.id, &name, 0).await.unwrap();
        store.give_to_group(node, &name, 0).await.unwrap();
        let command = async || {
            let (actuator, value) = ("led".into(), CommandValue::Boolean(true));
            let new = NewCommand { actuator, value, expires_in: 60, author: bob.clone() };
            store.add_command(node, new).await.unwrap().id
        };
        let first = command().await;
        assert_eq!(store.next_command(node).await.unwrap().unwrap().id, first);
        store.command_ended(first, CommandOutcome::Unanswered).await.unwrap();
        store.put_member(group, "bob", GroupAccess::Read, 0).await.unwrap();
        assert_eq!(store.next_command(node).await.unwrap(), None);
        assert_eq!(store.command(node, first).await.unwrap().unwrap().state, CommandState::Withdrawn);
    }

    #[tokio::test]
    async fn what_nobody_may_command_any_more_is_not_told() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let add =
            async |name: &str, role| store.add_user(name, "", "a long password".into(), role).await.unwrap();
        let (ann, root, other, disabled) = (
            add("ann", Role::Member).await,
            add("root", Role::Administrator).await,
            add("eve", Role::Member).await,
            add("dora", Role::Administrator).await,
        );
        let node = store.enrol(ann.id, Device::named("node")).await.unwrap().resource.id;
        let command = async |author: &User, actuator: &str| {
            let new = NewCommand {
                actuator: actuator.into(),
                value: CommandValue::Boolean(true),
                expires_in: 60,
                author: author.clone(),
            };
            store.add_command(node, new).await.unwrap().id
        };
        let commands = [
            command(&root, "a").await,
            command(&ann, "b").await,
            command(&other, "c").await,
            command(&disabled, "d").await,
        ];
        store
            .change_user(&root, UserChange { role: Some(Role::Viewer), ..UserChange::default() }, None)
            .await
            .unwrap();
        let disable = UserChange { disabled: Some(true), ..UserChange::default() };
        store.change_user(&disabled, disable, None).await.unwrap();
        let (backup, restored) = (directory.path().join("backup"), tempfile::tempdir().unwrap());
        crate::back_up(directory.path(), &backup).unwrap();
        crate::restore(&backup, restored.path()).unwrap();
        let told = store.next_command(node).await.unwrap().unwrap();
        assert_eq!(told.id, commands[1]);
        for withdrawn in [commands[0], commands[2], commands[3]] {
            let command = store.command(node, withdrawn).await.unwrap().unwrap();
            assert_eq!(command.state, CommandState::Withdrawn);
            assert!(command.ended.is_some());
        }
        // Nor is what waited when a backup was made: it was told since, or is not wanted any more.
        let (store, _writer) = Store::open(restored.path()).await.unwrap();
        assert_eq!(store.next_command(node).await.unwrap(), None);
        assert!(store.commands(node).await.unwrap().iter().all(|one| one.state == CommandState::Withdrawn));
    }
}
