-- What the values of a stream are: number, text or boolean.
ALTER TABLE streams ADD COLUMN value_type TEXT NOT NULL DEFAULT 'number';

-- What a parser reads values as.
ALTER TABLE parsers ADD COLUMN value_type TEXT NOT NULL DEFAULT 'number';

-- The texts of points. The value of such a point is the id of its text, so points are as large and as fast as they were;
-- docs/decisions/0052-texts-stand-beside-points.md tells why. That of a point that is true is 1, of one that is false 0.
-- In the order of arrival, at whose end they are appended as points are.
CREATE TABLE texts (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    text TEXT NOT NULL
);

-- Before, as afterwards nobody knows whose they were. Those of rollups whose points are not kept are only in these.
CREATE TRIGGER texts_of_stream BEFORE DELETE ON streams WHEN OLD.value_type = 'text' BEGIN
    DELETE FROM texts WHERE id IN (
        SELECT CAST(value AS INTEGER) FROM points_by_stream WHERE stream = OLD.id
        UNION ALL SELECT CAST(value AS INTEGER) FROM unsorted_points WHERE stream = OLD.id
        UNION ALL SELECT CAST(first_value AS INTEGER) FROM rollups WHERE stream = OLD.id
        UNION ALL SELECT CAST(last_value AS INTEGER) FROM rollups WHERE stream = OLD.id
    );
END;
