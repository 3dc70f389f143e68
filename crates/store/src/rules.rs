//! Rules: what their owners say of them. Readings are judged in [`journal`](crate::journal).

use serde::Serialize;
use sixlock_ingest::{Value, ValueType};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Connection, Row};
use utoipa::ToSchema;

use crate::clock::now_ms;
use crate::conditions::{Condition, ConditionRow, Operator, Severity, text};
use crate::error::Error;
use crate::ids::{AlertId, ResourceId, RuleId, StreamId, UserId};
use crate::left_out::LeftOutReason;
use crate::names::{LABEL_RULE, Reference, is_label};
use crate::resources::Resource;
use crate::store::Store;
use crate::streams::Stream;
use crate::values::{self, ValueRow};

/// The most rules of one owner.
pub(crate) const MOST_OF_ONE_OWNER: i64 = 100;
/// The most rules that watch one stream, or one resource as a whole: each reading is judged by all of them.
const MOST_OF_ONE_STREAM: i64 = 8;
/// The most channels that one rule tells.
const CHANNELS: usize = 4;
/// The longest payload, in bytes.
const LONGEST_PAYLOAD: usize = 1024;
/// The longest time that a threshold is to be passed, and the longest silence, in seconds.
const LONGEST_HOLD_S: i64 = 7 * 24 * 3_600;
const LONGEST_SILENCE_S: i64 = 31 * 24 * 3_600;
/// The most intervals that silence may last.
const MOST_PERIODS: i64 = 1000;

/// A rule that is to be made.
#[derive(Clone, Debug)]
pub struct NewRule {
    /// What it is called.
    pub label: String,
    /// How much its alerts matter.
    pub severity: Severity,
    /// The id or label of the resource that is watched.
    pub resource: String,
    /// The id or label of the stream that is watched; nothing for silence of the whole resource.
    pub stream: Option<String>,
    /// When it opens an alert.
    pub condition: Condition,
    /// The ids or labels of the channels that are told.
    pub channels: Vec<String>,
    /// What is told besides.
    pub payload: Option<String>,
    /// Whether it is to judge nothing for now.
    pub paused: bool,
}

/// A rule. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Rule {
    /// The row.
    pub id: RuleId,
    /// What it is called, unique for its owner.
    pub label: String,
    /// How much its alerts matter.
    pub severity: Severity,
    /// The label of the resource that is watched.
    pub resource: String,
    /// The label of the stream that is watched; null for silence of the whole resource.
    pub stream: Option<String>,
    /// When it opens an alert.
    pub condition: Condition,
    /// The labels of the channels that are told.
    pub channels: Vec<String>,
    /// What is told besides.
    pub payload: Option<String>,
    /// Whether it judges nothing for now.
    pub paused: bool,
    /// When it was made.
    pub created: i64,
    /// The alert that is open or acknowledged.
    pub alert: Option<AlertId>,
    /// With silence, when readings arrived last since the rule was made.
    pub heard: Option<i64>,
    /// When an alert opens, if nothing is heard before.
    pub due: Option<i64>,
}

impl Store {
    /// The rules of `owner`.
    pub async fn rules(&self, owner: UserId) -> Result<Vec<Rule>, Error> {
        self.find_rules(owner, ("1 = 1", None, None)).await
    }

    /// The rule of `owner` with this id or label.
    pub async fn rule(&self, owner: UserId, id_or_label: &str) -> Result<Option<Rule>, Error> {
        let named = Reference::read(id_or_label);
        let condition = ("(rules.id = $2 OR rules.label = $3)", named.id(), named.name());
        Ok(self.find_rules(owner, condition).await?.pop())
    }

    /// The rules of `owner` that watch `stream`.
    pub async fn rules_of_stream(&self, owner: UserId, stream: StreamId) -> Result<Vec<Rule>, Error> {
        self.find_rules(owner, ("rules.stream = $2", Some(stream.0), None)).await
    }

