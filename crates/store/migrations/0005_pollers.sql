-- A resource may be polled: asked for its readings every period.
CREATE TABLE pollers (
    resource    INTEGER PRIMARY KEY REFERENCES resources (id) ON DELETE CASCADE,
    url         TEXT NOT NULL,
    -- seconds
    period      BIGINT NOT NULL,
    -- of the pre-shared key by which the cloud proves to the device who it is
    identity    TEXT,
    -- that key, or HTTP's Authorization if there is no identity; sealed under the master key
    secret      BLOB,
    last_polled BIGINT,
    -- why the last poll gave nothing; nothing if it did
    last_error  TEXT,
    -- since the last poll that gave something
    failures    BIGINT NOT NULL
);
