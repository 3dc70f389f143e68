-- Times are milliseconds since 1970.

CREATE TABLE users (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL UNIQUE,
    email    TEXT NOT NULL,
    -- argon2id, in PHC string format
    password TEXT NOT NULL,
    admin    INTEGER NOT NULL,
    created  BIGINT NOT NULL
);

-- Bearer tokens and sessions; only their digests are kept.
CREATE TABLE tokens (
    digest  BLOB PRIMARY KEY,
    owner   INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    expires BIGINT
);

-- A resource is a device or any other source of data.
CREATE TABLE resources (
    id       INTEGER PRIMARY KEY,
    owner    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label    TEXT NOT NULL,
    mode     TEXT NOT NULL,
    identity TEXT NOT NULL UNIQUE,
    -- sealed under the master key
    key      BLOB NOT NULL,
    UNIQUE (owner, label)
);

CREATE TABLE streams (
    id       INTEGER PRIMARY KEY,
    resource INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    label    TEXT NOT NULL,
    unit     TEXT,
    UNIQUE (resource, label)
);

-- A row's id is also its place in the live feed: ids only grow and are never given twice.
CREATE TABLE points (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    stream INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    time   BIGINT NOT NULL,
    value  DOUBLE PRECISION NOT NULL
);

CREATE INDEX points_of_stream ON points (stream, time);

-- Posts that were stored, kept for as long as one can be transmitted again.
CREATE TABLE receipts (
    -- the same for all transmissions of a post
    post        BLOB PRIMARY KEY,
    -- the latest transmission: in which session or from where, and as which message
    association BLOB NOT NULL,
    message     INTEGER NOT NULL,
    stored      BIGINT NOT NULL
);

CREATE INDEX receipts_by_age ON receipts (stored);
