-- A DTLS identity, and what proves it: of a resource, or of a user, who acts by it over CoAP. All are in one table, so none is both. What was
-- not null is so no more, so the table is made anew, which needs foreign keys switched off.
CREATE TABLE credentials_of_all (
    -- never given twice: a session rests on a row, and a late look-up must not find another's
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    -- the resource whose device has it
    resource INTEGER REFERENCES resources (id) ON DELETE CASCADE,
    identity TEXT NOT NULL UNIQUE,
    -- sealed under the master key
    key      BLOB NOT NULL,
    -- when it ends; the current one of a resource does not end by itself
    expires  BIGINT,
    kind     TEXT NOT NULL DEFAULT 'psk',
    certificate_expires BIGINT,
    -- the user who has it, and how they call it
    holder   INTEGER REFERENCES users (id) ON DELETE CASCADE,
    called   TEXT,
    made     BIGINT,
    -- what it may be used for, as a token: all that its user may do, or to read only, or for one resource only, or both
    read_only     BOOLEAN NOT NULL DEFAULT FALSE,
    only_resource INTEGER REFERENCES resources (id) ON DELETE CASCADE,
    UNIQUE (holder, called),
    CHECK ((resource IS NULL) <> (holder IS NULL)),
    CHECK ((holder IS NULL) = (called IS NULL) AND (holder IS NULL) = (made IS NULL))
);

-- Numbers go on behind those of rows that are gone.
INSERT INTO sqlite_sequence (name, seq) SELECT 'credentials_of_all', seq FROM sqlite_sequence WHERE name = 'credentials';

INSERT INTO credentials_of_all (id, resource, identity, key, expires, kind, certificate_expires)
    SELECT id, resource, identity, key, expires, kind, certificate_expires FROM credentials ORDER BY id;

DROP TABLE credentials;

ALTER TABLE credentials_of_all RENAME TO credentials;

CREATE UNIQUE INDEX current_credentials ON credentials (resource) WHERE expires IS NULL;
CREATE UNIQUE INDEX replaced_credentials ON credentials (resource) WHERE expires IS NOT NULL;
CREATE INDEX credentials_by_end ON credentials (expires) WHERE expires IS NOT NULL;
CREATE INDEX credentials_by_certificate ON credentials (certificate_expires) WHERE certificate_expires IS NOT NULL;
CREATE INDEX credentials_by_only_resource ON credentials (only_resource) WHERE only_resource IS NOT NULL;
