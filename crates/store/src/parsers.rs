//! Parsers: what the owner of a resource says about its payloads.

use serde::{Deserialize, Serialize};
use sixlock_ingest::{MOST_PARSERS, Specification, TimeSpecification, ValueType};
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection};
use utoipa::ToSchema;

use crate::error::Error;
use crate::ids::{ParserId, ResourceId};
use crate::names::Reference;
use crate::store::Store;
use crate::values;

/// A parser of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Parser {
    /// The row.
    pub id: ParserId,
    /// The label, unique in its resource.
    pub label: String,
    /// `json-path` or `regex`.
    pub kind: String,
    /// Where the values are.
    pub expression: String,
    /// The label of the stream that they belong to.
    pub stream: String,
    /// What they are read as: `number`, `text` or `boolean`.
    #[schema(schema_with = values::type_schema)]
    pub value_type: ValueType,
    /// The JSON path to their time.
    pub time_expression: Option<String>,
    /// How the time is written: `rfc3339`, `unix-s`, `unix-ms` or a pattern of `strftime`.
    pub time_format: Option<String>,
    /// Whether a payload without a value for it is refused.
    pub required: bool,
}

type Row = (i64, String, String, String, String, String, Option<String>, Option<String>, bool);

fn parser(row: Row) -> Parser {
    let (id, label, kind, expression, stream, value_type, time_expression, time_format, required) = row;
    let (id, value_type) = (ParserId(id), values::value_type(&value_type));
    Parser { id, label, kind, expression, stream, value_type, time_expression, time_format, required }
}

/// What a parser is to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewParser {
    /// Without it, the stream's
    #[schema(min_length = 1, max_length = 128)]
    pub label: Option<String>,
    /// `json-path` or `regex`
    #[schema(pattern = "^(json-path|regex)$")]
    pub kind: String,
    /// Where the values are: a JSON path (RFC 9535), or a regular expression whose group `value` they are
    pub expression: String,
    /// The label of the stream that they belong to
    #[schema(min_length = 1, max_length = 128)]
    pub stream: String,
    /// What they are read as: `number`, which is so unless this says otherwise, `text` or `boolean`. The first of them makes the stream,
    /// which is then of this type
    #[serde(default)]
    #[schema(schema_with = values::type_schema)]
    pub value_type: ValueType,
    /// The JSON path to one time for all values or to one for each; a regular expression has the group `time`
    pub time_expression: Option<String>,
    /// How the time is written: `rfc3339`, `unix-s`, `unix-ms` or a pattern of `strftime`; without it, the time is
    /// that of arrival
    pub time_format: Option<String>,
    /// Whether a payload without a value for it is refused, which is so unless this says otherwise
    #[serde(default = "yes")]
    pub required: bool,
}

const fn yes() -> bool {
    true
}

impl TryFrom<NewParser> for Specification {
    type Error = Error;

    fn try_from(new: NewParser) -> Result<Self, Error> {
        let NewParser { label, kind, expression, stream, value_type, time_expression, time_format, required } =
            new;
        let kind = kind.parse()?;
        let time = match (time_expression, time_format) {
            (expression, Some(format)) => {
                let format = format.parse().map_err(Error::TimeFormat)?;
                Some(TimeSpecification { expression, format })
            }
            (Some(_), None) => return Err(Error::Invalid("time_format: it is missing")),
            (None, None) => None,
        };
        let label = label.unwrap_or_else(|| stream.clone());
        Ok(Self { label, kind, expression, stream, value_type, time, required })
    }
}

impl From<Specification> for NewParser {
    fn from(specification: Specification) -> Self {
        let Specification { label, kind, expression, stream, value_type, time, required } = specification;
        Self {
            label: Some(label),
            kind: kind.to_string(),
            expression,
            stream,
            value_type,
            time_format: time.as_ref().map(|time| time.format.to_string()),
            time_expression: time.and_then(|time| time.expression),
            required,
        }
    }
}

impl Parser {
    fn specification(self) -> Result<Specification, Error> {
        let Self {
            label, kind, expression, stream, value_type, time_expression, time_format, required, ..
        } = self;
        let label = Some(label);
        NewParser { label, kind, expression, stream, value_type, time_expression, time_format, required }
            .try_into()
            .map_err(|_| Error::Invalid("a stored parser is none; replace it"))
    }
}

const COLUMNS: &str =
    "id, label, kind, expression, stream, value_type, time_expression, time_format, required";

/// Checks what a parser is made of: a stored parser is a good one.
pub(crate) fn check(specification: &Specification) -> Result<(), Error> {
    sixlock_ingest::Parser::new(specification)?;
    let label = sixlock_ingest::is_stream_label(&specification.label);
    label.then_some(()).ok_or(Error::Invalid("label: 1 to 128 bytes, without characters that cannot be seen"))
}

