//! SQL by which the point is found that arrived last, and kept when points are deleted.

/// At most two candidates of each stream of those resources that `condition` is true of. Computed streams have none: when their points
/// were made says nothing of a device, and the one that was made last may be computed from a reading that came late.
pub(crate) fn candidates(condition: &str) -> String {
    format!(
        "SELECT streams.resource, stream, point, time, value, arrived
         FROM resources JOIN streams ON streams.resource = resources.id
         JOIN latest_points ON latest_points.stream = streams.id WHERE {condition}
         AND streams.id NOT IN (SELECT stream FROM computed_streams)
         UNION ALL
         SELECT streams.resource, stream, points.id, time, value, time + delay
         FROM points JOIN streams ON streams.id = stream JOIN resources ON resources.id = streams.resource
         WHERE points.id IN
         (SELECT max(id) FROM points WHERE id > (SELECT min(last) FROM sorted_parts) GROUP BY stream)
         AND {condition} AND streams.id NOT IN (SELECT stream FROM computed_streams)"
    )
}

/// What notes when the resource of a stream was heard, before points of it are deleted.
pub(crate) fn keep_heard() -> String {
    let candidates = candidates("resources.id = (SELECT resource FROM streams WHERE id = $1)");
    format!(
        "UPDATE resources SET heard = newest.arrived, heard_point = newest.point
         FROM (SELECT * FROM ({candidates}) ORDER BY point DESC LIMIT 1) AS newest
         WHERE id = newest.resource AND heard_point < newest.point"
    )
}

/// What finds the latest of the sorted points of a stream again.
pub(crate) const FIND_AGAIN: &str =
    "INSERT INTO latest_points SELECT stream, id, time, value, time + delay FROM points
     WHERE id = (SELECT max(point) FROM points_by_stream WHERE stream = $1)";
