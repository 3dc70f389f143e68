-- Rollups: what each hour (UTC) of a stream amounts to, of those points that are sorted by stream and older than rolled_up.until.
-- docs/decisions/0051-rollups-are-of-hours.md tells why of hours, and why of these points.
CREATE TABLE rollups (
    stream      INTEGER NOT NULL,
    -- the first millisecond of the hour
    start       BIGINT NOT NULL,
    count       BIGINT NOT NULL,
    -- the sum of the values, and what its rounding has left out
    sum         DOUBLE PRECISION NOT NULL,
    remainder   DOUBLE PRECISION NOT NULL,
    lowest      DOUBLE PRECISION NOT NULL,
    highest     DOUBLE PRECISION NOT NULL,
    -- of points of one millisecond, the one that arrived first, and the one that arrived last
    first_time  BIGINT NOT NULL,
    first_value DOUBLE PRECISION NOT NULL,
    last_time   BIGINT NOT NULL,
    last_value  DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (stream, start)
) WITHOUT ROWID;

-- No row of a stream none of whose points has been rolled up yet.
CREATE TABLE rolled_up (
    stream INTEGER PRIMARY KEY,
    until  BIGINT NOT NULL
);

CREATE TRIGGER rollups_of_stream AFTER DELETE ON streams BEGIN
    DELETE FROM rollups WHERE stream = OLD.id;
    DELETE FROM rolled_up WHERE stream = OLD.id;
END;

-- How long points are kept, in milliseconds; nothing: for ever.
ALTER TABLE streams ADD COLUMN keep BIGINT;

-- How many points are kept; nothing: all.
ALTER TABLE streams ADD COLUMN history_size BIGINT;

-- How long rollups are kept, in milliseconds; nothing: for ever.
ALTER TABLE streams ADD COLUMN keep_rollups BIGINT;

-- Older points are discarded, and none is taken; nothing: none was ever discarded. It is the beginning of an hour.
ALTER TABLE streams ADD COLUMN kept_from BIGINT;

-- Since when the stream takes no points; nothing: it does.
ALTER TABLE streams ADD COLUMN frozen BIGINT;

-- How long points of streams are kept that are made from now on, in milliseconds; nothing: for ever. One row.
CREATE TABLE retention_of_new_streams (keep BIGINT);

INSERT INTO retention_of_new_streams VALUES (NULL);

-- Whoever remembers what is computed asks for its version: it rests on what is kept, and on what is frozen.
CREATE TRIGGER kept_or_frozen AFTER UPDATE OF kept_from, frozen ON streams
WHEN EXISTS (SELECT 1 FROM computed_inputs WHERE stream = NEW.id)
OR EXISTS (SELECT 1 FROM computed_streams WHERE stream = NEW.id) BEGIN
    UPDATE computed_version SET version = version + 1;
END;