    async fn find_rules(
        &self,
        owner: UserId,
        (condition, id, label): (&str, Option<i64>, Option<&str>),
    ) -> Result<Vec<Rule>, Error> {
        let sql = format!(
            "SELECT rules.id, rules.label, severity, resources.label AS of_resource, streams.label AS of_stream, {},
             payload, paused, rules.created, alert, rules.heard, due,
             (SELECT string_agg(channels.label, $4) FROM rule_channels JOIN channels ON channels.id = channel
              WHERE rule = rules.id) AS channels
             FROM rules JOIN resources ON resources.id = rules.resource LEFT JOIN streams ON streams.id = rules.stream
             WHERE rules.owner = $1 AND {condition} ORDER BY rules.id",
            Condition::COLUMNS
        );
        let rows: Vec<SqliteRow> = sqlx::query(AssertSqlSafe(sql))
            .bind(owner.0)
            .bind(id)
            .bind(label)
            .bind("\n")
            .fetch_all(&self.readers)
            .await?;
        rows.iter().map(rule).collect()
    }

    /// Makes a rule of `owner`. It judges what is accepted from then on.
    pub async fn add_rule(&self, owner: UserId, new: &NewRule) -> Result<Rule, Error> {
        let watched = self.check_rule(owner, new).await?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let rules: i64 = sqlx::query_scalar("SELECT count(*) FROM rules WHERE owner = $1")
            .bind(owner.0)
            .fetch_one(&mut *transaction)
            .await?;
        if rules >= MOST_OF_ONE_OWNER {
            return Err(Error::Full("this user has 100 rules already"));
        }
        let id = insert(&mut transaction, owner, new, watched.resource).await?;
        set(&mut transaction, id, new, &watched).await?;
        transaction.commit().await?;
        drop(writer);
        self.rule(owner, &id.0.to_string()).await?.ok_or(Error::Unknown("rule"))
    }

    /// Has a rule of `owner` be another. It begins anew, and an alert that it has opened is cleared, which is not told.
    pub async fn replace_rule(&self, owner: UserId, id: RuleId, new: &NewRule) -> Result<Rule, Error> {
        let watched = self.check_rule(owner, new).await?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let taken: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM rules WHERE owner = $1 AND label = $2 AND id <> $3)",
        )
        .bind(owner.0)
        .bind(&new.label)
        .bind(id.0)
        .fetch_one(&mut *transaction)
        .await?;
        if taken {
            return Err(Error::Taken("label"));
        }
        stop(&mut transaction, id).await?;
        set(&mut transaction, id, new, &watched).await?;
        transaction.commit().await?;
        drop(writer);
        self.rule(owner, &id.0.to_string()).await?.ok_or(Error::Unknown("rule"))
    }

    /// Deletes a rule. An alert that it has opened is cleared, which is not told.
    pub async fn delete_rule(&self, id: RuleId) -> Result<(), Error> {
        delete(&mut *self.writer.lock().await, id).await
    }

    /// Checks a rule, and finds what it names among what `owner` has.
    async fn check_rule(&self, owner: UserId, new: &NewRule) -> Result<Watched, Error> {
        check(new)?;
        let (resource, stream) = self.watched_by(owner, new).await?;
        let mut channels = Vec::new();
        for channel in &new.channels {
            let found =
                self.channel(owner, channel).await?.ok_or(Error::Invalid("there is no such channel"))?;
            channels.push(found.id.0);
        }
        channels.sort_unstable();
        channels.dedup();
        Ok(Watched { resource: resource.id, stream: stream.map(|stream| stream.id), channels })
    }

    /// What a rule of `owner` watches.
    pub(crate) async fn watched_by(
        &self,
        owner: UserId,
        new: &NewRule,
    ) -> Result<(Resource, Option<Stream>), Error> {
        let resource = self.resource(owner, &new.resource).await?;
        let resource = resource.ok_or(Error::Invalid("there is no such resource"))?;
        let is_silence = matches!(new.condition, Condition::Silence { .. });
        let stream = match &new.stream {
            Some(stream) => {
                let stream = self.stream(resource.id, stream).await?;
                let stream = stream.ok_or(Error::Invalid("there is no such stream"))?;
                check_type(&new.condition, stream.value_type)?;
                Some(stream)
            }
            None if is_silence => None,
            None => return Err(Error::Invalid("only silence is of a whole resource; name a stream")),
        };
        Ok((resource, stream))
    }
}

