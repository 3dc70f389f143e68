//! What users have that is known by an id or a label.

use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqliteRow;

use crate::error::Error;
use crate::ids::UserId;
use crate::names::Reference;
use crate::store::Store;

impl Store {
    /// The rows of `table` that are `owner`'s: all in the order of their ids, or the one with this id or label. `select` says what of them.
    pub(crate) async fn own_rows(
        &self,
        (select, table): (&str, &str),
        owner: UserId,
        id_or_label: Option<&str>,
    ) -> Result<Vec<SqliteRow>, Error> {
        let named = id_or_label.map(Reference::read);
        // Both are written in this crate.
        let sql = format!(
            "{select} WHERE {table}.owner = $1 AND ($2 OR {table}.id = $3 OR {table}.label = $4) ORDER BY {table}.id"
        );
        let rows = sqlx::query(AssertSqlSafe(sql))
            .bind(owner.0)
            .bind(named.is_none())
            .bind(named.and_then(Reference::id))
            .bind(named.and_then(Reference::name))
            .fetch_all(&self.readers)
            .await?;
        Ok(rows)
    }
}
