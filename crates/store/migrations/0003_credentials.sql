-- A DTLS identity and its pre-shared key. An identity belongs to one resource. A resource has one current credential
-- and, while that is being introduced, the one it replaces.
CREATE TABLE credentials (
    -- never given twice: a session rests on a row, and a late look-up must not find another's
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    resource INTEGER NOT NULL REFERENCES resources (id) ON DELETE CASCADE,
    identity TEXT NOT NULL UNIQUE,
    -- sealed under the master key
    key      BLOB NOT NULL,
    -- when it ends; the current one does not end by itself
    expires  BIGINT
);

CREATE UNIQUE INDEX current_credentials ON credentials (resource) WHERE expires IS NULL;
CREATE UNIQUE INDEX replaced_credentials ON credentials (resource) WHERE expires IS NOT NULL;
CREATE INDEX credentials_by_end ON credentials (expires) WHERE expires IS NOT NULL;

INSERT INTO credentials (resource, identity, key) SELECT id, identity, key FROM resources ORDER BY id;

-- SQLite does not drop a column that is unique, so the table is made anew, which needs foreign keys switched off.
CREATE TABLE resources_without_credentials (
    id    INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label TEXT NOT NULL,
    mode  TEXT NOT NULL,
    UNIQUE (owner, label)
);
INSERT INTO resources_without_credentials SELECT id, owner, label, mode FROM resources ORDER BY id;
DROP TABLE resources;
ALTER TABLE resources_without_credentials RENAME TO resources;
