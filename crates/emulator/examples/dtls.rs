//! Lets images with DTLS of `firmware/alone` make a handshake and exchange records with a server of our own, and prints for each
//! how many bytes of stack that took: `dtls IMAGE...`

mod alone;

use std::process::ExitCode;

use sixlock_base::{Counters, Cx, Instant};
use sixlock_crypto::Soft;
use sixlock_dtls::{
    Config, CookieSecrets, Event, Handshake, Listen, MAX_RECORD_OVERHEAD, RECORD_FRONT, ServerSession, Work,
    is_client_hello, listen,
};
use sixlock_emulator::Image;

use alone::{Counting, DATAGRAM_LEN, Device, Failure};

/// What the device is to know.
const IDENTITY: &[u8] = b"node-1";
const KEY: &[u8] = b"0123456789abcdef";

/// What the device is to send back.
const DATA: [&[u8]; 3] = [b"a", b"a reading of a sensor", &[7; 128]];

/// More tasks than this takes.
const TASKS: u32 = 30;

/// A server with one session.
struct Server {
    secrets: CookieSecrets,
    session: Option<ServerSession<Soft, Option<Box<Handshake<Soft>>>>>,
    entropy: Counting,
    counters: Counters,
    /// What it has sent and what has come back, in records.
    sent: usize,
    returned: usize,
}

impl Server {
    fn new() -> Self {
        let mut entropy = Counting(1);
        let secrets = CookieSecrets::new(&mut entropy);
        Self { secrets, session: None, entropy, counters: Counters::new(), sent: 0, returned: 0 }
    }

    /// Takes a datagram, which may be empty; what it sends.
    fn task(&mut self, datagram: &mut [u8]) -> Result<Vec<u8>, Failure> {
        let Self { secrets, session, entropy, counters, sent, returned } = self;
        let now = Instant::from_millis(0);
        let cx = &mut Cx { now, crypto: &mut Soft, entropy, nv: &mut (), counters };
        let mut out = [0; DATAGRAM_LEN];
        if session.is_none() && is_client_hello(datagram) {
            match listen(cx, secrets, b"device", datagram, &mut out) {
                Listen::Reply(length) => return Ok(out[..length].to_vec()),
                Listen::Accept(hello) => {
                    let handshake = Some(Box::new(Handshake::new()));
                    *session = Some(ServerSession::server(cx, &hello, Config::MESH, handshake));
                }
                Listen::Drop => return Err("the server does not take the hello".into()),
            }
        } else if let Some(session) = session {
            if let Some(data) = session.handle(cx, datagram).data {
                if *data != *DATA[*returned] {
                    return Err("other data came back".into());
                }
                *returned += 1;
            }
            match session.poll_event() {
                Some(Event::Work(Work::Psk { identity: IDENTITY })) => {
                    session.resume(cx, Some(KEY)).map_err(|error| format!("{error:?}"))?
                }
                Some(Event::Connected) | None => {}
                Some(event) => return Err(format!("{event:?}").into()),
            }
        }
        let Some(session) = session else { return Ok(Vec::new()) };
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
fn measure(image: &Image) -> Result<u32, Failure> {
    let (mut device, mut server) = (Device::start(image)?, Server::new());
    let mut entropy = Counting(2);
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
    alone::print_stacks(std::env::args().skip(1), measure)
}
