-- Which file holds the DTLS sessions that were open when the cloud last ended in order: none while it runs, at most one else. A file is
-- used only if it stands here, and stands here no more when it is used.
CREATE TABLE suspended_sessions (
    -- the file's id, and what tells it from every copy of it, as a digest
    fingerprint BLOB   NOT NULL,
    -- when that was, in milliseconds since 1970
    ended       BIGINT NOT NULL
);
