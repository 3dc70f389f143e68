-- What a credential's identity is: the name of a pre-shared key (psk), SHA-256 of a raw public key (rpk), or the name in a
-- certificate (x509). What is sealed is the key, nothing, or the only public key that the certificate may have, if there is one.
ALTER TABLE credentials ADD COLUMN kind TEXT NOT NULL DEFAULT 'psk';
