-- Brokers of MQTT, to which the readings of their owners' devices are published. Times are milliseconds since 1970.
CREATE TABLE brokers (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    owner          INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label          TEXT NOT NULL,
    -- mqtt or mqtts, with host and port
    url            TEXT NOT NULL,
    username       TEXT,
    -- sealed under the master key
    password       BLOB,
    -- PEM: whose certificates are believed, in place of those whom the system believes
    authority      TEXT,
    client_id      TEXT NOT NULL,
    prefix         TEXT NOT NULL,
    qos            INTEGER NOT NULL,
    retain         BOOLEAN NOT NULL,
    -- json or senml
    format         TEXT NOT NULL,
    -- all, these (in broker_resources) or tagged
    devices        TEXT NOT NULL,
    tag            TEXT,
    created        BIGINT NOT NULL,
    -- grows with each change: what was published by other settings is not noted here
    revision       BIGINT NOT NULL DEFAULT 0,
    -- What follows is not its owner's: all points up to this one were published, or left out,
    cursor         BIGINT NOT NULL,
    -- and those behind it, up to this one, were counted: so many wait.
    counted        BIGINT NOT NULL,
    waiting        BIGINT NOT NULL DEFAULT 0,
    published      BIGINT NOT NULL DEFAULT 0,
    dropped        BIGINT NOT NULL DEFAULT 0,
    last_published BIGINT,
    UNIQUE (owner, label)
);

CREATE TABLE broker_resources (
    broker   INTEGER NOT NULL REFERENCES brokers (id) ON DELETE CASCADE,
    resource INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    PRIMARY KEY (broker, resource)
);

CREATE INDEX broker_resources_by_resource ON broker_resources (resource);
