//! The servers that are measured: the cloud, and those of others beside it.

use std::io::{self, BufRead, BufReader, Lines, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use sixlock_cloud::public_keys::{KeyPair, pem};
use sixlock_cloud::{ADMINISTRATOR, AwsLc, Fast};
use sixlock_coap_msg::Code;
use sixlock_dtls::{CertificateType, Credentials};
use sixlock_interop::{Keys, two_free_ports};
use sixlock_x509::Certificate;

use crate::cloud::{LABEL, enrol_telling, import, open_sessions};
use crate::process::{on, resident_bytes};
use crate::{Authentication, Cloud, Credential, Program, Target};

/// The key of all devices at servers that know one.
const COMMON_KEY: &str = "0123456789abcdef";
/// Devices with public keys.
const PUBLIC_KEYS: usize = 64;

/// How requests are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    Plain,
    PreSharedKey,
    RawPublicKey,
    Certificate,
}

impl Protection {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "nothing",
            Self::PreSharedKey => "a pre-shared key",
            Self::RawPublicKey => "raw public keys",
            Self::Certificate => "certificates",
        }
    }
}

/// What is asked of a server by devices that have the same protection.
pub(crate) struct Offer {
    pub(crate) protection: Protection,
    /// Something that it has in memory.
    pub(crate) get: Target,
    /// Readings.
    pub(crate) post: Target,
    pub(crate) authentications: Vec<Authentication>,
}

/// A server that runs; it is killed when dropped.
pub(crate) struct Server {
    pub(crate) name: &'static str,
    /// Whether a reading is in a database, for good, before it is acknowledged.
    pub(crate) durable: bool,
    pub(crate) offers: Vec<Offer>,
    /// How many cores it has.
    pub(crate) cores: usize,
    process: Process,
}

enum Process {
    Cloud(Cloud),
    Other(Killed),
    /// It says itself what it uses of the memory that its virtual machine has.
    Java(Killed, ChildStdin, Lines<BufReader<ChildStdout>>),
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    pub(crate) fn id(&self) -> u32 {
        match &self.process {
            Process::Cloud(cloud) => cloud.id(),
            Process::Other(child) | Process::Java(child, ..) => child.0.id(),
        }
    }

    /// Whether it is the cloud.
    pub(crate) const fn is_ours(&self) -> bool {
        matches!(self.process, Process::Cloud(_))
    }

    /// How many DTLS sessions it says are open, if it is the cloud.
    pub(crate) fn open_sessions(&self) -> io::Result<Option<usize>> {
        match &self.process {
            Process::Cloud(cloud) => open_sessions(cloud.http).map(Some),
            Process::Other(_) | Process::Java(..) => Ok(None),
        }
    }

    /// The memory that it uses, in bytes: what is resident, or of Java's heap what is reachable.
    pub(crate) fn memory(&mut self) -> io::Result<u64> {
        let Process::Java(_, input, lines) = &mut self.process else { return resident_bytes(self.id()) };
        writeln!(input)?;
        let line = lines.next().ok_or(io::ErrorKind::BrokenPipe)??;
        let bytes = line.strip_prefix("memory ").and_then(|bytes| bytes.parse().ok());
        bytes.ok_or_else(|| io::Error::other(format!("this is not how much memory: {line}")))
    }
}

/// The name of the cloud among them.
pub(crate) const CLOUD: &str = "sixlock cloud";
/// Sessions that there may be beside those that stay open,
const ROOM: usize = 4_000;
/// and the most that the cloud takes. Those that nobody used for long then give way.
const MOST: usize = 1_000_000;
/// The most devices that are enrolled: a user has no more than twice as many.
const DEVICES: usize = 10_000;

