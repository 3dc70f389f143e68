-- What the owner of a resource says about its payloads.
CREATE TABLE parsers (
    id              INTEGER PRIMARY KEY,
    resource        INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    label           TEXT NOT NULL,
    -- json-path or regex
    kind            TEXT NOT NULL,
    expression      TEXT NOT NULL,
    -- the label of the stream, which its first reading makes
    stream          TEXT NOT NULL,
    time_expression TEXT,
    -- nothing: readings have the time of their arrival
    time_format     TEXT,
    -- whether a payload without a value for it is refused
    required        INTEGER NOT NULL,
    UNIQUE (resource, label)
);
