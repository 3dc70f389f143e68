-- Rules that watch readings, the alerts that they open, and what is to be told of these. Times are milliseconds since 1970.

-- Where a user is told of alerts.
CREATE TABLE channels (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    owner        INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label        TEXT NOT NULL,
    -- webhook, email or ntfy
    kind         TEXT NOT NULL,
    -- a URL, or the receiver's address
    address      TEXT NOT NULL,
    -- of a webhook the key that signs, of ntfy a token; sealed under the master key
    secret       BLOB,
    created      BIGINT NOT NULL,
    -- no message is tried before
    next_try     BIGINT NOT NULL,
    -- tries that failed since the last one that did not
    failures     BIGINT NOT NULL DEFAULT 0,
    last_error   TEXT,
    last_told    BIGINT,
    -- messages that there was no room for, since the last one that was told
    untold       BIGINT NOT NULL DEFAULT 0,
    -- when a test was asked for last
    tested       BIGINT NOT NULL DEFAULT 0,
    UNIQUE (owner, label)
);

CREATE TABLE rules (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    owner      INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label      TEXT NOT NULL,
    -- information, warning or critical
    severity   TEXT NOT NULL,
    resource   INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    -- nothing: silence of the whole resource
    stream     INTEGER REFERENCES streams (id) ON DELETE CASCADE,
    -- threshold, change or silence
    kind       TEXT NOT NULL,
    -- of a threshold: > < = >= <=
    operator   TEXT,
    -- the threshold, or the least change
    operand    DOUBLE PRECISION,
    hysteresis DOUBLE PRECISION,
    -- how long the threshold is to be passed
    hold       BIGINT,
    -- of silence: how many of its usual intervals, or how long
    periods    BIGINT,
    pause      BIGINT,
    -- what is told besides
    payload    TEXT,
    created    BIGINT NOT NULL,
    -- What follows is not its owner's: the newest reading that was judged,
    seen_time  BIGINT,
    seen_value DOUBLE PRECISION,
    -- the time of the reading since which the threshold is passed,
    met_since  BIGINT,
    -- the alert that is not cleared,
    alert      INTEGER,
    -- when readings arrived last, and the latest intervals between such times, 8 bytes each,
    heard      BIGINT,
    intervals  BLOB NOT NULL DEFAULT x'',
    -- how long silence may last, as was reckoned last,
    wait       BIGINT,
    -- and when the clock decides, if nothing is heard before
    due        BIGINT,
    UNIQUE (owner, label)
);

CREATE INDEX rules_by_stream ON rules (stream);
CREATE INDEX rules_by_resource ON rules (resource);
CREATE INDEX rules_by_due ON rules (due) WHERE due IS NOT NULL;

CREATE TABLE rule_channels (
    rule    INTEGER NOT NULL REFERENCES rules (id) ON DELETE CASCADE,
    channel INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    PRIMARY KEY (rule, channel)
);

CREATE INDEX rule_channels_by_channel ON rule_channels (channel);

-- Alerts outlive their rules, so they hold what those said.
CREATE TABLE alerts (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    owner           INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    rule            INTEGER NOT NULL,
    label           TEXT NOT NULL,
    severity        TEXT NOT NULL,
    resource        TEXT NOT NULL,
    stream          TEXT,
    -- open, acknowledged or cleared
    state           TEXT NOT NULL,
    opened          BIGINT NOT NULL,
    opened_value    DOUBLE PRECISION,
    acknowledged    BIGINT,
    acknowledged_by TEXT,
    cleared         BIGINT,
    cleared_value   DOUBLE PRECISION
);

CREATE INDEX alerts_by_owner ON alerts (owner, state, id);
CREATE INDEX alerts_by_rule ON alerts (rule) WHERE state <> 'cleared';

-- What is to be told on a channel.
CREATE TABLE outbox (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    -- by which the receiver knows a message again: random, so that no other database has it
    message  BLOB NOT NULL,
    channel  INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    -- opened, cleared or test
    event    TEXT NOT NULL,
    alert    INTEGER,
    label    TEXT NOT NULL,
    severity TEXT NOT NULL,
    resource TEXT,
    stream   TEXT,
    unit     TEXT,
    value    DOUBLE PRECISION,
    -- of the reading, or when the clock decided
    time     BIGINT NOT NULL,
    payload  TEXT,
    created  BIGINT NOT NULL,
    tries    BIGINT NOT NULL DEFAULT 0,
    -- when it was given up; nothing while it waits
    failed   BIGINT,
    error    TEXT
);

CREATE INDEX outbox_by_channel ON outbox (channel, failed, tries, id);

-- Grows when a rule is made, changed or deleted, whoever does it: whoever remembers rules asks for it. One row.
CREATE TABLE rules_version (version INTEGER NOT NULL);

INSERT INTO rules_version VALUES (0);

CREATE TRIGGER rule_added AFTER INSERT ON rules BEGIN
    UPDATE rules_version SET version = version + 1;
END;

CREATE TRIGGER rule_changed AFTER UPDATE OF resource, stream, kind, operator, operand, hysteresis, hold, periods, pause ON rules BEGIN
    UPDATE rules_version SET version = version + 1;
END;

-- What a rule has opened is over when it is gone.
CREATE TRIGGER rule_deleted AFTER DELETE ON rules BEGIN
    UPDATE rules_version SET version = version + 1;
    UPDATE alerts SET state = 'cleared', cleared = CAST(strftime('%s', 'now') AS INTEGER) * 1000
    WHERE rule = OLD.id AND state <> 'cleared';
END;
