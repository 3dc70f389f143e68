-- Whether anyone may read a stream, and whether whoever looks for streams finds it; nobody finds one that not anyone may read.
ALTER TABLE streams ADD COLUMN public_access BOOLEAN NOT NULL DEFAULT FALSE;

ALTER TABLE streams ADD COLUMN public_search BOOLEAN NOT NULL DEFAULT FALSE;

CREATE INDEX streams_to_find ON streams (id) WHERE public_search;

-- By which words a stream is found: each once, in small letters, as UTF-8, whose order is that of its bytes. Streams that
-- are not found have none.
CREATE TABLE search_words (
    stream INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    word   BLOB NOT NULL,
    PRIMARY KEY (stream, word)
);

CREATE INDEX search_words_by_word ON search_words (word, stream);

-- Streams that users follow. A stream that was deleted stays, so that nobody can tell it from one that is public no more;
-- ids of streams are never given twice.
CREATE TABLE followed_streams (
    owner  INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    stream INTEGER NOT NULL,
    -- milliseconds since 1970
    since  BIGINT NOT NULL,
    PRIMARY KEY (owner, stream)
);

-- The only stream that a token may be used for, to read it.
ALTER TABLE tokens ADD COLUMN stream INTEGER REFERENCES streams (id) ON DELETE CASCADE;

CREATE INDEX tokens_by_stream ON tokens (stream) WHERE stream IS NOT NULL;
