//! wolfSSL 5.5.4, as Debian builds it: of the suites with pre-shared keys it has ECDHE_PSK with AES-GCM alone (its own are not
//! ephemeral only with `WOLFSSL_STATIC_PSK`), no connection ids (`WOLFSSL_DTLS_CID`), and knows no raw public keys.

use sixlock_dtls::{AlertDescription, Failure, Refusal, Suite};
use sixlock_interop::{Library, Peer, Settings};

use crate::cases::{self, By};

/// Its errors.
const FATAL_ALERT: &str = "failed: -0x139";
const NO_SIGNER: &str = "failed: -0xbc";

const SUITES: [(By, Suite); 4] = [
    (By::Certificates, Suite::EcdheEcdsaAes128Ccm8),
    (By::Certificates, Suite::EcdheEcdsaAes128Ccm),
    (By::Certificates, Suite::EcdheEcdsaAes128Gcm),
    (By::SharedKeys, Suite::EcdhePskAes128Gcm),
];

fn start(settings: &Settings<'_>) -> Peer {
    Library::WolfSsl.start(env!("CARGO_TARGET_TMPDIR"), settings)
}

#[test]
fn our_client_speaks_with_wolfssl() {
    for (by, suite) in SUITES {
        cases::our_client_speaks(start, by, suite);
    }
}

#[test]
fn our_client_resumes_by_tickets_of_wolfssl() {
    for (by, suite) in [SUITES[1], SUITES[3]] {
        cases::our_client_resumes_by_ticket(start, by, suite);
    }
}

#[test]
fn our_server_speaks_with_wolfssl() {
    for (by, suite) in SUITES {
        cases::our_server_speaks(start, by, suite);
    }
}

#[test]
fn our_client_and_wolfssl_refuse_each_other() {
    cases::our_client_fails(
        start,
        SUITES[0],
        Failure::Authentication(Refusal::CertificateInvalid),
        FATAL_ALERT,
    );
    // The server waits for a Finished under its own key.
    cases::our_client_fails(start, SUITES[3], Failure::TimedOut, "");
}

#[test]
fn our_server_and_wolfssl_refuse_each_other() {
    let refused = Failure::Refused(AlertDescription::UNKNOWN_CA);
    cases::our_server_fails(start, SUITES[0], refused, NO_SIGNER);
    cases::our_server_fails(start, SUITES[3], Failure::Authentication(Refusal::WrongKey), FATAL_ALERT);
}