/// The cloud with room for `sessions` sessions, of as many devices or [`DEVICES`], which so many shards serve, and with its data in `data`.
pub(crate) fn cloud(program: &Program, data: &Path, sessions: usize, shards: usize) -> io::Result<Server> {
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let room = (sessions + ROOM).min(MOST);
    let (limit, threads, plain) = (room.to_string(), shards.to_string(), loopback.to_string());
    let options = ["--max-sessions", &limit, "--shards", &threads, "--coap", &plain];
    let cloud = Cloud::start(program, data, loopback, &options)?;
    let (shared, enrolled) = enrol_telling(cloud.http, data, sessions.min(DEVICES))?;
    let in_queries = enrolled.iter().zip(&shared).map(|(device, Credential { key, .. })| {
        Authentication::Query(vec![
            format!("id={}", device["id"]),
            format!("key={}", String::from_utf8_lossy(key)),
        ])
    });
    let offer = |protection, address, authentications| Offer {
        protection,
        // One link, which whoever asks is told.
        get: Target { address, method: Code::GET, path: &[".well-known", "core"], query: &["href=/users"] },
        post: Target::cloud(address),
        authentications,
    };
    let plain = cloud.coap.ok_or_else(|| io::Error::other("the cloud does not speak plain CoAP"))?;
    let offers = vec![
        offer(Protection::Plain, plain, in_queries.collect()),
        offer(Protection::PreSharedKey, cloud.coaps, shared.iter().map(Authentication::from).collect()),
        offer(
            Protection::RawPublicKey,
            cloud.coaps,
            with_public_keys(&cloud, data, Protection::RawPublicKey)?,
        ),
        offer(Protection::Certificate, cloud.coaps, with_public_keys(&cloud, data, Protection::Certificate)?),
    ];
    Ok(Server { name: CLOUD, durable: true, offers, cores: shards, process: Process::Cloud(cloud) })
}

/// Enrols devices with public keys.
fn with_public_keys(cloud: &Cloud, data: &Path, protection: Protection) -> io::Result<Vec<Authentication>> {
    let raw = protection == Protection::RawPublicKey;
    let mode = if raw { "dtls-rpk" } else { "dtls-x509" };
    let random = |_| KeyPair::random().map_err(io::Error::other);
    let pairs: Vec<KeyPair> = (0..PUBLIC_KEYS).map(random).collect::<io::Result<_>>()?;
    let device = |(n, pair): (usize, &KeyPair)| json!({ "label": format!("{mode}-{n}"), "mode": mode, "key": pem::public_key(&pair.point) });
    let devices: Vec<Value> = pairs.iter().enumerate().map(device).collect();
    let enrolled = import(cloud.http, data, ADMINISTRATOR, &devices)?;
    let certificate = |text: &str| pem::read(text).certificates.into_iter().next();
    let of = |file| Ok::<_, io::Error>(certificate(&std::fs::read_to_string(data.join(file))?));
    let missing = || io::Error::other("a certificate is missing");
    let (authority, own) = (of("authority.pem")?, of("cloud.pem")?.ok_or_else(missing)?);
    let server = *Certificate::parse(&own).map_err(|_| missing())?.public_key();
    let authority: &'static [u8] = authority.ok_or_else(missing)?.leak();
    let authentication = |(pair, enrolled): (&KeyPair, &Value)| {
        // What handshakes show is there for as long as the program runs.
        let certificates = enrolled["certificate"].as_str().and_then(certificate).map(|der| &*der.leak());
        let credentials = Credentials {
            raw_public_key: raw.then_some(pair.point),
            certificates: certificates.into_iter().collect::<Vec<_>>().leak(),
            accepts: if raw { &[CertificateType::RawPublicKey] } else { &[CertificateType::X509] },
            mutual: true,
            authorities: &[],
        };
        let keys = Keys {
            credentials: Box::leak(Box::new(credentials)),
            secret: *pair.secret,
            raw_public_keys: vec![server],
            authorities: vec![authority],
        };
        Authentication::PublicKey(keys, Fast { p256: AwsLc::prepared(&pair.secret), ..Fast::default() })
    };
    Ok(pairs.iter().zip(&enrolled).map(authentication).collect())
}

fn common(sessions: usize) -> Vec<Authentication> {
    let credential = |n| Credential { identity: format!("{LABEL}{n}"), key: COMMON_KEY.into() };
    (0..sessions).map(|n| Authentication::PreSharedKey(credential(n))).collect()
}

