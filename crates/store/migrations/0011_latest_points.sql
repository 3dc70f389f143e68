-- What was heard last goes by arrival: clocks of devices may be wrong.

-- How long after its time a reading arrived, in milliseconds. What is there already is taken to have arrived at its time,
-- or now if that is yet to come.
ALTER TABLE points ADD COLUMN delay BIGINT NOT NULL DEFAULT 0;

UPDATE points SET delay = CAST(strftime('%s', 'now') AS INTEGER) * 1000 - time
WHERE time > CAST(strftime('%s', 'now') AS INTEGER) * 1000;

-- Of each stream the point that arrived last, of those that are sorted. A newer one may be among the points behind
-- sorted_parts.last.
CREATE TABLE latest_points (
    stream  INTEGER PRIMARY KEY,
    point   INTEGER NOT NULL,
    time    BIGINT NOT NULL,
    value   DOUBLE PRECISION NOT NULL,
    arrived BIGINT NOT NULL
);

INSERT INTO latest_points
SELECT stream, id, time, value, time + delay FROM points
WHERE id IN (SELECT max(point) FROM points_by_stream GROUP BY stream);

CREATE TRIGGER latest_of_stream AFTER DELETE ON streams BEGIN
    DELETE FROM latest_points WHERE stream = OLD.id;
END;

-- When the last post arrived whose points were deleted, and the newest of these points.
ALTER TABLE resources ADD COLUMN heard BIGINT;
ALTER TABLE resources ADD COLUMN heard_point INTEGER NOT NULL DEFAULT 0;
