-- When the certificate of a credential ends that was made here or given, in milliseconds since 1970; nothing with other credentials,
-- and with those of before.
ALTER TABLE credentials ADD COLUMN certificate_expires BIGINT;

CREATE INDEX credentials_by_certificate ON credentials (certificate_expires) WHERE certificate_expires IS NOT NULL;
