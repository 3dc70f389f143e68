-- Whether the device is to tell what changes, between polls.
ALTER TABLE pollers ADD COLUMN observe BOOLEAN NOT NULL DEFAULT FALSE;
