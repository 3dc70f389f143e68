//! Computed streams: what their owner says of them. The points are made in [`journal`](crate::journal).

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use sixlock_expression::Expression;
use sixlock_ingest::ValueType;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection};
use utoipa::ToSchema;

use crate::error::Error;
use crate::ids::{ResourceId, StreamId, UserId};
use crate::store::Store;
use crate::streams::Stream;
use crate::{computed_due, computed_graph, streams};

/// The most computed streams of one owner: all their syntax trees are in memory.
const MOST_OF_ONE_OWNER: i64 = 1000;

/// A computed stream.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ComputedStream {
    /// The stream.
    #[serde(flatten)]
    pub stream: Stream,
    /// What computes it.
    pub expression: String,
    /// The time zone in which days begin and end.
    pub time_zone: String,
    /// The streams that the expression is over, by the names that it has for them.
    pub inputs: BTreeMap<String, ComputedInput>,
    /// What is still to be computed of points that were there before; null if all of it is done.
    pub backfill: Option<Backfill>,
}

/// A stream that another is computed from. Nothing is known of one that was deleted, without which nothing is computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ComputedInput {
    /// The resource that it belongs to.
    pub resource: Option<ResourceId>,
    /// The stream.
    pub stream: Option<StreamId>,
    /// Its label.
    pub label: Option<String>,
}

/// How far computing points from earlier ones has come. Times are milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct Backfill {
    /// The first time that was to be computed.
    pub since: i64,
    /// The time that is computed next.
    pub at: i64,
    /// All times before this one are to be computed.
    pub until: i64,
    /// How much of that time is done, from 0 to 1.
    pub done: f64,
}

/// The definition of a computed stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computation {
    /// The expression.
    pub expression: String,
    /// The time zone in which days begin and end.
    pub time_zone: String,
    /// Its inputs, by their names in the expression.
    pub inputs: BTreeMap<String, InputReference>,
}

/// How an input is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputReference {
    /// The id or label of its resource, which belongs to the same user; without it, that of the computed stream.
    pub resource: Option<String>,
    /// The id or label of the stream.
    pub stream: String,
}

type Row = (i64, String, Option<String>, String, String, String, Option<i64>, Option<i64>, Option<i64>);

/// A computed stream, a name in its expression, and resource, id and label of the stream that it stands for.
type InputRow = (i64, String, Option<i64>, Option<i64>, Option<String>);

const COLUMNS: &str = "id, label, unit, description, expression, time_zone, due_since, due_from, due_until";

fn computed_stream(row: Row) -> ComputedStream {
    let (id, label, unit, description, expression, time_zone, since, at, until) = row;
    let backfill = match (since, at, until) {
        (Some(since), Some(at), Some(until)) => {
            let share = |until: i64| until.saturating_sub(since) as f64;
            Some(Backfill { since, at, until, done: (share(at) / share(until).max(1.0)).clamp(0.0, 1.0) })
        }
        _ => None,
    };
    let stream = Stream { id: StreamId(id), label, unit, description, value_type: ValueType::Number };
    ComputedStream { stream, expression, time_zone, inputs: BTreeMap::new(), backfill }
}

impl Store {
    /// The computed streams of `resource`.
    pub async fn computed_streams(&self, resource: ResourceId) -> Result<Vec<ComputedStream>, Error> {
        self.find_computed_streams(("streams.resource = $1", resource.0)).await
    }

    /// The computed stream `stream`; `None` if it is not computed.
    pub async fn computed_stream(&self, stream: StreamId) -> Result<Option<ComputedStream>, Error> {
        Ok(self.find_computed_streams(("streams.id = $1", stream.0)).await?.pop())
    }

