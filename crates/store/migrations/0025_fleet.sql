-- By what the owner of many resources finds some of them again.

-- Its tags, each once, in the order of the alphabet, with a comma between two.
ALTER TABLE resources ADD COLUMN tags TEXT NOT NULL DEFAULT '';

-- The folder that it is in: names with a / between two; empty: in none.
ALTER TABLE resources ADD COLUMN folder TEXT NOT NULL DEFAULT '';

-- How often its device reports, in seconds, as its owner says.
ALTER TABLE resources ADD COLUMN period BIGINT;

-- A poller that is paused polls no more until it is not.
ALTER TABLE pollers ADD COLUMN paused BOOLEAN NOT NULL DEFAULT FALSE;
