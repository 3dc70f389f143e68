//! CoAP over DTLS with the clients of libcoap on the other side.

use sixlock_coap_msg::{Builder, Code, Message, Type};
use sixlock_dtls::{Config, Failure};
use sixlock_interop::{Credential, PATIENCE, Process, SecureServer, Seen};

const IDENTITY: &str = "node-1";
const KEY: &str = "0123456789abcdef0123456789abcdef";
const WRONG_KEY: &str = "ffff456789abcdef0123456789abcdef";

fn server(config: Config) -> SecureServer {
    SecureServer::bind(Credential { identity: IDENTITY.into(), key: KEY.into() }, config)
}

fn client(program: &str, server: &SecureServer, identity: &str, key: &str, more: &[&str]) -> Process {
    let uri = format!("coaps://{}/resources/data", server.address());
    let arguments = [&["-u", identity, "-k", key, "-B", "20"], more, &[&uri]].concat();
    Process::start(program, "libcoap3-bin", &arguments)
}

/// Answers the next request, which must be as expected.
fn answer(server: &mut SecureServer, request: (Code, &[u8]), response: (Code, &[u8])) {
    let datagram = server.receive(PATIENCE).expect("a request");
    let message = Message::parse(&datagram).unwrap();
    assert_eq!((message.code(), message.payload()), request);
    assert!(message.path_is(&["resources", "data"]));
    let mut out = [0; 128];
    let builder =
        Builder::new(&mut out, Type::Acknowledgement, response.0, message.id(), message.token()).unwrap();
    let length = builder.finish_with(response.1).unwrap();
    server.send(&out[..length]);
}

fn gets_and_posts(program: &str) {
    let mut server = server(Config::HOST);
    let mut get = client(program, &server, IDENTITY, KEY, &[]);
    answer(&mut server, (Code::GET, b""), (Code::CONTENT, b"a reading"));
    assert!(get.prints("a reading", PATIENCE), "{}", get.output());
    assert!(server.until(Seen::Closed, PATIENCE), "{:?} {}", server.seen(), get.output());
    assert!(get.succeeds(PATIENCE), "{}", get.output());

    let mut post = client(program, &server, IDENTITY, KEY, &["-m", "post", "-e", "21.4"]);
    answer(&mut server, (Code::POST, b"21.4"), (Code::CHANGED, b"thanks"));
    assert!(post.prints("thanks", PATIENCE), "{}", post.output());
    assert!(post.succeeds(PATIENCE), "{}", post.output());
}

fn is_refused(program: &str) {
    let hasty = Config { retransmissions: 2, bad_records: 2, ..Config::HOST };
    for (identity, key) in [(IDENTITY, WRONG_KEY), ("nobody", KEY)] {
        let mut server = server(hasty);
        let client = client(program, &server, identity, key, &[]);
        let failed = server.until(Seen::Failed(Failure::Authentication), PATIENCE);
        assert!(failed, "{:?} {}", server.seen(), client.output());
        assert!(!server.seen().contains(&Seen::Connected));
    }
}

#[test]
fn the_client_over_openssl_gets_and_posts() {
    gets_and_posts("coap-client-openssl");
}

#[test]
fn the_client_over_gnutls_gets_and_posts() {
    gets_and_posts("coap-client-gnutls");
}

#[test]
fn the_client_over_openssl_is_refused_without_the_key() {
    is_refused("coap-client-openssl");
}

#[test]
fn the_client_over_gnutls_is_refused_without_the_key() {
    is_refused("coap-client-gnutls");
}
