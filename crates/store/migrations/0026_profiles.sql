-- What devices of one kind have in common, as JSON: it is given to a resource when that is made.
CREATE TABLE profiles (
    owner   INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label   TEXT NOT NULL,
    profile TEXT NOT NULL,
    PRIMARY KEY (owner, label)
);
