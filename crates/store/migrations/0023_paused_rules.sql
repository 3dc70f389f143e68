-- A rule that is paused judges no reading, and no clock opens its alerts.
ALTER TABLE rules ADD COLUMN paused BOOLEAN NOT NULL DEFAULT FALSE;
