//! The OpenID provider of `interop/oidc-provider`, in JavaScript.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use crate::{PATIENCE, Process};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/oidc-provider");

/// A provider that runs.
pub struct OidcProvider {
    process: Process,
    /// Who it is, and where.
    pub issuer: String,
    /// How often it was told what it is to be.
    rounds: usize,
}

impl OidcProvider {
    /// Starts a provider with its libraries, which npm fetches into `folder` first.
    ///
    /// # Panics
    /// With the message of what did not work out.
    pub fn start(folder: &str) -> Self {
        let process = Process::start("node", "nodejs", &[&installed(folder)]);
        let issuer = process.line("issuer ", PATIENCE);
        let issuer = issuer.unwrap_or_else(|| panic!("it does not listen: {}", process.output()));
        Self { process, issuer, rounds: 0 }
    }

    /// Makes it another one, with new keys: with these settings, which are a line of JSON.
    ///
    /// # Panics
    /// With what it has printed, if it does not like them.
    pub fn becomes(&mut self, settings: &str) {
        self.process.write(&format!("{settings}\n"));
        self.rounds += 1;
        let is_ready = self.process.nth_line("ready", self.rounds, PATIENCE).is_some();
        assert!(is_ready, "{}", self.process.output());
    }
}

/// The program, beside its libraries.
fn installed(folder: &str) -> String {
    // Of several tests of a process, one fetches.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    let folder = format!("{folder}/oidc-provider");
    fs::create_dir_all(&folder).expect("there is room for a folder");
    let (locked, fetched) = (format!("{SOURCES}/package-lock.json"), format!("{folder}/fetched.json"));
    // Another run may have done it.
    if fs::read(&locked).ok() != fs::read(&fetched).ok() {
        for name in ["package.json", "package-lock.json", ".npmrc"] {
            copy(Path::new(SOURCES).join(name), Path::new(&folder).join(name));
        }
        let arguments = ["ci", "--no-audit", "--no-fund", "--prefix", &folder];
        let output = Command::new("npm")
            .args(arguments)
            .current_dir(&folder)
            .output()
            .unwrap_or_else(|error| panic!("cannot start npm ({error}): apt-get install npm"));
        let message = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&message));
        copy(locked, fetched);
    }
    let program = format!("{folder}/server.mjs");
    copy(format!("{SOURCES}/server.mjs"), &program);
    program
}

fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    fs::copy(from, to).expect("there is room for a file");
}
