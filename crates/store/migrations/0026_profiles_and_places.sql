-- What devices of one kind have in common, as JSON: it is given to a resource when that is made.
CREATE TABLE profiles (
    owner   INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label   TEXT NOT NULL,
    profile TEXT NOT NULL,
    PRIMARY KEY (owner, label)
);

-- Where a resource is, in degrees north of the equator and east of Greenwich (WGS 84): both or neither.
ALTER TABLE resources ADD COLUMN latitude DOUBLE PRECISION;

ALTER TABLE resources ADD COLUMN longitude DOUBLE PRECISION;
