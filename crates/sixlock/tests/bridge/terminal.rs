//! A pseudo-terminal.

use std::fs::{File, remove_file};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread::JoinHandle;

use nix::fcntl::OFlag;
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use sixlock_router::{Inbound, LineEvent};

/// A pseudo-terminal whose name is a link to it, so that another can take its place.
pub(crate) struct Terminal {
    master: File,
    /// Held open, so that it lasts while nobody else has it.
    slave: File,
    link: PathBuf,
    ends: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    pub(crate) fn new(link: &Path) -> Self {
        // A program that a test starts would keep the line open, if it had the master's end, too.
        let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname_r(&master).unwrap();
        let no_control = OFlag::O_NOCTTY.bits();
        let slave = File::options().read(true).write(true).custom_flags(no_control).open(&name).unwrap();
        symlink(name, link).unwrap();
        let master = OwnedFd::from(master).into();
        Self { master, slave, link: link.into(), ends: Arc::default(), reader: None }
    }

    /// Puts bytes on the line.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.master.write_all(bytes).unwrap();
    }

    /// Hands in what comes over the line.
    pub(crate) fn read(&mut self, inbound: SyncSender<Inbound>) {
        let mut master = self.master.try_clone().unwrap();
        let ends = self.ends.clone();
        self.reader = Some(std::thread::spawn(move || {
            let mut buffer = [0; 1024];
            while let Ok(len @ 1..) = master.read(&mut buffer) {
                let bytes = Inbound::Line(LineEvent::Bytes(buffer[..len].to_vec()));
                if ends.load(Ordering::Relaxed) || inbound.send(bytes).is_err() {
                    return;
                }
            }
        }));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = remove_file(&self.link);
        // Its reader wakes up, so that nobody has the master's end open.
        self.ends.store(true, Ordering::Relaxed);
        let _ = self.slave.write_all(b"end");
        let _ = self.reader.take().map(JoinHandle::join);
    }
}
