//! Certificates that a test's own authority signs.

use sixlock_crypto::Soft;
use sixlock_crypto::p256::{P_256_POINT, P_256_SECRET, P256 as _};
use sixlock_x509::{Template, Time};

/// The longest certificate, in bytes.
const LONGEST: usize = 512;

/// An authority.
#[derive(Clone, Copy, Debug)]
pub struct Authority<'a> {
    /// Its common name.
    pub name: &'a str,
    /// Its private key.
    pub secret: [u8; P_256_SECRET],
    /// From when to when its own certificate and those that it signs are valid.
    pub validity: (Time, Time),
}

impl Authority<'_> {
    /// An authority with the name "authority" and this private key. Its certificates are valid from 2025-01-01 to 2052-02-20.
    pub fn new(secret: [u8; P_256_SECRET]) -> Self {
        Self { name: "authority", secret, validity: (Time::new(20_089, 0), Time::new(30_000, 0)) }
    }

    /// Its own certificate, with the serial number 1.
    ///
    /// # Panics
    ///
    /// If its private key is none, or its name is longer than 64 bytes.
    pub fn certificate(&self) -> Vec<u8> {
        let public_key = Soft.p256_public_key(&self.secret).expect("a private key");
        self.sign(Template { authority: true, ..self.template(&[1], self.name, &public_key) })
    }

    /// The certificate of a public key, which may be a client's or a server's. The serial number is between 1 and 127.
    ///
    /// # Panics
    ///
    /// If its private key is none, or a name is longer than 64 bytes.
    pub fn issue(&self, serial: u8, subject: &str, public_key: &[u8; P_256_POINT]) -> Vec<u8> {
        self.sign(self.template(&[serial], subject, public_key))
    }

    fn template<'t>(
        &'t self,
        serial: &'t [u8],
        subject: &'t str,
        public_key: &'t [u8; P_256_POINT],
    ) -> Template<'t> {
        let Self { name: issuer, validity, .. } = *self;
        Template { serial, issuer, subject, validity, public_key, authority: false, purposes: &[] }
    }

    fn sign(&self, template: Template<'_>) -> Vec<u8> {
        let mut room = [0; LONGEST];
        template.issue(&mut Soft, &self.secret, &mut room).expect("it is not too long").to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_x509::{Clock, Error, Purpose, Trust, verify};

    const DEVICE: [u8; P_256_SECRET] = [2; P_256_SECRET];

    #[test]
    fn who_trusts_an_authority_takes_what_it_signs_and_nothing_of_another() {
        let public_key = Soft.p256_public_key(&DEVICE).unwrap();
        let certificates = [1, 3].map(|secret| Authority::new([secret; P_256_SECRET]).certificate());
        let issued = Authority::new([1; P_256_SECRET]).issue(9, "device", &public_key);
        let verified = |authority: &[u8]| {
            let (clock, purpose) = (Clock::At(Time::new(20_100, 0)), Purpose::Client);
            let trust = Trust { authorities: &[authority], clock, purpose, name: Some(b"device") };
            verify(&mut Soft, &trust, [&issued[..]]).map(|certificate| *certificate.public_key())
        };
        assert_eq!(verified(&certificates[0]), Ok(public_key));
        assert_eq!(verified(&certificates[1]), Err(Error::Signature));
    }
}