    async fn find_computed_streams(
        &self,
        (condition, id): (&str, i64),
    ) -> Result<Vec<ComputedStream>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM computed_streams JOIN streams ON streams.id = computed_streams.stream
             WHERE {condition} ORDER BY id"
        );
        let rows: Vec<Row> = sqlx::query_as(AssertSqlSafe(sql)).bind(id).fetch_all(&self.readers).await?;
        let sql = format!(
            "SELECT computed, name, inputs.resource, inputs.id, inputs.label FROM computed_inputs
             JOIN streams ON streams.id = computed
             LEFT JOIN streams AS inputs ON inputs.id = computed_inputs.stream WHERE {condition}"
        );
        let inputs: Vec<InputRow> =
            sqlx::query_as(AssertSqlSafe(sql)).bind(id).fetch_all(&self.readers).await?;
        let mut by_stream: HashMap<StreamId, BTreeMap<String, ComputedInput>> = HashMap::new();
        for (computed, name, resource, stream, label) in inputs {
            let input =
                ComputedInput { resource: resource.map(ResourceId), stream: stream.map(StreamId), label };
            by_stream.entry(StreamId(computed)).or_default().insert(name, input);
        }
        let with_inputs = |row| {
            let mut computed = computed_stream(row);
            computed.inputs = by_stream.remove(&computed.stream.id).unwrap_or_default();
            computed
        };
        Ok(rows.into_iter().map(with_inputs).collect())
    }

    /// Adds a stream to `resource` of `owner` that is computed; an empty unit is none. What is made of the points that there are
    /// already is computed after this.
    pub async fn add_computed_stream(
        &self,
        (owner, resource): (UserId, ResourceId),
        (label, unit, description): (&str, Option<&str>, &str),
        computation: &Computation,
    ) -> Result<ComputedStream, Error> {
        check(computation)?;
        let inputs = self.find_inputs(owner, resource, &computation.inputs).await?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let computed: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM computed_streams JOIN streams ON streams.id = stream
             JOIN resources ON resources.id = resource WHERE owner = $1",
        )
        .bind(owner.0)
        .fetch_one(&mut *transaction)
        .await?;
        if computed >= MOST_OF_ONE_OWNER {
            return Err(Error::Full("this user has 1000 computed streams already"));
        }
        let stream =
            streams::insert(&mut transaction, resource, (label, unit, description), ValueType::Number)
                .await?
                .id;
        sqlx::query("INSERT INTO computed_streams (stream, expression, time_zone) VALUES ($1, $2, $3)")
            .bind(stream.0)
            .bind(&computation.expression)
            .bind(&computation.time_zone)
            .execute(&mut *transaction)
            .await?;
        set_inputs(&mut transaction, stream, &inputs).await?;
        transaction.commit().await?;
        drop(writer);
        self.queue.changed();
        self.computed_stream(stream).await?.ok_or(Error::Unknown("stream"))
    }

    /// Whether `computation` could compute a stream of `resource` of `owner`: the error that adding it would meet first, but for its label
    /// and for what only the whole of the streams shows.
    pub async fn check_computation(
        &self,
        (owner, resource): (UserId, ResourceId),
        computation: &Computation,
    ) -> Result<(), Error> {
        check(computation)?;
        self.find_inputs(owner, resource, &computation.inputs).await.map(drop)
    }

    /// Has the computed stream `stream`, of `resource` of `owner`, computed otherwise. All its points are computed anew after this;
    /// until then, those that there are stay.
    pub async fn replace_computation(
        &self,
        (owner, resource): (UserId, ResourceId),
        stream: StreamId,
        computation: &Computation,
    ) -> Result<ComputedStream, Error> {
        check(computation)?;
        let inputs = self.find_inputs(owner, resource, &computation.inputs).await?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let changed =
            sqlx::query("UPDATE computed_streams SET expression = $1, time_zone = $2 WHERE stream = $3")
                .bind(&computation.expression)
                .bind(&computation.time_zone)
                .bind(stream.0)
                .execute(&mut *transaction)
                .await?;
        if changed.rows_affected() == 0 {
            return Err(Error::Unknown("computed stream"));
        }
        set_inputs(&mut transaction, stream, &inputs).await?;
        transaction.commit().await?;
        drop(writer);
        self.queue.changed();
        self.computed_stream(stream).await?.ok_or(Error::Unknown("stream"))
    }

    /// The streams that are told by these references.
    async fn find_inputs(
        &self,
        owner: UserId,
        resource: ResourceId,
        references: &BTreeMap<String, InputReference>,
    ) -> Result<Vec<(String, StreamId)>, Error> {
        let mut inputs = Vec::new();
        for (name, InputReference { resource: named, stream }) in references {
            let resource = match named {
                Some(named) => self.resource(owner, named).await?.map(|resource| resource.id),
                None => Some(resource),
            };
            let unknown = |what| Error::UnknownInput { name: name.clone(), what };
            let resource = resource.ok_or_else(|| unknown("resource"))?;
            let stream = self.stream(resource, stream).await?.ok_or_else(|| unknown("stream"))?;
            if stream.value_type == ValueType::Text {
                return Err(Error::TextInput { name: name.clone() });
            }
            inputs.push((name.clone(), stream.id));
        }
        Ok(inputs)
    }
}

