-- When the clock of rules was looked at last, in milliseconds since 1970: silence is not reckoned while there is no cloud. One row.
CREATE TABLE alert_clock (looked BIGINT NOT NULL);

INSERT INTO alert_clock VALUES (0);

-- Of an address of e-mail whose owner has not confirmed it: the code that is sent there, and how many others were tried.
ALTER TABLE channels ADD COLUMN code TEXT;

ALTER TABLE channels ADD COLUMN codes_tried BIGINT NOT NULL DEFAULT 0;

-- Whose command it is: one whose user may give it no more is not told.
ALTER TABLE commands ADD COLUMN author_id INTEGER REFERENCES users (id) ON DELETE SET NULL;

UPDATE commands SET author_id = (SELECT id FROM users WHERE users.name = commands.author);
