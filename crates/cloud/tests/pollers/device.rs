//! A device that is asked: our own CoAP server on a socket, in a thread.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, UNIX_EPOCH};

use sixlock_base::{Counter, Instant};
use sixlock_cloud::public_keys::{CLOUD_NAME, KeyPair, OwnKeys};
use sixlock_coap::{Part, ServerConfig};
use sixlock_coap_msg::{Block, Code, ContentFormat, OptionNumber};
use sixlock_crypto::Soft;
use sixlock_dtls::{CertificateType, Credentials, Suite, Suites, Task, Trusted, perform};
use sixlock_endpoint::{
    Answer, AuthenticationMethod, Config, Ended, Endpoint, Event, FINGERPRINT_SECRET, Notified, OnHeap,
    Outcome, TICKET_KEY, TicketKeys, Token, Transport,
};
use sixlock_testing::{Rig, System};
use sixlock_x509::{Clock, Purpose, Time, Trust};

pub(crate) const IDENTITY: &str = "the cloud";
pub(crate) const KEY: &str = "0123456789abcdef";

/// A free port.
pub(crate) const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// By what a device tells the cloud's public key from one before.
const MARK: &str = "the cloud's only key";

/// How many readings a device has at `/long` and `/torn`: they come in blocks.
pub(crate) const LONG: u32 = 120;

/// The critical options that the device knows.
const KNOWN: &[OptionNumber] =
    &[OptionNumber::URI_HOST, OptionNumber::URI_PATH, OptionNumber::URI_QUERY, OptionNumber::BLOCK2];

/// What a device saw.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    Connected,
    /// Connected, by resuming an earlier session.
    Resumed,
    Closed,
    Failed,
    /// A GET of this path and query.
    Asked(String),
    /// A GET of this path that observes it.
    Observed(String),
    /// The cloud has this notification.
    Acknowledged,
}

/// By what a device proves who it is besides its pre-shared key, and knows the cloud.
pub(crate) struct Keys {
    secret: [u8; 32],
    credentials: &'static Credentials,
    cloud: [u8; 65],
    authority: Vec<u8>,
}

impl Keys {
    /// A public key, raw or in a certificate, of one who takes only what the cloud shows of the same kind.
    pub(crate) fn new(pair: &KeyPair, certificate: Option<&[u8]>, cloud: &OwnKeys) -> Self {
        let certificates: Vec<&'static [u8]> =
            certificate.iter().map(|certificate| &*certificate.to_vec().leak()).collect();
        let accepts: &[_] = match certificate {
            Some(_) => &[CertificateType::X509],
            None => &[CertificateType::RawPublicKey],
        };
        let credentials = Box::leak(Box::new(Credentials {
            raw_public_key: certificate.is_none().then_some(pair.point),
            certificates: certificates.leak(),
            accepts,
            mutual: true,
            authorities: &[],
        }));
        Self {
            secret: *pair.secret,
            credentials,
            cloud: *cloud.public_key(),
            authority: cloud.authority().to_vec(),
        }
    }

    fn answer(&self, task: Task<'_>) -> sixlock_dtls::Answer {
        let day = UNIX_EPOCH.elapsed().unwrap().as_secs() / 86_400;
        let trusted = Trusted {
            raw_public_keys: &[self.cloud],
            certificates: Some(Trust {
                authorities: &[&self.authority],
                clock: Clock::At(Time::new(day as u32, 1)),
                purpose: Purpose::Client,
                name: Some(CLOUD_NAME.as_bytes()),
            }),
        };
        perform(&mut Soft, &mut System, &self.secret, &trusted, task)
    }
}

/// What it does with sessions that are over.
struct Sessions {
    /// By which it gives tickets, instead of ids.
    tickets: Option<TicketKeys>,
    resumed: Resumed,
}

/// What it answers who offers to resume one.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Resumed {
    /// It does, or makes another.
    Gladly,
    /// A fatal alert.
    Refused,
    Unanswered,
}

pub(crate) struct Device {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    hang_up: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    changes: Arc<AtomicU32>,
    thread: Option<JoinHandle<()>>,
}

impl Device {
    /// A device on a free port of loopback.
    pub(crate) fn start(transport: Transport) -> Self {
        Self::start_at(transport, LOOPBACK)
    }

    /// One with public keys besides.
    pub(crate) fn with_keys(keys: Keys) -> Self {
        Self::begin(Transport::Dtls, LOOPBACK, Some(keys))
    }

    pub(crate) fn start_at(transport: Transport, address: SocketAddr) -> Self {
        Self::begin(transport, address, None)
    }

    /// One that does so when a session is to be resumed.
    pub(crate) fn where_sessions_are(resumed: Resumed) -> Self {
        Self::begin_with(Transport::Dtls, LOOPBACK, None, Sessions { tickets: None, resumed })
    }

