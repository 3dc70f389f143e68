//! A client of DTLS with raw public keys, which sends back what it receives.
#![no_std]
#![no_main]

use sixlock_alone::answer;
use sixlock_dtls::{CertificateType, Credentials, Features, Plain, RawPublicKeys, Trusted};

const SECRET: [u8; 32] = [1; 32];

static CREDENTIALS: Credentials = Credentials {
    raw_public_key: Some(*include_bytes!("../../keys/device.point")),
    certificates: &[],
    accepts: &[CertificateType::RawPublicKey],
    mutual: true,
    authorities: &[],
};

const TRUSTED: Trusted<'_> =
    Trusted { raw_public_keys: &[*include_bytes!("../../keys/server.point")], certificates: None };

sixlock_alone::client!(Plain<Features<RawPublicKeys>>, Some(&CREDENTIALS), |cx, session| {
    answer(cx, session, &SECRET, &TRUSTED);
});
