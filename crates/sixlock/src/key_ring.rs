//! What a node proves with public keys, and how it knows the cloud. Each key ring lasts as long as the program, as in a device's
//! flash.

use std::error::Error;

use sixlock_base::TransportSuite;
use sixlock_cloud::public_keys::KeyPair;
use sixlock_dtls::Trusted;
use sixlock_node::KeyRing;
use sixlock_x509::{Certificate, Clock, Purpose, Trust};

use crate::keys::DeviceFile;

/// That of a node which shows its key raw, and knows the cloud by its public key.
pub(crate) fn raw(pair: &KeyPair, cloud: [u8; 65]) -> &'static KeyRing {
    let trusted = Trusted { raw_public_keys: vec![cloud].leak(), certificates: None };
    key_ring(pair, None, trusted)
}

/// That of a node with a certificate, which knows the cloud by an authority and by the name in its certificate.
///
/// # Errors
/// When the node's own certificate is none.
pub(crate) fn certified(
    pair: &KeyPair,
    certificate: &[u8],
    authority: &[u8],
    cloud: &str,
) -> Result<&'static KeyRing, sixlock_x509::Error> {
    // The latest time that a node without a clock has proof of.
    let (beginning, _) = Certificate::parse(certificate)?.validity();
    let trust = Trust {
        authorities: vec![leak(authority)].leak(),
        clock: Clock::Since(beginning),
        purpose: Purpose::Server,
        name: Some(leak(cloud.as_bytes())),
    };
    let trusted = Trusted { raw_public_keys: &[], certificates: Some(trust) };
    Ok(key_ring(pair, Some(leak(certificate)), trusted))
}

/// That in a device's file; none with a pre-shared key.
pub(crate) fn of(file: &DeviceFile) -> Result<Option<&'static KeyRing>, Box<dyn Error>> {
    let suite = file.mode()?.transport.filter(|suite| suite.has_public_keys());
    let Some(suite) = suite else { return Ok(None) };
    let pair = file.key_pair().ok_or("its key is to be a private key of P-256, in 64 hexadecimal digits")?;
    let (device, cloud) = (&file.device, &file.cloud);
    let ring = match (suite, &cloud.public_key_hex, &device.certificate_hex, &cloud.authority_hex) {
        (TransportSuite::DtlsRpk, Some(key), ..) => {
            let point = key.bytes().try_into();
            raw(&pair, point.map_err(|_| "cloud.public_key_hex is to have 130 hexadecimal digits")?)
        }
        (TransportSuite::DtlsX509, _, Some(certificate), Some(authority)) => {
            let name = cloud.name.as_deref().ok_or("it does not say the name in the cloud's certificate")?;
            let ring = certified(&pair, certificate.bytes(), authority.bytes(), name);
            ring.map_err(|error| format!("device.certificate_hex: {error:?}"))?
        }
        _ => return Err(format!("it does not have all that {} needs", suite.name()).into()),
    };
    Ok(Some(ring))
}

fn key_ring(
    pair: &KeyPair,
    certificate: Option<&'static [u8]>,
    trusted: Trusted<'static>,
) -> &'static KeyRing {
    let secret = Box::leak(Box::new(*pair.secret));
    Box::leak(Box::new(KeyRing::new(secret, pair.point, Vec::from_iter(certificate).leak(), trusted)))
}

fn leak(bytes: &[u8]) -> &'static [u8] {
    bytes.to_vec().leak()
}