    /// One that gives tickets, by secrets that it has ever had: they are all that it knows of sessions from before its start.
    pub(crate) fn with_tickets(address: SocketAddr, keys: Option<Keys>) -> Self {
        let tickets = TicketKeys { current: [7; TICKET_KEY], previous: None };
        Self::begin_with(
            Transport::Dtls,
            address,
            keys,
            Sessions { tickets: Some(tickets), resumed: Resumed::Gladly },
        )
    }

    fn begin(transport: Transport, address: SocketAddr, keys: Option<Keys>) -> Self {
        Self::begin_with(transport, address, keys, Sessions { tickets: None, resumed: Resumed::Gladly })
    }

    fn begin_with(transport: Transport, address: SocketAddr, keys: Option<Keys>, sessions: Sessions) -> Self {
        let socket = UdpSocket::bind(address).unwrap();
        let address = socket.local_addr().unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (hang_up, stop) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let changes = Arc::new(AtomicU32::new(0));
        let thread = {
            let (seen, hang_up, stop, changes) =
                (seen.clone(), hang_up.clone(), stop.clone(), changes.clone());
            std::thread::spawn(move || {
                serve(&socket, transport, (keys.as_ref(), &sessions), &seen, (&hang_up, &stop, &changes));
            })
        };
        Self { address, seen, hang_up, stop, changes, thread: Some(thread) }
    }

    /// Closes its sessions, as a device does that sleeps.
    pub(crate) fn hang_up(&self) {
        self.hang_up.store(true, Ordering::Relaxed);
    }

