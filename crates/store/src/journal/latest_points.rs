//! The latest point of each stream, brought up to date when points are sorted.

use rusqlite::Connection;

/// Enters the latest of a part's points that are about to be sorted.
pub(super) fn sort(connection: &Connection, part: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO latest_points SELECT stream, id, time, value, time + delay FROM points WHERE id IN
             (SELECT max(id) FROM points
              WHERE id > (SELECT last FROM sorted_parts WHERE part = ?1) AND stream % 8 = ?1 GROUP BY stream)
             ON CONFLICT (stream) DO UPDATE
             SET point = excluded.point, time = excluded.time, value = excluded.value, arrived = excluded.arrived",
        )?
        .execute([part])?;
    Ok(())
}
