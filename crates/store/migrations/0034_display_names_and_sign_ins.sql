-- How a user wants to be called beside their user name; empty if they do not say.
ALTER TABLE users ADD COLUMN display_name TEXT NOT NULL DEFAULT '';

-- When the user last signed in, in milliseconds since 1970.
ALTER TABLE users ADD COLUMN last_sign_in BIGINT;