/// Libcoap's example server, which keeps what is put to one of its resources in memory: by pre-shared keys, or as it
/// takes one kind of credentials at a time, with the cloud's certificate, of which `beside` knows the devices.
pub(crate) fn libcoap(
    core: Option<usize>,
    sessions: usize,
    beside: Option<(&Path, &[Authentication])>,
) -> io::Result<Server> {
    let port = two_free_ports()?;
    let mut command = on(core.map(|core| core..=core), "coap-server-openssl");
    command.args(["-A", "127.0.0.1", "-p", &port.to_string(), "-v", "0"]);
    match beside {
        None => command.args(["-k", COMMON_KEY, "-h", "load"]),
        Some((data, _)) => {
            let (own, authority) = (data.join("cloud.pem"), data.join("authority.pem"));
            command.arg("-c").arg(&own).arg("-j").arg(own).arg("-C").arg(authority)
        }
    };
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let offer = |protection, port, authentications| {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let target = |method| Target { address, method, path: &["example_data"], query: &[] };
        Offer { protection, get: target(Code::GET), post: target(Code::PUT), authentications }
    };
    let offers = match beside {
        None => vec![
            offer(Protection::Plain, port, vec![Authentication::Query(Vec::new()); sessions]),
            offer(Protection::PreSharedKey, port + 1, common(sessions)),
        ],
        Some((_, authentications)) => {
            vec![offer(Protection::Certificate, port + 1, authentications.to_vec())]
        }
    };
    Ok(Server { name: "libcoap", durable: false, offers, cores: 1, process: Process::Other(Killed(child)) })
}

/// A server of Californium's, from the folder that holds its program and its libraries, with the cloud's certificate, whose
/// devices with public keys are `known`.
pub(crate) fn californium(
    core: Option<usize>,
    folder: &Path,
    sessions: usize,
    data: &Path,
    known: [&[Authentication]; 2],
) -> io::Result<Server> {
    let mut command = on(core.map(|core| core..=core), "java");
    command.arg("-cp").arg(folder.join("*")).arg(folder.join("Server.java"));
    command
        .args([&(sessions + ROOM).to_string(), COMMON_KEY])
        .arg(data.join("cloud.pem"))
        .arg(data.join("authority.pem"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let child = Killed(child);
    let (input, output) = input.zip(output).ok_or(io::ErrorKind::BrokenPipe)?;
    let mut lines = BufReader::new(output).lines();
    let line = lines.next().ok_or_else(|| io::Error::other("Californium's server does not start"))??;
    let field = |name: &str| -> io::Result<SocketAddr> {
        let word = line.split_whitespace().find_map(|word| word.strip_prefix(name));
        let address = word.and_then(|address| address.parse().ok());
        address.ok_or_else(|| io::Error::other(format!("an address is missing: {line}")))
    };
    let (plain, secure) = (field("coap=")?, field("coaps=")?);
    let offer = |protection, address, authentications| {
        let target = |method| Target { address, method, path: &["load"], query: &[] };
        Offer { protection, get: target(Code::GET), post: target(Code::POST), authentications }
    };
    let [raw, certified] = known;
    let offers = vec![
        offer(Protection::Plain, plain, vec![Authentication::Query(Vec::new()); sessions]),
        offer(Protection::PreSharedKey, secure, common(sessions)),
        offer(Protection::RawPublicKey, secure, raw.to_vec()),
        offer(Protection::Certificate, secure, certified.to_vec()),
    ];
    let process = Process::Java(child, input, lines);
    Ok(Server { name: "Californium", durable: false, offers, cores: 1, process })
}

/// A program that only answers, by this program's `echo`, with a thread for each of these cores.
pub(crate) fn echo(cores: RangeInclusive<usize>, sessions: usize) -> io::Result<Server> {
    let mut command = on(Some(cores.clone()), std::env::current_exe()?);
    let cores = cores.count();
    let mut child =
        command.args(["echo", &cores.to_string()]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let (process, mut line) = (Process::Other(Killed(child)), String::new());
    BufReader::new(output).read_line(&mut line)?;
    let address = line.trim().strip_prefix("ready coap=").and_then(|address| address.parse().ok());
    let address = address.ok_or_else(|| io::Error::other("the echo does not start"))?;
    let get = Target { address, method: Code::GET, path: &[".well-known", "core"], query: &["href=/users"] };
    let authentications = vec![Authentication::Query(Vec::new()); sessions];
    let offers = vec![Offer { protection: Protection::Plain, get, post: get, authentications }];
    Ok(Server { name: "echo", durable: false, offers, cores, process })
}
