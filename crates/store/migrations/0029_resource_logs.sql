-- What happened to a resource, for whoever has it: the newest of it. Times are milliseconds since 1970.
CREATE TABLE resource_logs (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    resource INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    -- what happened, in one word of a fixed list, and more about it
    kind     TEXT NOT NULL,
    detail   TEXT NOT NULL,
    -- whether whoever did it has not proved that they may
    stranger BOOLEAN NOT NULL,
    -- whether somebody who may changed something
    action   BOOLEAN NOT NULL,
    -- the same again is no further row: when it happened first and last, and how often
    first    BIGINT NOT NULL,
    last     BIGINT NOT NULL,
    count    BIGINT NOT NULL
);

CREATE INDEX resource_logs_by_resource ON resource_logs (resource, stranger, action, last);
