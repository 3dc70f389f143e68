-- The fingerprints of the cloud's own keys, by the file that holds each: devices know the cloud by them, so no other key takes their
-- place. One row each, which the cloud adds when it has the keys.
CREATE TABLE own_key_fingerprints (file TEXT PRIMARY KEY, fingerprint TEXT NOT NULL);
