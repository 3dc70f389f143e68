//! DTLS with public keys, both roles.

use sixlock_base::{Cx, Entropy};
use sixlock_crypto::{Crypto, Tiny};
use sixlock_dtls::{
    CertificateType, Certificates, Certified, Client, Completion, Config, CookieSecrets, Credentials, Event,
    Features, Handshake, Listen, Role, Server, Session, Suite, Suites, Trusted, Work, listen, perform,
};
use sixlock_x509::{Clock, Purpose, Time, Trust};

use crate::io;
use crate::sizes::MESSAGE;

const CONFIG: Config = Config { suites: Suites::new(&[Suite::EcdheEcdsaAes128Ccm8]), ..Config::MESH };

const CREDENTIALS: Credentials = Credentials {
    raw_public_key: Some([4; 65]),
    certificates: &[&[0x30, 0]],
    accepts: &[CertificateType::RawPublicKey, CertificateType::X509],
    mutual: true,
    authorities: &[&[0x30, 0]],
};

/// A device is one of them at a time.
pub enum Machine<C: Crypto> {
    Client(Session<C, Client<Certified>, Handshake<C, Features<Certificates>>>),
    Server(Session<C, Server<Certified>, Handshake<C, Features<Certificates>>>),
}

pub fn new<C: Crypto, E: Entropy, N>(cx: &mut Cx<'_, C, E, N>) -> Machine<C> {
    if io::byte() == 0 {
        return Machine::Client(Session::client(cx, CONFIG, None, Handshake::with(&CREDENTIALS)));
    }
    let (datagram, mut reply) = (io::bytes::<MESSAGE>(), [0; 64]);
    let mut session = Session::new(Handshake::with(&CREDENTIALS));
    let secrets = CookieSecrets::new(cx.entropy);
    if let Listen::Accept(hello) = listen(cx, &secrets, &io::bytes::<16>(), &datagram, &mut reply) {
        session.accept(cx, &hello, &CONFIG);
    }
    Machine::Server(session)
}

#[inline(never)]
pub fn probe<C: Crypto, E: Entropy, N>(cx: &mut Cx<'_, C, E, N>, machine: &mut Machine<C>) {
    match machine {
        Machine::Client(session) => drive(cx, session),
        Machine::Server(session) => drive(cx, session),
    }
}

fn drive<C: Crypto, R: Role<Profile = Certified, Features = Features<Certificates>>, E: Entropy, N>(
    cx: &mut Cx<'_, C, E, N>,
    session: &mut Session<C, R, Handshake<C, Features<Certificates>>>,
) {
    let mut datagram = io::bytes::<MESSAGE>();
    let received = session.handle(cx, &mut datagram);
    io::write(received.data.unwrap_or_default());
    if let Some(Event::Work(Work::Task(task))) = session.poll_event() {
        let (secret, known, authority) = (io::bytes(), [io::bytes()], io::bytes::<400>());
        let trust = Trust {
            authorities: &[&authority],
            clock: Clock::Since(Time::new(io::number(), 0)),
            purpose: Purpose::Server,
            name: None,
        };
        let trusted = Trusted { raw_public_keys: &known, certificates: Some(trust) };
        let answer = perform(&mut Tiny::new(), cx.entropy, &secret, &trusted, task);
        io::write(&[session.complete(cx, Completion::Task(&answer)).is_ok().into()]);
    }
    if let Some(length) = session.poll_transmit(cx, &mut datagram) {
        io::write(datagram.get(..length).unwrap_or_default());
    }
}