/// What a rule names.
pub(crate) struct Watched {
    pub(crate) resource: ResourceId,
    pub(crate) stream: Option<StreamId>,
    pub(crate) channels: Vec<i64>,
}

/// Checks what a rule says by itself.
pub(crate) fn check(new: &NewRule) -> Result<(), Error> {
    if !is_label(&new.label) {
        return Err(Error::Invalid(LABEL_RULE));
    }
    check_condition(&new.condition)?;
    if new.payload.as_ref().is_some_and(|payload| payload.len() > LONGEST_PAYLOAD) {
        return Err(Error::Invalid("a payload has at most 1024 bytes"));
    }
    if new.channels.len() > CHANNELS {
        return Err(Error::Invalid("a rule tells at most 4 channels"));
    }
    Ok(())
}

/// Checks that values of this type can be judged by a condition.
fn check_type(condition: &Condition, value_type: ValueType) -> Result<(), Error> {
    match (condition, value_type) {
        (Condition::Threshold { operand: Value::Text(_), .. }, ValueType::Text)
        | (Condition::Threshold { operand: Value::Boolean(_), .. }, ValueType::Boolean)
        // True counts as 1 and false as 0.
        | (Condition::Threshold { operand: Value::Number(_), .. }, ValueType::Number | ValueType::Boolean)
        | (Condition::Change { by: None } | Condition::Silence { .. }, _)
        | (Condition::Change { by: Some(_) }, ValueType::Number | ValueType::Boolean) => Ok(()),
        (Condition::Threshold { .. }, ValueType::Text) => {
            Err(Error::Invalid("operand is no text, and this stream is of texts"))
        }
        (Condition::Threshold { .. }, ValueType::Number) => {
            Err(Error::Invalid("operand is no number, and this stream is of numbers"))
        }
        (Condition::Threshold { .. }, ValueType::Boolean) => {
            Err(Error::Invalid("operand is neither true nor false, and this stream is of truth values"))
        }
        (Condition::Change { by: Some(_) }, ValueType::Text) => {
            Err(Error::Invalid("of texts there is no least change; leave by out"))
        }
    }
}

fn check_condition(condition: &Condition) -> Result<(), Error> {
    match condition {
        Condition::Threshold { operator, operand, hysteresis, hold_s } => {
            check_operand(*operator, operand, *hysteresis)?;
            if !(hysteresis.is_finite() && *hysteresis >= 0.0) {
                return Err(Error::Invalid("hysteresis is not 0 or more"));
            }
            if !(0..=LONGEST_HOLD_S).contains(hold_s) {
                return Err(Error::Invalid("hold_s is not between 0 and 604800 seconds"));
            }
        }
        Condition::Change { by: None } => {}
        Condition::Change { by: Some(by) } if by.is_finite() && *by > 0.0 => {}
        Condition::Change { .. } => return Err(Error::Invalid("by is not more than 0")),
        Condition::Silence { periods: Some(periods), after_s: None }
            if (2..=MOST_PERIODS).contains(periods) => {}
        Condition::Silence { periods: None, after_s: Some(after) }
            if (1..=LONGEST_SILENCE_S).contains(after) => {}
        Condition::Silence { .. } => {
            return Err(Error::Invalid(
                "silence needs either periods, between 2 and 1000, or after_s, between 1 and 2678400 seconds",
            ));
        }
    }
    Ok(())
}

