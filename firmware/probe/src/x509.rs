//! Certificates.

use sixlock_crypto::Tiny;
use sixlock_crypto::p256::P256;
use sixlock_x509::{
    Clock, DerSignature, Purpose, Time, Trust, public_key, public_key_info, signature_from_der, verify,
};

use crate::io;

/// A certificate's bytes.
const CERTIFICATE: usize = 400;

#[inline(never)]
pub fn probe() {
    let (own, authority) = (io::bytes::<CERTIFICATE>(), io::bytes::<CERTIFICATE>());
    let now = Time::new(io::number(), io::number());
    let trust = Trust {
        authorities: &[&authority],
        clock: if io::byte() == 0 { Clock::At(now) } else { Clock::Since(now) },
        purpose: if io::byte() == 0 { Purpose::Client } else { Purpose::Server },
        name: Some(&io::bytes::<8>()),
    };
    match verify(&mut Tiny::new(), &trust, [&own[..], &authority[..]]) {
        Ok(peer) => {
            io::write(peer.common_name().unwrap_or_default());
            io::write(peer.identity().unwrap_or_default());
            io::write(peer.public_key());
        }
        Err(error) => io::write(&[error as u8]),
    }
    if let (Ok(point), Ok(signature)) = (public_key(&own), signature_from_der(&authority)) {
        io::write(&public_key_info(point));
        io::write(DerSignature::new(&signature).bytes());
    }
    let (secret, peer) = (io::bytes(), io::bytes());
    if let (Some(point), Some(shared)) =
        (Tiny::new().p256_public_key(&secret), Tiny::new().p256_agree(&secret, &peer))
    {
        io::write(&point);
        io::write(&*shared);
    }
    io::write(&Tiny::new().p256_sign(&secret, &io::bytes()).unwrap_or([0; 64]));
}
