//! Lets images with DTLS of `firmware/alone` make a handshake and exchange records with a server of our own, and prints for each
//! how many bytes of stack that took.
//!
//! Usage: `dtls IMAGE...`, or `dtls --keys FOLDER`, which writes what `firmware/alone/keys` is to hold.

mod alone;

use std::path::Path;
use std::process::ExitCode;

use sixlock_crypto::Soft;
use sixlock_crypto::p256::P256 as _;
use sixlock_dtls::{
    CertificateType, Certificates, Certified, Completion, Config, CookieSecrets, Credentials, Event,
    Features, Handshake, Listen, MAX_RECORD_OVERHEAD, RECORD_FRONT, ServerSession, Suites, Trusted, Work,
    is_client_hello, listen, perform,
};
use sixlock_testing::{Authority, Random, Rig};
use sixlock_x509::{Clock, Purpose, Time, Trust};

use alone::{DATAGRAM_LEN, Device, Failure};

/// What the device is to know.
const IDENTITY: &[u8] = b"node-1";
const KEY: &[u8] = b"0123456789abcdef";

/// The private keys of device, server and authority.
const DEVICE: [u8; 32] = [1; 32];
const SERVER: [u8; 32] = [2; 32];
const AUTHORITY: [u8; 32] = [3; 32];

/// What the device is to send back.
const DATA: [&[u8]; 3] = [b"a", b"a reading of a sensor", &[7; 128]];

/// More tasks than this takes.
const TASKS: u32 = 60;

/// The public keys and certificates that follow from the private keys.
struct Keys {
    device_point: [u8; 65],
    server_point: [u8; 65],
    device: Vec<u8>,
    server: Vec<u8>,
    authority: Vec<u8>,
}

impl Keys {
    fn new() -> Result<Self, Failure> {
        let point = |secret| Soft.p256_public_key(secret).ok_or("a private key is none");
        let (device_point, server_point) = (point(&DEVICE)?, point(&SERVER)?);
        let authority = Authority::new(AUTHORITY);
        Ok(Self {
            device_point,
            server_point,
            device: authority.issue(2, "02-12-74-00-00-00-00-01", &device_point),
            server: authority.issue(3, "server", &server_point),
            authority: authority.certificate(),
        })
    }

    /// Writes what images are made of.
    fn write(&self, folder: &Path) -> Result<(), Failure> {
        for (name, bytes) in [
            ("device.point", &self.device_point[..]),
            ("server.point", &self.server_point),
            ("device.der", &self.device),
            ("authority.der", &self.authority),
        ] {
            std::fs::write(folder.join(name), bytes)?;
        }
        Ok(())
    }

    /// What the server shows: both, so that the client chooses.
    fn credentials(&self) -> &'static Credentials {
        Box::leak(Box::new(Credentials {
            raw_public_key: Some(self.server_point),
            certificates: vec![&*self.server.clone().leak()].leak(),
            accepts: &[CertificateType::RawPublicKey, CertificateType::X509],
            mutual: true,
            authorities: &[],
        }))
    }
}

/// Its handshake is freed when it is over.
type Session = ServerSession<Soft, Option<Box<Handshake<Soft, Features<Certificates>>>>, Certified>;

/// A server with one session.
struct Server {
    keys: Keys,
    secrets: CookieSecrets,
    session: Option<Session>,
    rig: Rig,
    /// What it has sent and what has come back, in records.
    sent: usize,
    returned: usize,
}

impl Server {
    fn new() -> Result<Self, Failure> {
        let mut rig = Rig::seeded(1);
        let secrets = CookieSecrets::new(&mut rig.entropy);
        Ok(Self { keys: Keys::new()?, secrets, session: None, rig, sent: 0, returned: 0 })
    }

    /// Takes a datagram, which may be empty; what it sends.
    fn task(&mut self, datagram: &mut [u8]) -> Result<Vec<u8>, Failure> {
        let Self { keys, secrets, session, rig, sent, returned } = self;
        let cx = &mut rig.cx();
        let mut out = [0; DATAGRAM_LEN];
        if session.is_none() && is_client_hello(datagram) {
            match listen(cx, secrets, b"device", datagram, &mut out) {
                Listen::Reply(length) | Listen::Refuse(length, _) => return Ok(out[..length].to_vec()),
                Listen::Accept(hello) => {
                    let handshake = Some(Box::new(Handshake::with(keys.credentials())));
                    let config = Config { suites: Suites::ALL, ..Config::MESH };
                    *session = Some(ServerSession::server(cx, &hello, config, handshake));
                }
                Listen::Drop(_) => return Err("the server does not take the hello".into()),
            }
        } else if let Some(session) = session
            && let Some(data) = session.handle(cx, datagram).data
        {
            if *data != *DATA[*returned] {
                return Err("other data came back".into());
            }
            *returned += 1;
        }
        let Some(session) = session else { return Ok(Vec::new()) };
        while let Some(event) = session.poll_event() {
            let gone_on = match event {
                Event::Work(Work::Psk { identity: IDENTITY }) => {
                    session.complete(cx, Completion::psk(Some(KEY)))
                }
                Event::Work(Work::Task(task)) => {
                    let trust = Trust {
                        authorities: &[&keys.authority],
                        clock: Clock::At(Time::new(20_100, 0)),
                        purpose: Purpose::Client,
                        name: None,
                    };
                    let trusted =
                        Trusted { raw_public_keys: &[keys.device_point], certificates: Some(trust) };
                    let answer = perform(cx.crypto, cx.entropy, &SERVER, &trusted, task);
                    session.complete(cx, Completion::Task(&answer))
                }
                Event::Connected => Ok(()),
                event => return Err(format!("{event:?}").into()),
            };
            gone_on.map_err(|error| format!("{error:?}"))?;
        }
        if let Some(length) = session.poll_transmit(cx, &mut out) {
            return Ok(out[..length].to_vec());
        }
        let Some(data) = DATA.get(*sent).filter(|_| session.is_connected() && sent == returned) else {
            return Ok(Vec::new());
        };
        let mut record = vec![0; data.len() + MAX_RECORD_OVERHEAD];
        record[RECORD_FRONT..][..data.len()].copy_from_slice(data);
        let length = session.seal(cx, &mut record, data.len()).map_err(|error| format!("{error:?}"))?;
        record.truncate(length);
        *sent += 1;
        Ok(record)
    }
}

/// How much stack it takes until all data has come back.
fn measure(image: &Path) -> Result<u32, Failure> {
    let (mut device, mut server) = (Device::start(image)?, Server::new()?);
    let mut entropy = Random::new(2);
    let mut datagram = Vec::new();
    for _ in 0..TASKS {
        datagram = device.task(&datagram, &mut entropy)?;
        datagram = server.task(&mut datagram)?;
        if server.returned == DATA.len() {
            return device.stack_peak();
        }
    }
    Err(format!("only {} of {} records came back", server.returned, DATA.len()).into())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if_eq("--keys").is_none() {
        return alone::print_stacks(arguments, measure);
    }
    let folder = arguments.next().unwrap_or_else(|| "firmware/alone/keys".into());
    match Keys::new().and_then(|keys| keys.write(Path::new(&folder))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{folder}: {error}");
            ExitCode::FAILURE
        }
    }
}