/// Checks a threshold beside how it is compared.
fn check_operand(operator: Operator, operand: &Value, hysteresis: f64) -> Result<(), Error> {
    let is_refused = match operand {
        Value::Number(number) if !number.is_finite() => {
            return Err(Error::Invalid("operand is no finite number"));
        }
        Value::Text(text) => LeftOutReason::of_text(text).is_some(),
        Value::Number(_) | Value::Boolean(_) => false,
    };
    if is_refused {
        return Err(Error::Invalid(
            "operand has more than 160 characters, or control characters: no stream takes such a text",
        ));
    }
    if !matches!(operand, Value::Number(_)) && !operator.is_of_equality() {
        return Err(Error::Invalid("a text, true and false are compared by = and != alone"));
    }
    let comes_back = matches!(operand, Value::Number(_)) && operator != Operator::NotEqual;
    if !comes_back && hysteresis != 0.0 {
        return Err(Error::Invalid("hysteresis is of numbers, and not of !="));
    }
    Ok(())
}

/// Makes the row of a rule that judges nothing until it is [`set`].
pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    owner: UserId,
    new: &NewRule,
    resource: ResourceId,
) -> Result<RuleId, Error> {
    let id: Option<i64> = sqlx::query_scalar(
        "INSERT INTO rules (owner, label, severity, resource, kind, created) VALUES ($1, $2, $3, $4, '', $5)
         ON CONFLICT (owner, label) DO NOTHING RETURNING id",
    )
    .bind(owner.0)
    .bind(&new.label)
    .bind(new.severity.name())
    .bind(resource.0)
    .bind(now_ms())
    .fetch_optional(connection)
    .await?;
    Ok(RuleId(id.ok_or(Error::Taken("label"))?))
}

/// Clears what a rule has opened, which is not told, and has it watch nothing until it is [`set`].
pub(crate) async fn stop(connection: &mut SqliteConnection, id: RuleId) -> Result<(), Error> {
    sqlx::query("UPDATE alerts SET state = 'cleared', cleared = $2 WHERE rule = $1 AND state <> 'cleared'")
        .bind(id.0)
        .bind(now_ms())
        .execute(&mut *connection)
        .await?;
    sqlx::query("UPDATE rules SET kind = '' WHERE id = $1").bind(id.0).execute(connection).await?;
    Ok(())
}

/// Deletes a rule.
pub(crate) async fn delete(connection: &mut SqliteConnection, id: RuleId) -> Result<(), Error> {
    let deleted = sqlx::query("DELETE FROM rules WHERE id = $1").bind(id.0).execute(connection).await?;
    if deleted.rows_affected() == 0 { Err(Error::Unknown("rule")) } else { Ok(()) }
}

/// Gives a rule its definition, and lets it begin with the newest point that there is.
pub(crate) async fn set(
    connection: &mut SqliteConnection,
    id: RuleId,
    new: &NewRule,
    Watched { resource, stream, channels }: &Watched,
) -> Result<(), Error> {
    let others: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM rules WHERE resource = $1 AND stream IS $2 AND id <> $3 AND kind <> ''",
    )
    .bind(resource.0)
    .bind(stream.map(|stream| stream.0))
    .bind(id.0)
    .fetch_one(&mut *connection)
    .await?;
    if others >= MOST_OF_ONE_STREAM {
        return Err(Error::Full("8 rules watch this already"));
    }
    let seen = match stream {
        Some(stream) => newest(&mut *connection, *stream).await?,
        None => None,
    };
    let now = now_ms();
    let wait = match new.condition {
        Condition::Silence { after_s, .. } if !new.paused => after_s.map(|after| after * 1_000),
        Condition::Silence { .. } | Condition::Threshold { .. } | Condition::Change { .. } => None,
    };
    let ConditionRow {
        kind,
        operator,
        operand,
        hysteresis,
        hold,
        periods,
        pause,
        operand_type,
        operand_text,
    } = new.condition.row();
    sqlx::query(
        "UPDATE rules SET label = $2, severity = $3, resource = $4, stream = $5, kind = $6, operator = $7, operand = $8,
         hysteresis = $9, hold = $10, periods = $11, pause = $12, payload = $13, seen_time = $14, seen_value = $15,
         met_since = NULL, alert = NULL, heard = NULL, intervals = x'', wait = $16, due = $17, paused = $18,
         operand_type = $19, operand_text = $20, seen_text = $21
         WHERE id = $1",
    )
    .bind(id.0)
    .bind(&new.label)
    .bind(new.severity.name())
    .bind(resource.0)
    .bind(stream.map(|stream| stream.0))
    .bind(kind)
    .bind(operator)
    .bind(operand)
    .bind(hysteresis)
    .bind(hold)
    .bind(periods)
    .bind(pause)
    .bind(&new.payload)
    .bind(seen.as_ref().map(|(time, _)| (*time).min(now)))
    .bind(seen.as_ref().and_then(|(_, value)| value.number()))
    .bind(wait)
    .bind(wait.map(|wait| now + wait))
    .bind(new.paused)
    .bind(operand_type)
    .bind(operand_text)
    .bind(seen.as_ref().and_then(|(_, value)| text(value)))
    .execute(&mut *connection)
    .await?;
    set_channels(connection, id, channels).await
}