impl Store {
    /// The parsers of `resource`.
    pub async fn parsers(&self, resource: ResourceId) -> Result<Vec<Parser>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM parsers WHERE resource = $1 ORDER BY id");
        let rows: Vec<Row> =
            sqlx::query_as(AssertSqlSafe(sql)).bind(resource.0).fetch_all(&self.readers).await?;
        Ok(rows.into_iter().map(parser).collect())
    }

    /// What the parsers of `resource` are made of.
    pub async fn specifications(&self, resource: ResourceId) -> Result<Vec<Specification>, Error> {
        self.parsers(resource).await?.into_iter().map(Parser::specification).collect()
    }

    /// The parser of `resource` with this id or label; one whose label is digits alone is found by its id only.
    pub async fn parser(&self, resource: ResourceId, id_or_label: &str) -> Result<Option<Parser>, Error> {
        let named = Reference::read(id_or_label);
        let sql = format!("SELECT {COLUMNS} FROM parsers WHERE resource = $1 AND (id = $2 OR label = $3)");
        let row: Option<Row> = sqlx::query_as(AssertSqlSafe(sql))
            .bind(resource.0)
            .bind(named.id())
            .bind(named.name())
            .fetch_optional(&self.readers)
            .await?;
        Ok(row.map(parser))
    }

    /// Adds a parser to `resource`.
    pub async fn add_parser(
        &self,
        resource: ResourceId,
        specification: &Specification,
    ) -> Result<Parser, Error> {
        check(specification)?;
        let mut writer = self.writer.lock().await;
        if count(&mut writer, resource).await? >= MOST_PARSERS as i64 {
            return Err(Error::Invalid("a resource has at most 64 parsers"));
        }
        insert(&mut writer, resource, specification).await?.ok_or(Error::Taken("label"))
    }

    /// Adds the parsers that the first payload of `resource` makes, unless it has got others meanwhile.
    pub async fn add_first_parsers(
        &self,
        resource: ResourceId,
        specifications: &[Specification],
    ) -> Result<(), Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        if count(&mut transaction, resource).await? == 0 {
            for specification in specifications {
                insert(&mut transaction, resource, specification).await?;
            }
        }
        Ok(transaction.commit().await?)
    }

    /// Makes the parser `id` what `specification` says.
    pub async fn replace_parser(&self, id: ParserId, specification: &Specification) -> Result<Parser, Error> {
        check(specification)?;
        let Specification { label, kind, expression, stream, value_type, time, required } = specification;
        let sql = format!(
            "UPDATE parsers SET label = $1, kind = $2, expression = $3, stream = $4, time_expression = $5,
             time_format = $6, required = $7, value_type = $9
             WHERE id = $8 AND NOT EXISTS (
                 SELECT 1 FROM parsers AS other
                 WHERE other.resource = parsers.resource AND other.label = $1 AND other.id <> $8
             )
             RETURNING {COLUMNS}"
        );
        let row: Option<Row> = sqlx::query_as(AssertSqlSafe(sql))
            .bind(label)
            .bind(kind.to_string())
            .bind(expression)
            .bind(stream)
            .bind(time.as_ref().and_then(|time| time.expression.as_ref()))
            .bind(time.as_ref().map(|time| time.format.to_string()))
            .bind(required)
            .bind(id.0)
            .bind(value_type.name())
            .fetch_optional(&mut *self.writer.lock().await)
            .await?;
        row.map(parser).ok_or(Error::Taken("label"))
    }

    /// Removes the parser `id`. Its stream and what is in it stay.
    pub async fn remove_parser(&self, id: ParserId) -> Result<(), Error> {
        sqlx::query("DELETE FROM parsers WHERE id = $1")
            .bind(id.0)
            .execute(&mut *self.writer.lock().await)
            .await?;
        Ok(())
    }
}

async fn count(connection: &mut SqliteConnection, resource: ResourceId) -> Result<i64, Error> {
    let count = sqlx::query_scalar("SELECT count(*) FROM parsers WHERE resource = $1");
    Ok(count.bind(resource.0).fetch_one(connection).await?)
}

/// Adds a parser; nothing, if its label is in use.
pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    resource: ResourceId,
    specification: &Specification,
) -> Result<Option<Parser>, Error> {
    let Specification { label, kind, expression, stream, value_type, time, required } = specification;
    let sql = format!(
        "INSERT INTO parsers (resource, label, kind, expression, stream, time_expression, time_format, required, value_type)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING {COLUMNS}"
    );
    let row: Option<Row> = sqlx::query_as(AssertSqlSafe(sql))
        .bind(resource.0)
        .bind(label)
        .bind(kind.to_string())
        .bind(expression)
        .bind(stream)
        .bind(time.as_ref().and_then(|time| time.expression.as_ref()))
        .bind(time.as_ref().map(|time| time.format.to_string()))
        .bind(required)
        .bind(value_type.name())
        .fetch_optional(connection)
        .await?;
    Ok(row.map(parser))
}
