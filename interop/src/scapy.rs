//! Scapy as a process, which is asked by lines.

use crate::{PATIENCE, Process};

/// A program of `interop/scapy`, running.
pub struct Scapy {
    process: Process,
    asked: u32,
}

impl Scapy {
    /// Starts the program `name`.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start(name: &str) -> Self {
        let program = format!("{}/scapy/{name}", env!("CARGO_MANIFEST_DIR"));
        // It is no package of Debian's: ./test puts it in place.
        let process = Process::start("scapy-python3", "python3-venv, and run ./test", &["-u", &program]);
        assert!(process.line("ready", PATIENCE).is_some(), "{}", process.output());
        Self { process, asked: 0 }
    }

    /// What it answers to `request`.
    ///
    /// # Panics
    /// When it does not answer.
    pub fn ask(&mut self, request: &str) -> String {
        self.asked += 1;
        let name = format!("ask-{}", self.asked);
        self.process.write(&format!("{name} {request}\n"));
        let answer = self.process.line(&format!("{name} "), PATIENCE);
        answer.unwrap_or_else(|| panic!("no answer: {}", self.process.output()))
    }

    /// The packet of that name, as it writes it.
    ///
    /// # Panics
    /// When it does not.
    pub fn build(&mut self, name: &str) -> Vec<u8> {
        let answer = self.ask(&format!("build {name}"));
        from_hex(&answer).unwrap_or_else(|| panic!("{name}: {answer}"))
    }

    /// Checks that `packet` is the one of that name to it: it writes the same bytes, and reads the same fields in them. And that it
    /// sees when a bit of it is turned: what is the same is not the same by chance.
    ///
    /// # Panics
    /// When it is not.
    pub fn agrees(&mut self, name: &str, packet: &[u8]) {
        assert_eq!(to_hex(packet), to_hex(&self.build(name)), "{name}");
        assert_eq!(self.ask(&format!("read {name} {}", to_hex(packet))), "same");
        let answer = self.ask(&format!("read {name} {}", to_hex(&altered(packet))));
        assert!(answer.starts_with("refused"), "{name}: {answer}");
    }
}

/// The packet with its last bit turned.
pub fn altered(packet: &[u8]) -> Vec<u8> {
    let mut altered = packet.to_vec();
    if let Some(last) = altered.last_mut() {
        *last ^= 1;
    }
    altered
}

/// The bytes that hexadecimal digits stand for, two each; none if they are no such digits.
pub fn from_hex(hex: &str) -> Option<Vec<u8>> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect()
}

/// Two hexadecimal digits for each byte.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
