//! The schema of the database. Its SQL is the common subset of SQLite and PostgreSQL: `$n`, `ON CONFLICT`, `RETURNING`,
//! integer milliseconds.

use std::borrow::Cow;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection, SqlSafeStr, SqliteConnection};

use crate::error::Error;

/// Brings the schema up to date.
pub(crate) async fn migrate(options: &SqliteConnectOptions) -> Result<(), Error> {
    // A table that is made anew must not take with it what refers to it.
    let mut connection = SqliteConnection::connect_with(&options.clone().foreign_keys(false)).await?;
    migrations().run(&mut connection).await?;
    Ok(connection.close().await?)
}

fn migrations() -> Migrator {
    let migrations = [
        (1, "accounts, devices, points", include_str!("../migrations/0001_accounts_devices_points.sql")),
        (2, "accounts and streams", include_str!("../migrations/0002_accounts_and_streams.sql")),
        (3, "credentials", include_str!("../migrations/0003_credentials.sql")),
        (4, "parsers", include_str!("../migrations/0004_parsers.sql")),
        (5, "pollers", include_str!("../migrations/0005_pollers.sql")),
        (6, "append only", include_str!("../migrations/0006_append_only.sql")),
        (7, "descriptions", include_str!("../migrations/0007_descriptions.sql")),
        (8, "sorted in parts", include_str!("../migrations/0008_sorted_in_parts.sql")),
        (9, "kinds of credentials", include_str!("../migrations/0009_kinds_of_credentials.sql")),
        (10, "suspended sessions", include_str!("../migrations/0010_suspended_sessions.sql")),
        (11, "latest points", include_str!("../migrations/0011_latest_points.sql")),
        (12, "master key check", include_str!("../migrations/0012_master_key_check.sql")),
        (13, "certificate expiry", include_str!("../migrations/0013_certificate_expiry.sql")),
        (14, "own key fingerprints", include_str!("../migrations/0014_own_key_fingerprints.sql")),
        (15, "computed streams", include_str!("../migrations/0015_computed_streams.sql")),
        (16, "observing pollers", include_str!("../migrations/0016_observing_pollers.sql")),
        (17, "alerts", include_str!("../migrations/0017_alerts.sql")),
        (18, "people", include_str!("../migrations/0018_people.sql")),
        (19, "commands", include_str!("../migrations/0019_commands.sql")),
        (20, "shared streams", include_str!("../migrations/0020_shared_streams.sql")),
        (21, "rollups and retention", include_str!("../migrations/0021_rollups_and_retention.sql")),
        (
            22,
            "alert clock and confirmation",
            include_str!("../migrations/0022_alert_clock_and_confirmation.sql"),
        ),
        (23, "paused rules", include_str!("../migrations/0023_paused_rules.sql")),
        (24, "disabled users", include_str!("../migrations/0024_disabled_users.sql")),
        (25, "fleet", include_str!("../migrations/0025_fleet.sql")),
        (26, "profiles and places", include_str!("../migrations/0026_profiles_and_places.sql")),
        (27, "groups", include_str!("../migrations/0027_groups.sql")),
        (28, "values of types", include_str!("../migrations/0028_values_of_types.sql")),
        (29, "resource logs", include_str!("../migrations/0029_resource_logs.sql")),
        (30, "oidc links", include_str!("../migrations/0030_oidc_links.sql")),
        (31, "identities of users", include_str!("../migrations/0031_identities_of_users.sql")),
        (32, "brokers", include_str!("../migrations/0032_brokers.sql")),
        (33, "group streams", include_str!("../migrations/0033_group_streams.sql")),
        (34, "display names and sign-ins", include_str!("../migrations/0034_display_names_and_sign_ins.sql")),
        (35, "rules of texts", include_str!("../migrations/0035_rules_of_texts.sql")),
    ];
    let migration = |(version, description, sql): (i64, &'static str, &'static str)| {
        let description = Cow::Borrowed(description);
        Migration::new(version, description, MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(migrations.map(migration).into())
}

#[cfg(test)]
mod tests {
    use sixlock_endpoint::AuthenticationMethod;

    use super::*;
    use crate::ids::{ResourceId, StreamId, UserId};
    use crate::known::Holder;
    use crate::master_key::MasterKey;
    use crate::points::Page;
    use crate::store::Store;

    #[tokio::test]
    async fn what_the_first_version_kept_is_there_after_the_schema_changed() {
        let directory = tempfile::tempdir().unwrap();
        let options =
            SqliteConnectOptions::new().filename(directory.path().join("sixlock.db")).create_if_missing(true);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let first = migrations().iter().take(1).cloned().collect::<Vec<_>>();
        Migrator::with_migrations(first).run(&mut connection).await.unwrap();
        let master = MasterKey::create(directory.path()).unwrap();
        let sealed = master.seal(b"sensor", b"0123456789abcdef").unwrap();
        sqlx::query("INSERT INTO users VALUES (1, 'ann', '', '', 0, 0)")
            .execute(&mut connection)
            .await
            .unwrap();
        sqlx::query("INSERT INTO resources VALUES (7, 1, 'node-1', 'dtls-psk', 'sensor', $1)")
            .bind(sealed)
            .execute(&mut connection)
            .await
            .unwrap();
        sqlx::query("INSERT INTO streams VALUES (3, 7, 'temperature', 'Cel')")
            .execute(&mut connection)
            .await
            .unwrap();
        sqlx::query("INSERT INTO points VALUES (5, 3, 1000, 21.5)").execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();

        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let psk = store.known(AuthenticationMethod::PreSharedKey, "sensor", 0).await.unwrap().unwrap();
        let holder = Holder::Device(ResourceId(7));
        assert_eq!((psk.holder, psk.key.bytes()), (holder, &b"0123456789abcdef"[..]));
        let resource = store.resource(UserId(1), "node-1").await.unwrap().unwrap();
        assert_eq!((resource.id, resource.identity.as_deref()), (ResourceId(7), Some("sensor")));
        let page = Page { limit: 10, from: None, until: None };
        assert_eq!(store.points(StreamId(3), page).await.unwrap().len(), 1);
        // What refers to a resource still goes with it.
        sqlx::query("DELETE FROM users").execute(&mut *store.writer.lock().await).await.unwrap();
        assert!(store.stream(ResourceId(7), "3").await.unwrap().is_none());
        assert!(store.known(AuthenticationMethod::PreSharedKey, "sensor", 0).await.unwrap().is_none());
    }
}
