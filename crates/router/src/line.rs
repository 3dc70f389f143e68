use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use nix::libc::{O_NOCTTY, O_NONBLOCK};
use nix::sys::termios::{
    BaudRate, ControlFlags, FlushArg, SetArg, cfmakeraw, cfsetspeed, tcflush, tcgetattr, tcsetattr,
};
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc::Receiver;

use crate::{Inbound, LineEvent};

/// How often a device that has gone is looked for.
const SOUGHT_EVERY: Duration = Duration::from_secs(1);
/// How long bytes wait in the system while nobody has room for them.
const NAP: Duration = Duration::from_millis(5);
/// How many bytes are read at once.
const CHUNK: usize = 1024;

/// The speeds that a line may have, in bits per second.
const SPEEDS: [(u32, BaudRate); 13] = [
    (9_600, BaudRate::B9600),
    (19_200, BaudRate::B19200),
    (38_400, BaudRate::B38400),
    (57_600, BaudRate::B57600),
    (115_200, BaudRate::B115200),
    (230_400, BaudRate::B230400),
    (460_800, BaudRate::B460800),
    (500_000, BaudRate::B500000),
    (576_000, BaudRate::B576000),
    (921_600, BaudRate::B921600),
    (1_000_000, BaudRate::B1000000),
    (1_500_000, BaudRate::B1500000),
    (2_000_000, BaudRate::B2000000),
];

/// The speed of a serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed(BaudRate);

impl Speed {
    /// That of `baud` bits per second, if a line may have it.
    pub fn new(baud: u32) -> Option<Self> {
        SPEEDS.iter().find(|(bits, _)| *bits == baud).map(|&(_, rate)| Self(rate))
    }

    /// Those that a line may have, in bits per second.
    pub fn all() -> impl Iterator<Item = u32> {
        SPEEDS.iter().map(|&(bits, _)| bits)
    }
}

/// Why a serial line cannot be opened.
#[derive(Debug)]
pub enum LineError {
    /// There is no such device.
    NoDevice(PathBuf),
    /// The user may not open it.
    NotPermitted(PathBuf),
    /// It is no serial line.
    NoLine(PathBuf),
    /// Another router has it open.
    Taken(PathBuf),
    /// The system does not open it.
    Open(PathBuf, io::Error),
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDevice(path) => write!(
                f,
                "there is no {}: plug the bridge in; ls /dev/serial/by-id lists what is plugged in",
                path.display()
            ),
            Self::NotPermitted(path) => write!(
                f,
                "you may not open {}: join its group (ls -l names it, often dialout; usermod -aG) and sign in again",
                path.display()
            ),
            Self::NoLine(path) => {
                write!(f, "{} is no serial line: name a device such as /dev/ttyUSB0", path.display())
            }
            Self::Taken(path) => {
                write!(f, "another sixlock router has {}: end it, or name another device", path.display())
            }
            Self::Open(path, _) => write!(f, "{} cannot be opened", path.display()),
        }
    }
}

impl std::error::Error for LineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Open(_, error) => Some(error),
            _ => None,
        }
    }
}

/// A serial line: bytes of eight bits, no parity, one stop bit, no flow control.
#[derive(Debug)]
pub struct Line {
    path: PathBuf,
    speed: Speed,
    device: AsyncFd<File>,
}

