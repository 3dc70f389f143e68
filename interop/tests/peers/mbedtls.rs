//! Mbed TLS 2.28.3, as Debian builds it: without connection ids (`MBEDTLS_SSL_DTLS_CONNECTION_ID` is not defined in its
//! `config.h`; 2.28 has those of a draft, with another number and another authentication code than RFC 9146). It knows no
//! raw public keys.

use std::thread;

use sixlock_dtls::{AlertDescription, Config, Failure, Refusal, Suite};
use sixlock_interop::{Library, Nat, Peer, Seen, Settings};

use crate::cases::{self, By, PATIENCE, Pair, config};

/// Its errors.
const INVALID_MAC: &str = "failed: -0x7180";
const FATAL_ALERT: &str = "failed: -0x7780";
const CERTIFICATE_VERIFY_FAILED: &str = "failed: -0x2700";

/// Those that it has in common with us.
const SUITES: [(By, Suite); 6] = [
    (By::SharedKeys, Suite::PskAes128Ccm8),
    (By::SharedKeys, Suite::PskAes128Ccm),
    (By::SharedKeys, Suite::PskAes128Gcm),
    (By::Certificates, Suite::EcdheEcdsaAes128Ccm8),
    (By::Certificates, Suite::EcdheEcdsaAes128Ccm),
    (By::Certificates, Suite::EcdheEcdsaAes128Gcm),
];

fn start(settings: &Settings<'_>) -> Peer {
    Library::MbedTls.start(env!("CARGO_TARGET_TMPDIR"), settings)
}

#[test]
fn our_client_speaks_with_mbed_tls() {
    for (by, suite) in SUITES {
        cases::our_client_speaks(start, by, suite);
    }
}

#[test]
fn our_client_resumes_by_tickets_of_mbed_tls() {
    for (by, suite) in [SUITES[0], SUITES[4]] {
        cases::our_client_resumes_by_ticket(start, by, suite);
    }
}

#[test]
fn our_server_speaks_with_mbed_tls() {
    for (by, suite) in SUITES {
        cases::our_server_speaks(start, by, suite);
    }
}

#[test]
fn our_client_and_mbed_tls_refuse_each_other() {
    // The server takes no Finished under another key; our client takes no certificate of another authority.
    let refused = Failure::Refused(AlertDescription(20));
    cases::our_client_fails(start, SUITES[0], refused, INVALID_MAC);
    cases::our_client_fails(
        start,
        SUITES[3],
        Failure::Authentication(Refusal::CertificateInvalid),
        FATAL_ALERT,
    );
}

#[test]
fn our_server_and_mbed_tls_refuse_each_other() {
    cases::our_server_fails(start, SUITES[0], Failure::Authentication(Refusal::WrongKey), FATAL_ALERT);
    let refused = Failure::Refused(AlertDescription::UNKNOWN_CA);
    cases::our_server_fails(start, SUITES[3], refused, CERTIFICATE_VERIFY_FAILED);
}

/// The bytes of a handshake with cookies, both ways, between our two sides, of which neither sends a flight again because this machine is busy.
fn bytes_of_ours(pair: &Pair, suite: Suite) -> usize {
    let patient = |suite| Config { initial_timeout: Config::HOST.max_timeout, ..config(suite) };
    let mut server = pair.our_server(patient(suite));
    let nat = Nat::before(server.address());
    let mut client = pair.our_client(nat.address(), patient(suite));
    let connected = thread::scope(|scope| {
        let client = scope.spawn(|| client.until(Seen::Connected, PATIENCE));
        (server.until(Seen::Connected, PATIENCE), client.join().unwrap())
    });
    assert_eq!(connected, (true, true));
    nat.bytes()
}

/// The same between two of Mbed TLS. Theirs are compared if they are slow, too: then they are more.
fn bytes_of_theirs(pair: &Pair) -> usize {
    let server = pair.peer(None, None);
    let nat = Nat::before(server.address());
    let mut client = pair.peer(Some(nat.address()), None);
    client.write("!connect");
    client.prints("connected");
    server.prints("connected");
    nat.bytes()
}

#[test]
fn our_handshakes_take_no_more_bytes_than_those_of_mbed_tls() {
    for (by, suite) in [SUITES[0], SUITES[3]] {
        let pair = Pair::new(start, by, suite);
        let (ours, theirs) = (bytes_of_ours(&pair, suite), bytes_of_theirs(&pair));
        println!("bytes of a handshake, {by:?}: ours {ours}, Mbed TLS's {theirs}");
        assert!(ours <= theirs, "{by:?}: {ours} {theirs}");
    }
}
