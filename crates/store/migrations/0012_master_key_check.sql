-- A known value, sealed under the master key: whether it opens tells whether a key is the one of this database. One row, which the
-- cloud adds when it has checked its key.
CREATE TABLE master_key_check (sealed BLOB NOT NULL);