    /// Lets what it measures change, and tells who observes it.
    pub(crate) fn change(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn url(&self, scheme: &str, path: &str) -> String {
        format!("{scheme}://{}/{path}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn count(&self, what: &Seen) -> usize {
        self.seen().iter().filter(|seen| *seen == what).count()
    }
}

impl Drop for Device {
    /// As when its power fails: nobody is told.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn serve(
    socket: &UdpSocket,
    transport: Transport,
    (keys, sessions): (Option<&Keys>, &Sessions),
    seen: &Mutex<Vec<Seen>>,
    (hang_up, stop, changes): (&AtomicBool, &AtomicBool, &AtomicU32),
) {
    let (started, mut rig) = (std::time::Instant::now(), Rig::new(Soft, System));
    let coap = ServerConfig { critical_options: KNOWN, ..ServerConfig::default() };
    let suites = Suites::new(&[Suite::PskAes128Ccm8, Suite::EcdheEcdsaAes128Ccm8]);
    // Whoever refuses its flight waits for it to come again, several times.
    let initial_timeout = sixlock_base::Duration::from_millis(200);
    let dtls = sixlock_dtls::Config { suites, initial_timeout, ..sixlock_dtls::Config::HOST };
    let credentials = keys.map(|keys| keys.credentials);
    let config = Config { max_plain: 16, coap, dtls, credentials, ..Config::default() };
    let mut endpoint: Option<Endpoint<Soft, SocketAddr, OnHeap<1152>, 4>> = None;
    let mut datagram = [0; 2048];
    let (mut value, mut resumptions, mut session) = (0, 0, None);
    let (mut observer, mut told) = (None, 0);
    // What a datagram asks is told after the events that it causes, of which one may be its session's beginning.
    let mut requests = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let cx = &mut rig.at(Instant::from_millis(started.elapsed().as_millis() as u32));
        let endpoint = endpoint.get_or_insert_with(|| {
            let mut endpoint = Endpoint::new(cx, config);
            if let Some(keys) = &sessions.tickets {
                endpoint.keep(&[8; FINGERPRINT_SECRET]);
                endpoint.give_tickets(cx, keys, UNIX_EPOCH.elapsed().unwrap().as_secs() as u32);
            }
            endpoint
        });
        if let Ok((length, from)) = socket.recv_from(&mut datagram) {
            // A hello that names a session, behind a record's and a message's header, the version and the random value.
            let is_offer = (datagram[0], datagram[13]) == (22, 1) && datagram[13 + 12 + 2 + 32] > 0;
            if is_offer && sessions.resumed != Resumed::Gladly {
                if sessions.resumed == Resumed::Refused {
                    let alert = [21, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 80];
                    socket.send_to(&alert, from).unwrap();
                }
                continue;
            }
            let mut rest = &mut datagram[..length];
            while !rest.is_empty() {
                let received = endpoint.handle(cx, transport, from, rest);
                rest = received.rest;
                let Some(request) = received.request else { continue };
                let options = |number| {
                    let values = request.message.values(number).map(|option| option.value.to_vec());
                    String::from_utf8(values.collect::<Vec<_>>().join(&b'/')).unwrap()
                };
                let path = options(OptionNumber::URI_PATH);
                let query = options(OptionNumber::URI_QUERY);
                assert_eq!((request.message.code(), request.message.payload()), (Code::GET, &[][..]));
                let asked = if query.is_empty() { path.clone() } else { format!("{path}?{query}") };
                let observes = request.message.value(OptionNumber::OBSERVE).is_some();
                assert!(!observes || path == "observed", "{path}");
                requests.push(if observes { Seen::Observed(asked) } else { Seen::Asked(asked) });
                if observes {
                    observer = Some((request.id.peer(), Token::of(&request.message)));
                }
                value += 1;
                let payload = format!(r#"[{{"n":"t","v":{value}}}]"#);
                let records: Vec<_> = (1..=LONG).map(|v| format!(r#"{{"n":"t","v":{v}}}"#)).collect();
                let long = format!("[{}]", records.join(","));
                let (code, format, payload) = match path.as_str() {
                    "missing" => (Code::NOT_FOUND, None, ""),
                    "text" => (Code::CONTENT, Some(ContentFormat::TEXT), "warm"),
                    "long" | "torn" => (Code::CONTENT, Some(ContentFormat::SENML_JSON), &*long),
                    _ => (Code::CONTENT, Some(ContentFormat::SENML_JSON), payload.as_str()),
                };
                // What is torn is another thing at every look.
                let states = [&[value as u8], &b"long"[..]];
                let etag = Some(states[usize::from(path == "long")]);
                let asked = Block::of(&request.message, OptionNumber::BLOCK2).flatten();
                let Part { block, bytes } = Part::of(payload.as_bytes(), asked, 4).unwrap();
                endpoint
                    .respond(
                        cx,
                        request.id,
                        Answer {
                            format,
                            etag,
                            observe: observes.then_some(value),
                            block2: block,
                            payload: bytes,
                            ..code.into()
                        },
                    )
                    .unwrap();
            }
        }
        endpoint.handle_timeout(cx);
        if let Some((peer, token)) = observer
            && told < changes.load(Ordering::Relaxed)
        {
            (value, told) = (value + 1, told + 1);
            let payload = format!(r#"[{{"n":"t","v":{value}}}]"#);
            let content = Answer::content(Code::CONTENT, ContentFormat::SENML_JSON, payload.as_bytes());
            // Nobody may be there any more.
            let _ = endpoint.notify(cx, peer, token, true, Answer { observe: Some(value), ..content });
        }
        if let Some(session) = session
            && hang_up.swap(false, Ordering::Relaxed)
        {
            endpoint.close(cx, session);
        }
        loop {
            let (mut work, mut done) = (None, None);
            while let Some(event) = endpoint.poll_event() {
                let told = match event {
                    Event::Task { session, task } => {
                        done = keys.map(|keys| (session, keys.answer(task)));
                        break;
                    }
                    Event::Elsewhere { .. } => unreachable!("without shards"),
                    Event::Work { session, identity, method } => {
                        work = Some((session, identity == IDENTITY.as_bytes(), method));
                        break;
                    }
                    Event::Connected { session: connected, .. } => {
                        session = Some(connected);
                        let before =
                            std::mem::replace(&mut resumptions, cx.counters.get(Counter::DtlsResumptions));
                        if resumptions > before { Seen::Resumed } else { Seen::Connected }
                    }
                    Event::Closed { .. } => Seen::Closed,
                    Event::Failed { .. } => Seen::Failed,
                    Event::Ended {
                        ended: Ended::Notification(Notified { outcome: Outcome::Acknowledged, .. }),
                        ..
                    } => Seen::Acknowledged,
                    Event::Ended { .. } | Event::Refused { .. } => continue,
                };
                seen.lock().unwrap().push(told);
            }
            if work.is_none() && done.is_none() {
                break;
            }
            if let Some((session, known, method)) = work {
                let key = if method == AuthenticationMethod::PreSharedKey { KEY } else { MARK };
                let _ = endpoint.provide_key(cx, session, known.then_some(key.as_bytes()));
            }
            if let Some((session, answer)) = done {
                if let sixlock_dtls::Answer::Peer(_) = answer {
                    endpoint.identify(
                        cx,
                        session,
                        (IDENTITY.as_bytes(), AuthenticationMethod::RawPublicKey),
                        MARK.as_bytes(),
                    );
                }
                let _ = endpoint.complete(cx, session, &answer);
            }
        }
        seen.lock().unwrap().append(&mut requests);
        let mut out = [0; 2048];
        while let Some(transmit) = endpoint.poll_transmit(cx, &mut out) {
            socket.send_to(&out[..transmit.len], transmit.to).unwrap();
        }
    }
}
