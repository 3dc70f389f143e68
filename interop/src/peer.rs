//! Other implementations of DTLS that are libraries: a program of `interop/` is linked with each. All of them do the same by
//! the same arguments: they send each line that they read and print what they receive; a client begins a session when it has
//! a line to send.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use sixlock_dtls::Suite;

use crate::secure::Endpoint;
use crate::{Authority, Credential, PATIENCE, Process, SecureSocket};

/// What a peer is to be.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// What it proves and whom it takes.
    pub authentication: Authentication<'a>,
    /// The suites that it knows, the most wanted first.
    pub suites: &'a [Suite],
    /// The length of the connection ids that it gives, if it is to know of them.
    pub connection_id: Option<usize>,
    /// Its server, if it is a client.
    pub server: Option<SocketAddr>,
}

/// What a peer proves who it is by, and whom it takes.
#[derive(Clone, Copy, Debug)]
pub enum Authentication<'a> {
    /// A key that both have.
    Shared(&'a Credential),
    /// The certificate of this name; it takes those of the same authority.
    Certificate(&'a Authority, &'a str),
    /// The public key of the first name; it takes that of the second.
    Raw(&'a Authority, &'a str, &'a str),
}

impl Settings<'_> {
    /// The arguments of the program.
    pub fn arguments(&self) -> Vec<String> {
        let names: Vec<&str> = self.suites.iter().copied().map(registered_name).collect();
        let mut arguments = vec![format!("suites={}", names.join(":"))];
        match self.authentication {
            Authentication::Shared(Credential { identity, key }) => {
                let [identity, key] = [identity, key].map(|bytes| String::from_utf8_lossy(bytes));
                arguments.extend([format!("identity={identity}"), format!("key={key}")]);
            }
            Authentication::Certificate(authority, own) => {
                let path = |file: &str| authority.path(file);
                let (own, secret) = (path(&format!("{own}.pem")), path(&format!("{own}.key")));
                let trusted = path("authority.pem");
                arguments.extend([
                    format!("own={own}"),
                    format!("secret={secret}"),
                    format!("trusted={trusted}"),
                ]);
            }
            Authentication::Raw(authority, own, peer) => {
                let path = |file: String| authority.path(&file);
                let (public, secret) = (path(format!("{own}.pub")), path(format!("{own}.key")));
                let known = path(format!("{peer}.pub"));
                arguments.extend([
                    format!("public={public}"),
                    format!("secret={secret}"),
                    format!("known={known}"),
                ]);
            }
        }
        arguments.extend(self.connection_id.map(|length| format!("id={length}")));
        arguments.extend(self.server.map(|server| format!("server={}", server.port())));
        arguments
    }
}

/// The name of a suite in the registry of TLS.
fn registered_name(suite: Suite) -> &'static str {
    match suite {
        Suite::PskAes128Ccm8 => "TLS_PSK_WITH_AES_128_CCM_8",
        Suite::PskAes128Ccm => "TLS_PSK_WITH_AES_128_CCM",
        Suite::PskAes128Gcm => "TLS_PSK_WITH_AES_128_GCM_SHA256",
        Suite::EcdheEcdsaAes128Ccm8 => "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
        Suite::EcdheEcdsaAes128Ccm => "TLS_ECDHE_ECDSA_WITH_AES_128_CCM",
        Suite::EcdheEcdsaAes128Gcm => "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        Suite::EcdhePskAes128Ccm8 => "TLS_ECDHE_PSK_WITH_AES_128_CCM_8_SHA256",
        Suite::EcdhePskAes128Ccm => "TLS_ECDHE_PSK_WITH_AES_128_CCM_SHA256",
        Suite::EcdhePskAes128Gcm => "TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256",
    }
}

/// Such a program, running.
pub struct Peer {
    process: Process,
    address: SocketAddr,
}

impl Peer {
    /// One that has been started.
    ///
    /// # Panics
    /// When it does not tell its port.
    pub fn new(process: Process) -> Self {
        let Some(port) = process.line("port ", PATIENCE) else { panic!("{}", process.output()) };
        let address = SocketAddr::from(([127, 0, 0, 1], port.parse().expect("a port is a number")));
        Self { process, address }
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has printed so far.
    pub fn output(&self) -> String {
        self.process.output()
    }

    /// Has it read a line.
    pub fn write(&mut self, line: &str) {
        self.process.write(&format!("{line}\n"));
    }

    /// Waits until it has printed `text`.
    ///
    /// # Panics
    /// When it does not.
    pub fn prints(&self, text: &str) {
        assert!(self.process.prints(text, PATIENCE), "no {text:?}: {}", self.output());
    }

    /// Our side says something, and the peer answers.
    ///
    /// # Panics
    /// When either does not arrive.
    pub fn answers<R: Endpoint>(&mut self, ours: &mut SecureSocket<R>, text: &str) {
        ours.send(text.as_bytes());
        self.prints(&format!("received {text} from port {}\n", ours.address().port()));
        self.write(&format!("answer to {text}"));
        let answer = ours.receive(PATIENCE).unwrap_or_default();
        assert_eq!(String::from_utf8_lossy(&answer), format!("answer to {text}"), "{}", self.output());
    }

    /// The peer says something, for which a client begins a session, and our side answers.
    ///
    /// # Panics
    /// When either does not arrive.
    pub fn asks<R: Endpoint>(&mut self, ours: &mut SecureSocket<R>, text: &str) {
        self.write(text);
        let asked = ours.receive(PATIENCE).unwrap_or_default();
        let seen = ours.seen();
        assert_eq!(String::from_utf8_lossy(&asked), text, "{seen:?} {}", self.output());
        ours.send(format!("answer to {text}").as_bytes());
        self.prints(&format!("received answer to {text} "));
    }
}

/// A library in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Mbed TLS.
    MbedTls,
    /// wolfSSL.
    WolfSsl,
}

impl Library {
    const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/c");

    /// The program's name, Debian's package of the library, and what it is linked with.
    const fn parts(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Self::MbedTls => ("mbedtls", "libmbedtls-dev", &["-lmbedtls", "-lmbedx509", "-lmbedcrypto"]),
            Self::WolfSsl => ("wolfssl", "libwolfssl-dev", &["-lwolfssl"]),
        }
    }

    /// Starts its program, which is built in `folder` first.
    ///
    /// # Panics
    /// With the compiler's message, if the library is not there.
    pub fn start(self, folder: &str, settings: &Settings<'_>) -> Peer {
        let (_, package, _) = self.parts();
        let program = self.program(folder);
        let arguments = settings.arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Peer::new(Process::start(&program.display().to_string(), package, &arguments))
    }

    /// The program, which is built once.
    fn program(self, folder: &str) -> PathBuf {
        static BUILT: [OnceLock<()>; 2] = [const { OnceLock::new() }; 2];
        let (name, package, libraries) = self.parts();
        let program = Path::new(folder).join(format!("peer-{name}"));
        BUILT[self as usize].get_or_init(|| {
            let sources = ["main.c", &format!("{name}.c")].map(|file| format!("{}/{file}", Self::SOURCES));
            // Another test may run the program that it replaces.
            let made = program.with_extension(std::process::id().to_string());
            let output = Command::new("cc")
                .args(["-O1", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-o"])
                .arg(&made)
                .args(sources)
                .args(libraries)
                .output()
                .unwrap_or_else(|error| panic!("cannot start cc ({error}): apt-get install gcc"));
            let message = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "apt-get install {package}\n{message}");
            fs::rename(&made, &program).unwrap();
        });
        program
    }
}