/// Checks that a computation can be made: a stored one is a good one.
fn check(computation: &Computation) -> Result<(), Error> {
    let names: Vec<&String> = computation.inputs.keys().collect();
    Expression::new(&computation.expression, &names, &computation.time_zone)?;
    Ok(())
}

/// Gives a computed stream these inputs in place of those that it may have, if that makes no cycle, and has all its points computed.
async fn set_inputs(
    connection: &mut SqliteConnection,
    computed: StreamId,
    inputs: &[(String, StreamId)],
) -> Result<(), Error> {
    sqlx::query("DELETE FROM computed_inputs WHERE computed = $1")
        .bind(computed.0)
        .execute(&mut *connection)
        .await?;
    for (name, input) in inputs {
        let inserted = sqlx::query(
            "INSERT INTO computed_inputs (computed, name, stream) SELECT $1, $2, id FROM streams WHERE id = $3",
        )
        .bind(computed.0)
        .bind(name)
        .bind(input.0)
        .execute(&mut *connection)
        .await?;
        if inserted.rows_affected() == 0 {
            return Err(Error::UnknownInput { name: name.clone(), what: "stream" });
        }
    }
    computed_graph::check(&mut *connection, computed).await?;
    computed_due::add(connection, computed, i64::MIN).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Device;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_user_has_at_most_a_thousand() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let mut resources = Vec::new();
        for name in ["ann", "bob"] {
            let user = store.add_user(name, "", "a long password".into(), false).await.unwrap().id;
            let resource = store.enrol(user, Device::named(format!("of-{name}"))).await.unwrap().resource.id;
            store.add_stream(resource, ("t", None, ""), ValueType::Number).await.unwrap();
            resources.push((user, resource));
        }
        let t = InputReference { resource: None, stream: "t".into() };
        let computation = Computation {
            expression: "t".into(),
            time_zone: "UTC".into(),
            inputs: [("t".to_owned(), t)].into(),
        };
        // All but one of them at once.
        let sql =
            "WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 999)
                   INSERT INTO streams (resource, label) SELECT $1, 'n' || n FROM numbers";
        let mut writer = store.writer.lock().await;
        sqlx::query(sql).bind(resources[0].1.0).execute(&mut *writer).await.unwrap();
        let sql = "INSERT INTO computed_streams (stream, expression, time_zone)
                   SELECT id, 't', 'UTC' FROM streams WHERE label LIKE 'n%'";
        sqlx::query(sql).execute(&mut *writer).await.unwrap();
        drop(writer);
        let other = store.enrol(resources[0].0, Device::named("other")).await.unwrap().resource.id;
        store.add_stream(other, ("t", None, ""), ValueType::Number).await.unwrap();
        let add = async |owned, label| {
            store
                .add_computed_stream(owned, (label, None, ""), &computation)
                .await
                .map(|added| added.stream.label)
        };
        assert_eq!(add((resources[0].0, other), "last").await.unwrap(), "last");
        let refused = add((resources[0].0, other), "more").await;
        assert!(matches!(refused, Err(Error::Full(_))), "{refused:?}");
        assert_eq!(add(resources[1], "first").await.unwrap(), "first");
    }
}
