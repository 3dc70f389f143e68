-- A user who is disabled is not let in, and neither are their tokens. What is theirs stays.
ALTER TABLE users ADD COLUMN disabled BOOLEAN NOT NULL DEFAULT FALSE;
