-- Rows of resources are never given twice, as those of users and streams; resources have descriptions.

CREATE TABLE new_resources (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    owner       INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label       TEXT NOT NULL,
    mode        TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    UNIQUE (owner, label)
);
INSERT INTO new_resources (id, owner, label, mode) SELECT id, owner, label, mode FROM resources ORDER BY id;
DROP TABLE resources;
ALTER TABLE new_resources RENAME TO resources;
