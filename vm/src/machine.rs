//! The machine itself: QEMU, and what it prints.

use std::io::{self, BufRead, BufReader};
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Cable, Linux, Powered};

/// A UDP port that no program has, nor is given one that asks for any port: so that it stays free while a machine to which
/// it leads is switched off.
///
/// # Errors
/// When loopback has no such port.
pub fn unclaimed_port() -> io::Result<u16> {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let first_given = range.split_whitespace().next().and_then(|port| port.parse().ok()).unwrap_or(32_768);
    // Programs that look for one at the same time begin at different places.
    let begin = 1_024 + (std::process::id() % 20_000) as u16;
    (begin..first_given)
        .chain(1_024..begin)
        .find(|&port| UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).is_ok())
        .ok_or_else(|| io::Error::other("no UDP port is free"))
}

/// What a machine has, besides a processor.
pub struct Hardware<'a> {
    /// Its memory in mebibytes.
    pub memory: u32,
    /// Its disk, `/dev/vda` (module `virtio_blk`).
    pub disk: Option<&'a Powered>,
    /// Where its interface `eth0` (module `virtio_net`) leads.
    pub network: Network<'a>,
    /// Where its interface `eth1` leads, if it has one.
    pub air: Option<&'a Cable>,
}

/// Where a machine's interface leads.
pub enum Network<'a> {
    /// To this machine's loopback, of which one UDP port leads to a port of the virtual machine. That should give
    /// itself the address 10.0.2.15/24.
    Forward {
        /// The port of this machine.
        here: u16,
        /// The port of the virtual one.
        there: u16,
    },
    /// To whoever has the other end.
    Cable(&'a Cable),
}

/// A virtual machine that runs; its power is cut when it is dropped.
pub struct Machine {
    process: Child,
    console: Receiver<String>,
    said: String,
}

impl Machine {
    /// Starts `linux` with the initial files in `initramfs`.
    ///
    /// # Errors
    /// When QEMU does not start.
    pub fn start(linux: &Linux, initramfs: &Path, hardware: &Hardware<'_>) -> io::Result<Self> {
        let mut command = Command::new("qemu-system-x86_64");
        // Emulation everywhere: it behaves the same on every machine, and where virtual machines run in virtual
        // machines, /dev/kvm may be there and not work.
        command.args(["-machine", "pc,accel=tcg,usb=off,vmport=off", "-cpu", "max", "-m"]);
        command.arg(hardware.memory.to_string());
        command.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]);
        command.arg("-kernel").arg(linux.kernel()).arg("-initrd").arg(initramfs);
        command.args(["-append", "console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check"]);
        command.args(["-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"]);
        command.args(["-device", "virtio-rng-pci"]);
        if let Some(disk) = hardware.disk {
            let node = format!("nbd,node-name=disk,server.type=unix,server.path={}", disk.socket().display());
            command.args(["-blockdev", &node, "-device", "virtio-blk-pci,drive=disk,write-cache=on"]);
        }
        let network = match hardware.network {
            Network::Forward { here, there } => {
                format!("user,hostfwd=udp:127.0.0.1:{here}-10.0.2.15:{there}")
            }
            Network::Cable(cable) => cable.plugged_in(),
        };
        command.args(["-netdev", &format!("{network},id=network")]);
        command.args(["-device", "virtio-net-pci,netdev=network,mac=02:00:00:00:00:02,romfile="]);
        if let Some(air) = hardware.air {
            command.args(["-netdev", &format!("{},id=air", air.plugged_in())]);
            command.args(["-device", "virtio-net-pci,netdev=air,mac=02:00:00:00:00:02,romfile="]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| {
            io::Error::other(format!("qemu-system-x86_64 ({error}): apt-get install qemu-system-x86"))
        })?;
        let output = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let (lines, console) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                if lines.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { process, console, said: String::new() })
    }

    /// Waits until it prints a line that begins with `start`, and gives that line.
    ///
    /// # Errors
    /// When it does not within `limit`, with all that it has printed.
    pub fn await_line(&mut self, start: &str, limit: Duration) -> io::Result<String> {
        let end = Instant::now() + limit;
        loop {
            match self.console.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) if line.starts_with(start) => return Ok(line),
                Ok(line) => {
                    self.said += &line;
                    self.said += "\n";
                }
                Err(error) => {
                    let what = match error {
                        RecvTimeoutError::Timeout => "does not say",
                        RecvTimeoutError::Disconnected => "ended before it said",
                    };
                    let said = &self.said;
                    return Err(io::Error::other(format!("the machine {what} '{start}'. It said:\n{said}")));
                }
            }
        }
    }

    /// Cuts its power: nothing of it runs any more, and what stood in its memory is lost.
    ///
    /// # Errors
    /// When QEMU cannot be killed.
    pub fn cut_power(mut self) -> io::Result<()> {
        self.process.kill()?;
        self.process.wait().map(drop)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
