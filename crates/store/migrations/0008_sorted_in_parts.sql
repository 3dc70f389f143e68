-- The newest points are sorted a part of the streams at a time, so that no append waits for all of them.
-- A stream's part is the rest of its id divided by eight; of its points, those behind the part's last are not sorted yet.
CREATE TABLE sorted_parts (
    part INTEGER PRIMARY KEY,
    last INTEGER NOT NULL
);

INSERT INTO sorted_parts
SELECT column1, last FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7)), sorted_points;

DROP TRIGGER points_of_stream;
DROP TABLE sorted_points;

-- The first condition bounds the search, the second is what is meant.
CREATE VIEW unsorted_points AS
SELECT id, stream, time, value FROM points
WHERE id > (SELECT min(last) FROM sorted_parts)
AND id > (SELECT last FROM sorted_parts WHERE part = stream % 8);

CREATE TRIGGER points_of_stream AFTER DELETE ON streams BEGIN
    DELETE FROM points WHERE id IN (SELECT point FROM points_by_stream WHERE stream = OLD.id);
    DELETE FROM points WHERE id IN (SELECT id FROM unsorted_points WHERE stream = OLD.id);
    DELETE FROM points_by_stream WHERE stream = OLD.id;
END;
