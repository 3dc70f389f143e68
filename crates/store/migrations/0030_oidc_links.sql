-- By which accounts at OpenID providers users sign in: a subject of an issuer is one user's, and a user has one subject of each issuer.
-- A user who signs in by these alone has no password: the empty one, which is the hash of none.
CREATE TABLE oidc_links (
    issuer  TEXT NOT NULL,
    subject TEXT NOT NULL,
    owner   INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    linked  BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);

CREATE UNIQUE INDEX oidc_links_by_owner ON oidc_links (owner, issuer);
