-- When the certificate of a credential ends that was made here, given, or last shown by its device, in milliseconds since 1970; nothing
-- with other credentials, and as long as that is not known.
ALTER TABLE credentials ADD COLUMN certificate_expires BIGINT;

CREATE INDEX credentials_by_certificate ON credentials (certificate_expires) WHERE certificate_expires IS NOT NULL;
