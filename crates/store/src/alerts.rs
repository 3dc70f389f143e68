//! Alerts, which rules open and clear and people acknowledge.

use serde::{Deserialize, Serialize};
use sixlock_ingest::Value;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row};
use utoipa::ToSchema;

use crate::conditions::Severity;
use crate::error::Error;
use crate::ids::{AlertId, RuleId, UserId};
use crate::store::Store;
use crate::values;

/// What has become of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AlertState {
    /// Nobody has acknowledged it.
    Open,
    /// A person has acknowledged it, and what opened it goes on.
    Acknowledged,
    /// What opened it is over.
    Cleared,
}

impl AlertState {
    const ALL: [Self; 3] = [Self::Open, Self::Acknowledged, Self::Cleared];

    const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Acknowledged => "acknowledged",
            Self::Cleared => "cleared",
        }
    }
}

/// An alert. It holds what its rule said when it was opened. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Alert {
    /// The row; later alerts have greater ones.
    pub id: AlertId,
    /// The rule, which may be gone.
    pub rule: RuleId,
    /// The name of the rule.
    pub label: String,
    /// How much it matters.
    pub severity: Severity,
    /// The label of the resource that is watched.
    pub resource: String,
    /// The label of the stream that is watched; null where silence of the whole resource is.
    pub stream: Option<String>,
    /// The unit that the stream has now.
    pub unit: Option<String>,
    /// What has become of it.
    pub state: AlertState,
    /// The time of the reading that opened it, or when the clock did.
    pub opened: i64,
    /// The value of that reading, as its stream has it; null with silence.
    #[schema(schema_with = values::value_or_nothing_schema)]
    pub opened_value: Option<Value>,
    /// When it was acknowledged.
    pub acknowledged: Option<i64>,
    /// The user who acknowledged it.
    pub acknowledged_by: Option<String>,
    /// The time of the reading that cleared it, or when its rule was changed or deleted.
    pub cleared: Option<i64>,
    /// The value of that reading.
    #[schema(schema_with = values::value_or_nothing_schema)]
    pub cleared_value: Option<Value>,
}

/// Alerts, with the unit of what they are about, as SQL.
const ALERTS: &str = "SELECT alerts.*, (SELECT unit FROM resources JOIN streams ON streams.resource = resources.id
     WHERE resources.owner = alerts.owner AND resources.label = alerts.resource AND streams.label = alerts.stream) AS unit
     FROM alerts";

fn alert(row: &SqliteRow) -> Result<Alert, Error> {
    let (severity, state): (String, String) = (row.try_get("severity")?, row.try_get("state")?);
    let value_type: String = row.try_get("value_type")?;
    let read = |number: &str, text: &str| -> Result<Option<Value>, Error> {
        Ok(values::of_reading(row.try_get(number)?, row.try_get(text)?, &value_type))
    };
    let state = AlertState::ALL.into_iter().find(|known| known.name() == state);
    Ok(Alert {
        id: AlertId(row.try_get("id")?),
        rule: RuleId(row.try_get("rule")?),
        label: row.try_get("label")?,
        severity: Severity::named(&severity).ok_or(Error::Unknown("severity"))?,
        resource: row.try_get("resource")?,
        stream: row.try_get("stream")?,
        unit: row.try_get("unit")?,
        state: state.ok_or(Error::Unknown("state of an alert"))?,
        opened: row.try_get("opened")?,
        opened_value: read("opened_value", "opened_text")?,
        acknowledged: row.try_get("acknowledged")?,
        acknowledged_by: row.try_get("acknowledged_by")?,
        cleared: row.try_get("cleared")?,
        cleared_value: read("cleared_value", "cleared_text")?,
    })
}

impl Store {
    /// Alerts of `owner`, the newest first and at most `limit`: those before the id `before`, or the newest if that is 0; in `state`, or all.
    pub async fn alerts(
        &self,
        owner: UserId,
        state: Option<AlertState>,
        (limit, before): (i64, i64),
    ) -> Result<Vec<Alert>, Error> {
        let rows: Vec<SqliteRow> = sqlx::query(AssertSqlSafe(format!(
            "{ALERTS} WHERE owner = $1 AND ($2 IS NULL OR state = $2) AND ($3 = 0 OR id < $3) ORDER BY id DESC LIMIT $4"
        )))
        .bind(owner.0)
        .bind(state.map(AlertState::name))
        .bind(before)
        .bind(limit)
        .fetch_all(&self.readers)
        .await?;
        rows.iter().map(alert).collect()
    }

    /// The alert of `owner` with this id.
    pub async fn alert(&self, owner: UserId, id: &str) -> Result<Option<Alert>, Error> {
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        let row = sqlx::query(AssertSqlSafe(format!("{ALERTS} WHERE owner = $1 AND id = $2")))
            .bind(owner.0)
            .bind(id)
            .fetch_optional(&self.readers)
            .await?;
        row.as_ref().map(alert).transpose()
    }

    /// Notes that the user called `by` acknowledges an open alert. One that is acknowledged stays as it is.
    pub async fn acknowledge(&self, id: AlertId, by: &str, now: i64) -> Result<Alert, Error> {
        let mut writer = self.writer.lock().await;
        sqlx::query(
            "UPDATE alerts SET state = 'acknowledged', acknowledged = $2, acknowledged_by = $3
             WHERE id = $1 AND state = 'open'",
        )
        .bind(id.0)
        .bind(now)
        .bind(by)
        .execute(&mut *writer)
        .await?;
        let row = sqlx::query(AssertSqlSafe(format!("{ALERTS} WHERE id = $1")))
            .bind(id.0)
            .fetch_optional(&mut *writer)
            .await?;
        let alert = alert(&row.ok_or(Error::Unknown("alert"))?)?;
        if alert.state == AlertState::Cleared {
            return Err(Error::Invalid("the alert is cleared: what opened it is over"));
        }
        Ok(alert)
    }
}