impl Line {
    /// Opens the device at `path`. What it has received before is dropped. To be called within a runtime.
    ///
    /// # Errors
    /// When it is not there, or is no line, or may not be opened.
    pub fn open(path: PathBuf, speed: Speed) -> Result<Self, LineError> {
        let failed = |error| LineError::Open(path.clone(), error);
        let opened =
            OpenOptions::new().read(true).write(true).custom_flags(O_NOCTTY | O_NONBLOCK).open(&path);
        let file = opened.map_err(|error| match error.kind() {
            ErrorKind::NotFound => LineError::NoDevice(path.clone()),
            ErrorKind::PermissionDenied => LineError::NotPermitted(path.clone()),
            _ => failed(error),
        })?;
        let mut settings = tcgetattr(&file).map_err(|_| LineError::NoLine(path.clone()))?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => LineError::Taken(path.clone()),
            TryLockError::Error(error) => failed(error),
        })?;
        cfmakeraw(&mut settings);
        settings.control_flags |= ControlFlags::CLOCAL | ControlFlags::CREAD;
        settings.control_flags &= !(ControlFlags::CSTOPB | ControlFlags::CRTSCTS);
        let set = cfsetspeed(&mut settings, speed.0)
            .and_then(|()| tcsetattr(&file, SetArg::TCSANOW, &settings))
            .and_then(|()| tcflush(&file, FlushArg::TCIFLUSH));
        set.map_err(|error| failed(error.into()))?;
        #[expect(deprecated, reason = "a File keeps its descriptor, and what is to take its place is unsafe")]
        let device = AsyncFd::new(file).map_err(failed)?;
        Ok(Self { path, speed, device })
    }

    /// Hands in what comes over the line, and puts on it what comes from `outbound`, until either's other end is closed. What is to be sent
    /// while the line is gone is lost.
    pub async fn run(self, mut outbound: Receiver<Vec<u8>>, inbound: SyncSender<Inbound>) {
        let Self { path, speed, mut device } = self;
        loop {
            let Some(error) = carry(&device, &mut outbound, &inbound).await else { return };
            drop(device);
            let lost = LineEvent::Lost(format!("{}: {error}", path.display()));
            if !hand_in(&inbound, lost).await {
                return;
            }
            device = loop {
                tokio::select! {
                    () = tokio::time::sleep(SOUGHT_EVERY) => {
                        if let Ok(line) = Self::open(path.clone(), speed) {
                            break line.device;
                        }
                    }
                    lost = outbound.recv() => {
                        if lost.is_none() {
                            return;
                        }
                    }
                }
            };
            if !hand_in(&inbound, LineEvent::Found).await {
                return;
            }
        }
    }
}

/// Carries bytes both ways until the device fails, and why it does; `None` if another end was closed.
async fn carry(
    device: &AsyncFd<File>,
    outbound: &mut Receiver<Vec<u8>>,
    inbound: &SyncSender<Inbound>,
) -> Option<io::Error> {
    let mut buffer = [0; CHUNK];
    let mut pending = Vec::new();
    loop {
        tokio::select! {
            bytes = outbound.recv(), if pending.is_empty() => pending = bytes?,
            ready = device.readable() => {
                let read = ready.map(|mut ready| ready.try_io(|device| device.get_ref().read(&mut buffer)));
                match read {
                    Ok(Ok(Ok(0))) => return Some(ErrorKind::UnexpectedEof.into()),
                    Ok(Ok(Ok(len))) => {
                        if !hand_in(inbound, LineEvent::Bytes(buffer[..len].to_vec())).await {
                            return None;
                        }
                    }
                    Ok(Ok(Err(error))) if error.kind() == ErrorKind::Interrupted => {}
                    Ok(Ok(Err(error))) | Err(error) => return Some(error),
                    // It was not ready.
                    Ok(Err(_)) => {}
                }
            }
            ready = device.writable(), if !pending.is_empty() => {
                let written = ready.map(|mut ready| ready.try_io(|device| device.get_ref().write(&pending)));
                match written {
                    Ok(Ok(Ok(len))) => drop(pending.drain(..len)),
                    Ok(Ok(Err(error))) if error.kind() == ErrorKind::Interrupted => {}
                    Ok(Ok(Err(error))) | Err(error) => return Some(error),
                    Ok(Err(_)) => {}
                }
            }
        }
    }
}

/// Waits until there is room, and hands in the event; false if nobody takes it any more.
async fn hand_in(inbound: &SyncSender<Inbound>, event: LineEvent) -> bool {
    let mut event = Inbound::Line(event);
    loop {
        match inbound.try_send(event) {
            Ok(()) => return true,
            Err(TrySendError::Disconnected(_)) => return false,
            Err(TrySendError::Full(waiting)) => event = waiting,
        }
        tokio::time::sleep(NAP).await;
    }
}