/// Has a rule tell these channels.
pub(crate) async fn set_channels(
    connection: &mut SqliteConnection,
    id: RuleId,
    channels: &[i64],
) -> Result<(), Error> {
    sqlx::query("DELETE FROM rule_channels WHERE rule = $1").bind(id.0).execute(&mut *connection).await?;
    for channel in channels {
        sqlx::query("INSERT INTO rule_channels (rule, channel) SELECT $1, id FROM channels WHERE id = $2")
            .bind(id.0)
            .bind(channel)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// Time and value of the newest point of a stream.
async fn newest(connection: &mut SqliteConnection, stream: StreamId) -> Result<Option<(i64, Value)>, Error> {
    let sql = format!(
        "SELECT time, {} FROM (
         SELECT * FROM (SELECT point, time, value FROM points_by_stream WHERE stream = $1
                        ORDER BY time DESC, point DESC LIMIT 1)
         UNION ALL SELECT id, time, value FROM unsorted_points WHERE stream = $1)
         ORDER BY time DESC, point DESC LIMIT 1",
        values::columns("value", values::TYPE_OF_STREAM)
    );
    let row: Option<(i64, f64, bool, Option<String>)> =
        sqlx::query_as(AssertSqlSafe(sql)).bind(stream.0).fetch_optional(connection).await?;
    Ok(row.map(|(time, number, is_boolean, text)| {
        let value: ValueRow = (number, is_boolean, text);
        (time, values::value(value))
    }))
}

fn rule(row: &SqliteRow) -> Result<Rule, Error> {
    let severity: String = row.try_get("severity")?;
    let condition = ConditionRow {
        kind: row.try_get("kind")?,
        operator: row.try_get("operator")?,
        operand: row.try_get("operand")?,
        hysteresis: row.try_get("hysteresis")?,
        hold: row.try_get("hold")?,
        periods: row.try_get("periods")?,
        pause: row.try_get("pause")?,
        operand_type: row.try_get("operand_type")?,
        operand_text: row.try_get("operand_text")?,
    };
    let channels: Option<String> = row.try_get("channels")?;
    Ok(Rule {
        id: RuleId(row.try_get("id")?),
        label: row.try_get("label")?,
        severity: Severity::named(&severity).ok_or(Error::Unknown("severity"))?,
        resource: row.try_get("of_resource")?,
        stream: row.try_get("of_stream")?,
        condition: Condition::of_row(condition).ok_or(Error::Unknown("kind of rule"))?,
        channels: channels.map(|labels| labels.split('\n').map(str::to_owned).collect()).unwrap_or_default(),
        payload: row.try_get("payload")?,
        paused: row.try_get("paused")?,
        created: row.try_get("created")?,
        alert: row.try_get::<Option<i64>, _>("alert")?.map(AlertId),
        heard: row.try_get("heard")?,
        due: row.try_get("due")?,
    })
}
