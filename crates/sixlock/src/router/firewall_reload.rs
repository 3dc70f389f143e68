//! The file of a firewall read anew while the router runs: when its process gets SIGHUP.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::firewall_file::Firewall;

/// What is to say from now on which flows pass.
pub(super) struct Reload {
    pub(super) firewall: Firewall,
    /// Where it is said that it does.
    pub(super) answer: Sender<()>,
}

/// Reads the file of a running firewall anew.
pub(super) struct Reloader {
    file: PathBuf,
    to_router: Sender<Reload>,
    hangup: Signal,
}

impl Reloader {
    /// That of the firewall in `file`, if there is one. From now on SIGHUP does not end the process.
    pub(super) fn new(file: Option<PathBuf>, to_router: Sender<Reload>) -> io::Result<Option<Self>> {
        let Some(file) = file else { return Ok(None) };
        Ok(Some(Self { file, to_router, hangup: signal(SignalKind::hangup())? }))
    }

    /// How many rules there are now.
    fn reload(&self) -> Result<usize, Box<dyn Error>> {
        let firewall = Firewall::read(&self.file)?;
        let rules = firewall.rules.len();
        let (answer, answered) = channel();
        self.to_router.send(Reload { firewall, answer })?;
        answered.recv()?;
        Ok(rules)
    }
}

/// Reads the firewall's file anew as often as the process gets SIGHUP, and says how many rules there are since, or why they stay as they were.
pub(super) async fn follow(reloader: Option<Reloader>) {
    let Some(mut reloader) = reloader else { return std::future::pending().await };
    while reloader.hangup.recv().await.is_some() {
        match reloader.reload() {
            Ok(rules) => to_stdout!("{} read anew, rules: {rules}", reloader.file.display()),
            Err(error) => to_stderr!("{error}: the firewall stays as it was"),
        }
    }
}
