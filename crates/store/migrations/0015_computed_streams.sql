-- Streams whose points are computed from those of other streams of their owner.
CREATE TABLE computed_streams (
    stream     INTEGER PRIMARY KEY REFERENCES streams (id) ON DELETE CASCADE,
    expression TEXT NOT NULL,
    -- in which days begin
    time_zone  TEXT NOT NULL,
    -- what is still to be computed: from this time on, before that one; nothing if all is
    due_from   BIGINT,
    due_until  BIGINT,
    -- where that began, to tell how much of it is done
    due_since  BIGINT
);

CREATE INDEX computed_streams_due ON computed_streams (stream) WHERE due_from IS NOT NULL;

CREATE TABLE computed_inputs (
    computed INTEGER NOT NULL REFERENCES computed_streams (stream) ON DELETE CASCADE,
    -- what the expression calls it
    name     TEXT NOT NULL,
    -- nothing, when that stream was deleted
    stream   INTEGER REFERENCES streams (id) ON DELETE SET NULL,
    PRIMARY KEY (computed, name)
);

CREATE INDEX computed_inputs_by_stream ON computed_inputs (stream);

-- Grows when a definition changes, whoever changes it: whoever remembers definitions asks for it. One row.
CREATE TABLE computed_version (version INTEGER NOT NULL);

INSERT INTO computed_version VALUES (0);

CREATE TRIGGER computed_stream_added AFTER INSERT ON computed_streams BEGIN
    UPDATE computed_version SET version = version + 1;
END;

CREATE TRIGGER computed_stream_changed AFTER UPDATE OF expression, time_zone ON computed_streams BEGIN
    UPDATE computed_version SET version = version + 1;
END;

CREATE TRIGGER computed_stream_deleted AFTER DELETE ON computed_streams BEGIN
    UPDATE computed_version SET version = version + 1;
END;

CREATE TRIGGER computed_input_added AFTER INSERT ON computed_inputs BEGIN
    UPDATE computed_version SET version = version + 1;
END;

CREATE TRIGGER computed_input_changed AFTER UPDATE ON computed_inputs BEGIN
    UPDATE computed_version SET version = version + 1;
END;

CREATE TRIGGER computed_input_deleted AFTER DELETE ON computed_inputs BEGIN
    UPDATE computed_version SET version = version + 1;
END;
