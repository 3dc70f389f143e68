-- What a user may do: administrator, member or viewer.
ALTER TABLE users ADD COLUMN role TEXT NOT NULL DEFAULT 'member';

UPDATE users SET role = 'administrator' WHERE admin <> 0;

ALTER TABLE users DROP COLUMN admin;

-- What a token may be used for: all that its user may do, or to read only, or for one resource only, or both.
ALTER TABLE tokens ADD COLUMN read_only BOOLEAN NOT NULL DEFAULT FALSE;

ALTER TABLE tokens ADD COLUMN resource INTEGER REFERENCES resources (id) ON DELETE CASCADE;

CREATE INDEX tokens_by_resource ON tokens (resource) WHERE resource IS NOT NULL;

-- A link by which a user sets a password without the present one: the digest of its token. A new one takes its place.
CREATE TABLE reset_links (
    owner   INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    digest  BLOB NOT NULL UNIQUE,
    expires BIGINT NOT NULL
);

-- When a user signed up who has not signed in yet.
ALTER TABLE users ADD COLUMN signed_up BIGINT;

CREATE INDEX pending_users ON users (signed_up) WHERE signed_up IS NOT NULL;

-- How much a user may have who may have more or less than others; nothing is what all have.
CREATE TABLE quotas (
    owner        INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    resources    BIGINT,
    streams      BIGINT,
    points_a_day BIGINT
);

-- How many points of a user have arrived on the latest day on which any did, in days since 1970.
CREATE TABLE points_of_day (
    owner  INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    day    BIGINT NOT NULL,
    points BIGINT NOT NULL
);

-- The secret of a user's one-time codes, sealed under the master key.
CREATE TABLE second_factors (
    owner     INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    secret    BLOB NOT NULL,
    -- whether the user has shown a code of it: only then is it asked for
    confirmed BOOLEAN NOT NULL,
    -- the step of time of the latest code that was taken: none of it, or before, is taken again
    last_step BIGINT NOT NULL
);

-- Digests of codes each of which takes the place of a one-time code, once.
CREATE TABLE recovery_codes (
    owner  INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    digest BLOB NOT NULL,
    PRIMARY KEY (owner, digest)
);
