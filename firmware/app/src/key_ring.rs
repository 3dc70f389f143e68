//! Ways to the cloud with public keys, and servers that have them, on processors that are up to P-256. The keys lie in flash, where a device's own data is
//! written, and what points there in statics.

use core::ptr::{addr_of, addr_of_mut};

use sixlock_base::Slot;
use sixlock_crypto::Tiny;
use sixlock_dtls::{CertificateType, Certificates, Credentials, RawPublicKeys, Trusted, message_buffer};
use sixlock_lockstep::{CERTIFIED_KEYS as CERTIFIED, CertifiedKeys, Device, RAW_KEYS as RAW, RawKeys};
use sixlock_node::{DtlsPublicKey, EchoServer, KeyPair, KeyRing, Sensor, Server};
use sixlock_x509::{Certificate, Clock, Purpose, Trust};

use crate::access::CloudAccess;
use crate::device::given;
use crate::sizes::SERVED;

/// The longest Certificate message of the other end, in bytes.
const CERTIFICATE_MESSAGE: usize = 512;
/// Room for it.
type OneCertificate = Certificates<{ message_buffer(CERTIFICATE_MESSAGE) }>;
/// DTLS sessions of a server, a handshake under way included: it knows one client.
const SESSIONS: usize = 1;

/// Readings posted by CoAP through a DTLS session, with a raw public key.
pub type DtlsRpk = Sensor<Tiny, DtlsPublicKey<Tiny, RawPublicKeys>>;
/// The same, with a certificate.
pub type DtlsX509 = Sensor<Tiny, DtlsPublicKey<Tiny, OneCertificate>>;
/// Readings kept for who asks, and others' taken in, by CoAP through a DTLS session with raw public keys.
pub type ServerRpk = Server<Tiny, KeyPair<RawPublicKeys>, SESSIONS, SERVED>;
/// The same, with certificates.
pub type ServerX509 = Server<Tiny, KeyPair<OneCertificate>, SESSIONS, SERVED>;
/// No readings: it sends back what it gets through a DTLS session with raw public keys.
pub type EchoesRpk = EchoServer<Tiny, KeyPair<RawPublicKeys>, SESSIONS>;
/// The same, with certificates.
pub type EchoesX509 = EchoServer<Tiny, KeyPair<OneCertificate>, SESSIONS>;

/// Nothing in images that do not name it, and its section is left out of them; as that of the next.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".device.raw_keys")]
static RAW_KEYS: [u8; RAW] = [0xff; RAW];
#[unsafe(no_mangle)]
#[unsafe(link_section = ".device.certified_keys")]
static CERTIFIED_KEYS: [u8; CERTIFIED] = [0xff; CERTIFIED];

static mut RING: Slot<KeyRing> = Slot::Empty;
/// Our certificate, and the authority's.
static mut CHAINS: Slot<[&[u8]; 2]> = Slot::Empty;

impl CloudAccess for DtlsRpk {
    fn access<'a>(_: &Device<'a>) -> Option<&'static KeyRing> {
        raw()
    }
}

impl CloudAccess for DtlsX509 {
    fn access<'a>(_: &Device<'a>) -> Option<&'static KeyRing> {
        certified(Purpose::Server)
    }
}

impl CloudAccess for ServerRpk {
    fn access<'a>(_: &Device<'a>) -> Option<&'static KeyRing> {
        raw()
    }
}

impl CloudAccess for ServerX509 {
    fn access<'a>(_: &Device<'a>) -> Option<&'static KeyRing> {
        certified(Purpose::Client)
    }
}

impl CloudAccess for EchoesRpk {
    fn access<'a>(_: &Device<'a>) -> Option<&'static KeyRing> {
        raw()
    }
}

impl CloudAccess for EchoesX509 {
    fn access<'a>(_: &Device<'a>) -> Option<&'static KeyRing> {
        certified(Purpose::Client)
    }
}

/// A raw public key, and that of the other end: the cloud's, or of a server's one client.
fn raw() -> Option<&'static KeyRing> {
    // SAFETY: it is a static.
    let data = unsafe { given(addr_of!(RAW_KEYS)) };
    let RawKeys { secret, points: [own, cloud] } = RawKeys::parse(data)?;
    keep(KeyRing {
        secret,
        credentials: Credentials {
            raw_public_key: Some(*own),
            certificates: &[],
            accepts: &[CertificateType::RawPublicKey],
            mutual: true,
            authorities: &[],
        },
        trusted: Trusted { raw_public_keys: core::slice::from_ref(cloud), certificates: None },
    })
}

/// A certificate, and the authority that signs that of the other end, which is for this purpose. There is no clock: it is later than
/// the certificate's beginning.
fn certified(purpose: Purpose) -> Option<&'static KeyRing> {
    // SAFETY: it is a static.
    let data = unsafe { given(addr_of!(CERTIFIED_KEYS)) };
    let CertifiedKeys { secret, certificate, authority, cloud } = CertifiedKeys::parse(data)?;
    let (began, _) = Certificate::parse(certificate).ok()?.validity();
    // SAFETY: a node is told of its way to the cloud once, and nothing else names the static.
    let [certificates, authorities] = unsafe {
        let place = &mut *addr_of_mut!(CHAINS);
        *place = Slot::Full([certificate, authority]);
        place.get()?.each_ref().map(core::slice::from_ref)
    };
    keep(KeyRing {
        secret,
        credentials: Credentials {
            raw_public_key: None,
            certificates,
            accepts: &[CertificateType::X509],
            mutual: true,
            authorities: &[],
        },
        trusted: Trusted {
            raw_public_keys: &[],
            certificates: Some(Trust { authorities, clock: Clock::Since(began), purpose, name: Some(cloud) }),
        },
    })
}

fn keep(ring: KeyRing) -> Option<&'static KeyRing> {
    // SAFETY: a node is told of its way to the cloud once, and nothing else names the static.
    let place = unsafe { &mut *addr_of_mut!(RING) };
    *place = Slot::Full(ring);
    place.get()
}
