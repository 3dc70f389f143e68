-- What is appended under load is written at the end of a table, not all over it: readings of many streams and receipts
-- with random digests would otherwise change a page each. docs/decisions/0006-readings-are-appended.md tells what that cost.

-- In the order of arrival. Which stream they belong to is checked when they are appended, and points_of_stream keeps
-- to it afterwards: a foreign key would search all points for those of a stream that is deleted.
CREATE TABLE appended_points (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    stream INTEGER NOT NULL,
    time   BIGINT NOT NULL,
    value  DOUBLE PRECISION NOT NULL
);

INSERT INTO appended_points SELECT id, stream, time, value FROM points ORDER BY id;
-- Ids that were given to points deleted since are not given again.
DELETE FROM sqlite_sequence WHERE name = 'appended_points';
INSERT INTO sqlite_sequence SELECT 'appended_points', seq FROM sqlite_sequence WHERE name = 'points';
DROP TABLE points;
ALTER TABLE appended_points RENAME TO points;

-- The same points by stream and time. The newest are missing: those behind sorted_points.last.
CREATE TABLE points_by_stream (
    stream INTEGER NOT NULL,
    time   BIGINT NOT NULL,
    point  INTEGER NOT NULL,
    value  DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (stream, time, point)
) WITHOUT ROWID;

INSERT INTO points_by_stream SELECT stream, time, id, value FROM points ORDER BY stream, time, id;

-- One row.
CREATE TABLE sorted_points (last INTEGER NOT NULL);

INSERT INTO sorted_points SELECT coalesce(max(id), 0) FROM points;

CREATE TRIGGER points_of_stream AFTER DELETE ON streams BEGIN
    DELETE FROM points WHERE id IN (SELECT point FROM points_by_stream WHERE stream = OLD.id);
    DELETE FROM points WHERE id > (SELECT last FROM sorted_points) AND stream = OLD.id;
    DELETE FROM points_by_stream WHERE stream = OLD.id;
END;

-- Receipts of the posts of one commit, 26 bytes each: what all transmissions of the post have in common (16), the
-- association of the latest (8) and its message id (2).
CREATE TABLE appended_receipts (
    id     INTEGER PRIMARY KEY,
    stored BIGINT NOT NULL,
    posts  BLOB NOT NULL
);

INSERT INTO appended_receipts (stored, posts)
SELECT stored, unhex(hex(post) || hex(substr(association, 1, 8)) || printf('%04x', message))
FROM receipts ORDER BY stored;

DROP TABLE receipts;
ALTER TABLE appended_receipts RENAME TO receipts;
