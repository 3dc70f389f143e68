-- Rows of users and streams are never given twice: what still names a deleted one must not find another's. Tokens have
-- names, and streams descriptions. Foreign keys are switched off meanwhile.

CREATE TABLE new_users (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    name     TEXT NOT NULL UNIQUE,
    email    TEXT NOT NULL,
    -- argon2id, in PHC string format
    password TEXT NOT NULL,
    admin    INTEGER NOT NULL,
    created  BIGINT NOT NULL
);
INSERT INTO new_users SELECT id, name, email, password, admin, created FROM users ORDER BY id;
DROP TABLE users;
ALTER TABLE new_users RENAME TO users;

CREATE TABLE new_streams (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    resource    INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    label       TEXT NOT NULL,
    unit        TEXT,
    description TEXT NOT NULL DEFAULT '',
    UNIQUE (resource, label)
);
INSERT INTO new_streams (id, resource, label, unit) SELECT id, resource, label, unit FROM streams ORDER BY id;
DROP TABLE streams;
ALTER TABLE new_streams RENAME TO streams;

-- Only the digests of tokens are kept.
CREATE TABLE new_tokens (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    digest  BLOB NOT NULL UNIQUE,
    owner   INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- a session has none
    label   TEXT,
    created BIGINT NOT NULL,
    expires BIGINT,
    UNIQUE (owner, label)
);
-- Sessions begin anew. The token that does not expire is the one in the administrator's file.
INSERT INTO new_tokens (digest, owner, label, created)
SELECT digest, owner, 'admin-token', 0 FROM tokens WHERE expires IS NULL GROUP BY owner;
DROP TABLE tokens;
ALTER TABLE new_tokens RENAME TO tokens;
CREATE INDEX tokens_by_end ON tokens (expires) WHERE expires IS NOT NULL;
