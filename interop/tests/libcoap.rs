//! CoAP over DTLS with the clients and the servers of libcoap on the other side, over OpenSSL and over GnuTLS.

use sixlock_coap_msg::{Builder, Code, Message, Type};
use sixlock_dtls::{Client, Config, Failure, Profile, Refusal, Suite, Suites};
use sixlock_interop::{
    Authority, CertifiedClient, Credential, LibcoapServer, PATIENCE, Process, SecureClient, SecureServer,
    SecureSocket, Seen,
};

const IDENTITY: &str = "node-1";
const KEY: &str = "0123456789abcdef0123456789abcdef";
const WRONG_KEY: &str = "ffff456789abcdef0123456789abcdef";

fn server(config: Config) -> SecureServer {
    SecureServer::bind(Credential { identity: IDENTITY.into(), key: KEY.into() }, config)
}

fn client(program: &str, server: &SecureServer, identity: &str, key: &str, more: &[&str]) -> Process {
    let uri = format!("coaps://{}/resources/data", server.address());
    let arguments = [&["-u", identity, "-k", key, "-B", "90"], more, &[&uri]].concat();
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
    // Only a wrong key ends it soon: the client may be slow.
    let strict = Config { bad_records: 2, ..Config::HOST };
    for (identity, key, refusal) in
        [(IDENTITY, WRONG_KEY, Refusal::WrongKey), ("nobody", KEY, Refusal::UnknownIdentity)]
    {
        let mut server = server(strict);
        let client = client(program, &server, identity, key, &[]);
        let failed = server.until(Seen::Failed(Failure::Authentication(refusal)), PATIENCE);
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

const OVER: [&str; 2] = ["coap-server-openssl", "coap-server-gnutls"];

/// Our client gets what the server has.
fn gets<P: Profile>(client: &mut SecureSocket<Client<P>>, server: &LibcoapServer) {
    let connected = client.until(Seen::Connected, PATIENCE);
    assert!(connected, "{:?} {}", client.seen(), server.process().output());
    let mut request = [0; 64];
    let mut builder = Builder::new(&mut request, Type::Confirmable, Code::GET, 1, b"t").unwrap();
    builder.path(&["reading"]).unwrap();
    let length = builder.finish();
    client.send(&request[..length]);
    let response = client.receive(PATIENCE).expect("an answer");
    let response = Message::parse(&response).unwrap();
    assert_eq!((response.code(), response.token()), (Code::CONTENT, &b"t"[..]));
    assert_eq!(response.payload(), LibcoapServer::READING.as_bytes());
}

/// Our client gets, closes, and gets again, in a session that is resumed or in a new one.
fn gets_again<P: Profile>(mut client: SecureSocket<Client<P>>, server: &LibcoapServer, resumed: bool) {
    gets(&mut client, server);
    client.close();
    let disconnected = server.process().prints("session disconnected", PATIENCE);
    assert!(disconnected, "{}", server.process().output());
    client.reconnect(server.address());
    gets(&mut client, server);
    assert_eq!(client.resumptions(), u32::from(resumed));
}

#[test]
fn the_servers_answer_our_client_with_a_shared_key() {
    for program in OVER {
        let server = LibcoapServer::start(program, &["-k", KEY]);
        let credential = Credential { identity: IDENTITY.into(), key: KEY.into() };
        // Over GnuTLS it keeps no sessions.
        let resumed = program == OVER[0];
        gets_again(SecureClient::connect(server.address(), credential, Config::HOST), &server, resumed);
    }
}

#[test]
fn the_servers_refuse_our_client_with_another_key() {
    for program in OVER {
        let server = LibcoapServer::start(program, &["-k", WRONG_KEY]);
        let credential = Credential { identity: IDENTITY.into(), key: KEY.into() };
        let hasty = Config { retransmissions: 2, ..Config::HOST };
        let mut client = SecureClient::connect(server.address(), credential, hasty);
        // The server waits for a Finished under its own key.
        let seen = client.first(PATIENCE);
        assert_eq!(seen, Some(Seen::Failed(Failure::TimedOut)), "{}", server.process().output());
    }
}

const CERTIFIED: Config =
    Config { suites: Suites::new(&[Suite::EcdheEcdsaAes128Ccm8]), resumable: true, ..Config::HOST };

#[test]
fn the_servers_answer_our_client_with_a_certificate() {
    let authority = Authority::new();
    let [own, key, root] = ["cloud.pem", "cloud.key", "authority.pem"].map(|file| authority.path(file));
    for program in OVER {
        let server = LibcoapServer::start(program, &["-c", &own, "-j", &key, "-C", &root]);
        let keys = authority.certified("device");
        // Over OpenSSL it resumes none that began with a client's certificate: it has no context of sessions.
        gets_again(CertifiedClient::connect_with(server.address(), keys, CERTIFIED), &server, false);
    }
}

#[test]
fn the_server_over_gnutls_answers_our_client_with_a_raw_public_key() {
    let authority = Authority::new();
    let both = ["cloud.key", "cloud.pub"].map(|file| std::fs::read_to_string(authority.path(file)).unwrap());
    std::fs::write(authority.path("cloud.raw"), both.concat()).unwrap();
    let server = LibcoapServer::start("coap-server-gnutls", &["-M", &authority.path("cloud.raw")]);
    let keys = authority.raw("device", "cloud");
    gets_again(CertifiedClient::connect_with(server.address(), keys, CERTIFIED), &server, false);
}
