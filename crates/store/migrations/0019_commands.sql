-- What devices are to be told, and what became of it.
CREATE TABLE commands (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    resource INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    actuator TEXT NOT NULL,
    -- As JSON.
    value TEXT NOT NULL,
    -- queued, done, refused, expired, withdrawn, replaced.
    state TEXT NOT NULL,
    author TEXT NOT NULL,
    created BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    -- How often the device was told.
    attempts INTEGER NOT NULL,
    last_attempt BIGINT,
    ended BIGINT,
    -- The code of the device's answer: 204 for 2.04.
    code INTEGER
);
CREATE INDEX commands_of_resource ON commands (resource, id);
CREATE INDEX commands_queued ON commands (resource) WHERE state = 'queued';
