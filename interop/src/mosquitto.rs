use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};

use tempfile::TempDir;

use crate::{PATIENCE, Process};

/// A broker of MQTT: mosquitto, which keeps its sessions when it is stopped and started again.
pub struct Mosquitto {
    process: Option<Process>,
    directory: TempDir,
    address: SocketAddr,
}

/// An address of this machine that no other program comes upon while the broker is away.
fn own_address() -> SocketAddr {
    static USED: AtomicU8 = AtomicU8::new(0);
    let [.., a, b] = std::process::id().to_be_bytes();
    let address = Ipv4Addr::new(127, 128 + USED.fetch_add(1, Ordering::Relaxed) % 100, a, b);
    let listener = TcpListener::bind((address, 0)).expect("loopback has a free port");
    listener.local_addr().expect("it is bound")
}

impl Mosquitto {
    /// Starts one. `settings` makes the lines of its configuration besides, of a folder that its files may be in and the address where it
    /// listens: whether it asks for passwords, and the files of TLS.
    ///
    /// # Panics
    /// With what it has printed, if it does not start.
    pub fn start(settings: impl FnOnce(&std::path::Path, SocketAddr) -> String) -> Self {
        let directory = tempfile::tempdir().expect("there is room for a folder");
        let address = own_address();
        let (ip, port, folder) = (address.ip(), address.port(), directory.path());
        let settings = settings(folder, address);
        // As another user than root, it could not read what is only for us.
        let config = format!(
            "listener {port} {ip}\nuser root\nlog_dest stderr\nlog_type error\nlog_type warning\nlog_type notice\n\
             log_type information\npersistence true\npersistence_location {}/\nmax_queued_messages 0\n{settings}\n",
            folder.display()
        );
        std::fs::write(folder.join("mosquitto.conf"), config).expect("there is room for a file");
        let mut broker = Self { process: None, directory, address };
        broker.resume();
        broker
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The folder of its files.
    pub fn folder(&self) -> &std::path::Path {
        self.directory.path()
    }

    /// Stops it in order.
    ///
    /// # Panics
    /// If it does not end.
    pub fn stop(&mut self) {
        let mut process = self.process.take().expect("it runs");
        process.terminate();
        assert!(process.succeeds(PATIENCE), "mosquitto does not end: {}", process.output());
    }

    /// Starts it again, at the same address.
    ///
    /// # Panics
    /// With what it has printed, if it does not start.
    pub fn resume(&mut self) {
        let config = self.directory.path().join("mosquitto.conf");
        let arguments = ["-c", config.to_str().expect("the path is a text")];
        let mut process = Process::start("/usr/sbin/mosquitto", "mosquitto", &arguments);
        assert!(process.prints_one_of(&["running"], PATIENCE), "{}", process.output());
        self.process = Some(process);
    }

    /// Subscribes to all topics, with these arguments besides. It prints each message as its topic, a bar, 1 if it was retained, a bar and its
    /// payload; and goes on when the broker was away.
    ///
    /// # Panics
    /// With what it has printed, if it cannot subscribe.
    pub fn subscribe(&self, arguments: &[&str]) -> Process {
        let (host, port) = (self.address.ip().to_string(), self.address.port().to_string());
        let id = format!("subscriber-{port}");
        // What it says besides messages would wait for a full buffer.
        let mut all = vec!["-oL", "mosquitto_sub", "-h", &host, "-p", &port, "-i", &id, "-c", "-q", "1"];
        all.extend(["-t", "#", "-F", "message %t|%r|%p", "-d"]);
        all.extend(arguments);
        let mut process = Process::start("stdbuf", "coreutils mosquitto-clients", &all);
        assert!(process.prints_one_of(&["Subscribed"], PATIENCE), "{}", process.output());
        process
    }

    /// Makes the file of a user's password, and returns its path.
    ///
    /// # Panics
    /// If `mosquitto_passwd` does not.
    pub fn password_file(folder: &std::path::Path, user: &str, password: &str) -> String {
        let path = folder.join("passwords").to_str().expect("the path is a text").to_owned();
        let made = Command::new("mosquitto_passwd").args(["-b", "-c", &path, user, password]).status();
        let made = made.expect("mosquitto_passwd starts: apt-get install mosquitto");
        assert!(made.success(), "mosquitto_passwd fails");
        path
    }
}
