//! A client of DTLS with certificates, which sends back what it receives.
#![no_std]
#![no_main]

use sixlock_alone::answer;
use sixlock_dtls::{CertificateType, Certificates, Credentials, Features, Plain, Trusted, message_buffer};
use sixlock_x509::{Clock, Purpose, Time, Trust};

const SECRET: [u8; 32] = [1; 32];

static CREDENTIALS: Credentials = Credentials {
    raw_public_key: None,
    certificates: &[include_bytes!("../../keys/device.der")],
    accepts: &[CertificateType::X509],
    mutual: true,
    authorities: &[],
};

sixlock_alone::client!(
    Plain<Features<Certificates<{ message_buffer(512) }>>>,
    Some(&CREDENTIALS),
    |cx, session| {
        let certificates = Trust {
            authorities: &[include_bytes!("../../keys/authority.der")],
            clock: Clock::Since(Time::new(20_089, 0)),
            purpose: Purpose::Server,
            name: Some(b"server"),
        };
        let trusted = Trusted { raw_public_keys: &[], certificates: Some(certificates) };
        answer(cx, session, &SECRET, &trusted);
    }
);
