//! A Linux kernel of its own for a test, in a virtual machine: one whose power can be cut, and one that has what the
//! kernel of this machine may lack.
//!
//! QEMU emulates all of it: nothing needs root, and nothing is installed but QEMU. [`Linux`] is Debian's kernel as
//! `scripts/linux.sh` fetches it, [`Initramfs`] is what the kernel finds when it starts, [`Machine`] runs both, and a
//! [`Disk`] keeps what the machine has made sure of when the power is cut, and no more than a disk does.

mod cable;
mod disk;
mod initramfs;
mod linux;
mod machine;

pub use cable::Cable;
pub use disk::{Disk, Powered};
pub use initramfs::Initramfs;
pub use linux::Linux;
pub use machine::{Hardware, Machine, Network, unclaimed_port};

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Runs `command`, which the Debian package `package` installs, and gives what it prints.
fn run(command: &mut Command, package: &str) -> io::Result<Vec<u8>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| io::Error::other(format!("{program} ({error}): apt-get install {package}")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{program}: {}, {said}", output.status)))
}

/// A file that is removed when this is dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(format!("sixlock-vm-{process}-{count}")))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It may never have been made.
        let _ = fs::remove_file(&self.0);
    }
}
