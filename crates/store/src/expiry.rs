//! Which certificates of devices end soon.

use sixlock_telemetry::CertificateExpiry;

use crate::error::Error;
use crate::store::Store;

/// So long before its end a certificate is one that ends soon, in milliseconds.
pub const SOON_MS: i64 = 30 * 24 * 60 * 60 * 1000;

impl Store {
    /// The device of this identity has shown a certificate that ends at `end`. What is known already is not written again.
    pub async fn note_certificate(&self, identity: &str, end: i64) -> Result<(), Error> {
        let is_news: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM credentials
             WHERE identity = $1 AND kind = 'x509' AND coalesce(certificate_expires, -1) <> $2)",
        )
        .bind(identity)
        .bind(end)
        .fetch_one(&self.readers)
        .await?;
        if is_news {
            sqlx::query(
                "UPDATE credentials SET certificate_expires = $2 WHERE identity = $1 AND kind = 'x509'",
            )
            .bind(identity)
            .bind(end)
            .execute(&mut *self.writer.lock().await)
            .await?;
        }
        Ok(())
    }

    /// How it stands with certificates at the time `now`.
    pub async fn certificate_expiry(&self, now: i64) -> Result<CertificateExpiry, Error> {
        let (next, expired, soon, all): (Option<i64>, Option<i64>, Option<i64>, i64) = sqlx::query_as(
            "SELECT min(CASE WHEN certificate_expires > $1 THEN certificate_expires END),
             sum(certificate_expires <= $1),
             sum(certificate_expires > $1 AND certificate_expires <= $2), count(*)
             FROM credentials WHERE certificate_expires IS NOT NULL AND (expires IS NULL OR expires > $1)",
        )
        .bind(now)
        .bind(now.saturating_add(SOON_MS))
        .fetch_one(&self.readers)
        .await?;
        let (expired, soon) = (expired.unwrap_or(0), soon.unwrap_or(0));
        Ok(CertificateExpiry { next, expired, soon, good: all - expired - soon })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::now_ms;
    use crate::enrolment::CertificateTerms;
    use crate::ids::Listing;
    use crate::public_keys::{KeyPair, expires, pem};
    use crate::resources::Device;
    use crate::secrets::Secret;

    #[tokio::test]
    async fn the_end_of_a_certificate_is_known_whether_it_was_made_here_or_given() {
        const DAY: i64 = 86_400_000;
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
        let now = now_ms();
        let enrol = async |label: &str, key: String, days: u32| {
            let mode = "dtls-x509".parse().unwrap();
            let certificate = CertificateTerms { valid_s: Some(days * 86_400), server: false };
            let key = Some(Secret::new(key.into_bytes()));
            store.enrol(user.id, Device { mode, key, certificate, ..Device::named(label) }).await.unwrap()
        };
        let public = || pem::public_key(&KeyPair::random().unwrap().point);
        let soon = enrol("soon", public(), 10).await;
        enrol("late", public(), 400).await;
        let pair = KeyPair::random().unwrap();
        let given = store.own_keys().issue("given", &pair.point, now / 1000 + 20 * 86_400, &[]).unwrap();
        enrol("given", pem::certificate(&given), 0).await;
        let end = expires(&soon.certificate.unwrap()).unwrap();
        assert!((end - now - 10 * DAY).abs() < 60_000, "{end}");

        let listing = Listing { limit: 10, after: 0 };
        let held = store.credentials_of(user.id, listing, now).await.unwrap();
        let ends: Vec<_> = held.iter().map(|held| held.credential.certificate_expires).collect();
        assert_eq!((ends[0], ends[2]), (Some(end), expires(&given)));
        assert_eq!(store.credentials(soon.resource.id, now).await.unwrap()[0].certificate_expires, Some(end));
        // An authority of another renews its certificates itself, and of some nothing is known before they are shown.
        let mode = "dtls-x509".parse().unwrap();
        let identity = Some("elsewhere".to_owned());
        let elsewhere = Device { mode, identity, ..Device::named("elsewhere") };
        let elsewhere = store.enrol(user.id, elsewhere).await.unwrap().resource.id;
        for end in [None, Some(end + 400 * DAY), Some(end + 500 * DAY), Some(end + 400 * DAY)] {
            if let Some(end) = end {
                store.note_certificate("elsewhere", end).await.unwrap();
            }
            assert_eq!(store.credentials(elsewhere, now).await.unwrap()[0].certificate_expires, end);
        }
        store.remove_credentials(elsewhere, None).await.unwrap();
        store.note_certificate("elsewhere", end).await.unwrap();

        let at = async |time| store.certificate_expiry(time).await.unwrap();
        assert_eq!(at(now).await, CertificateExpiry { next: Some(end), expired: 0, soon: 2, good: 1 });
        assert_eq!(at(end).await, CertificateExpiry { next: ends[2], expired: 1, soon: 1, good: 1 });
        assert_eq!(at(now + 500 * DAY).await, CertificateExpiry { next: None, expired: 3, soon: 0, good: 0 });
    }
}
