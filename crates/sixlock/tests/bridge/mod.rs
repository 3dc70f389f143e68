//! A bridge between a pseudo-terminal and a radio channel made of UDP, as a thread of the test: what a board with the image
//! `bridge` is at a serial device.

#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod emulated;
pub(crate) mod native;
pub(crate) mod terminal;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Wall};

use sixlock_base::{Instant, Symbols};
use sixlock_router::{Air, Inbound, LineEvent};
use terminal::Terminal;

/// The channel that frames say they are on.
const CHANNEL: u8 = 26;
/// How often the bridge looks at its timers.
const TICK: Duration = Duration::from_millis(2);

/// What time it is, by both clocks of the protocols.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) now: Instant,
    pub(crate) at: Symbols,
}

impl Moment {
    fn since(start: Wall) -> Self {
        let micros = start.elapsed().as_micros();
        Self { now: Instant::from_millis((micros / 1000) as u32), at: Symbols::new((micros / 16) as u32) }
    }
}

/// What comes to a bridge.
pub(crate) enum Input<'a> {
    Frame(&'a mut [u8]),
    Line(&'a [u8]),
}

/// What it puts on the air and on the line.
#[derive(Default)]
pub(crate) struct Output {
    pub(crate) frames: Vec<Vec<u8>>,
    pub(crate) line: Vec<u8>,
}

/// A bridge.
pub(crate) trait Board {
    /// Takes something in, and lets everything happen that is due.
    fn step(&mut self, time: Moment, input: Option<Input<'_>>, output: &mut Output);
}

/// A board at a pseudo-terminal, and on the air.
pub(crate) struct Bridge {
    /// Where nodes join its channel.
    pub(crate) air: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Bridge {
    /// Plugs in the board that `make` makes: its serial device is at `device` from now on, until this is dropped.
    pub(crate) fn plug<B: Board>(device: &Path, make: impl FnOnce() -> B + Send + 'static) -> Self {
        let terminal = Terminal::new(device);
        let air = Air::host("127.0.0.1:0".parse().unwrap(), CHANNEL).unwrap();
        let address = air.address().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::Builder::new().stack_size(16 << 20);
        let thread = thread.spawn(move || run(make(), terminal, air, &stopped)).unwrap();
        Self { air: address, stop, thread: Some(thread) }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().unwrap().join();
    }
}

fn run(mut board: impl Board, mut terminal: Terminal, mut air: Air, stop: &AtomicBool) {
    let (sender, inbound): (SyncSender<Inbound>, Receiver<Inbound>) = sync_channel(256);
    air.read(sender.clone()).unwrap();
    terminal.read(sender);
    let start = Wall::now();
    while !stop.load(Ordering::Relaxed) {
        let mut output = Output::default();
        match inbound.recv_timeout(TICK) {
            Ok(Inbound::Frame(mut frame)) => {
                board.step(Moment::since(start), Some(Input::Frame(&mut frame)), &mut output);
            }
            Ok(Inbound::Line(LineEvent::Bytes(bytes))) => {
                board.step(Moment::since(start), Some(Input::Line(&bytes)), &mut output);
            }
            Ok(_) | Err(RecvTimeoutError::Timeout) => board.step(Moment::since(start), None, &mut output),
            Err(RecvTimeoutError::Disconnected) => return,
        }
        for frame in output.frames {
            air.send(&frame);
        }
        terminal.write(&output.line);
    }
    // Its reader waits for nobody.
    drop(inbound);
}

/// The key of links in the network's file, if they are secured.
pub(crate) fn link_key(directory: &Path) -> Option<[u8; 16]> {
    let text = std::fs::read_to_string(directory.join("network.toml")).unwrap();
    let (_, rest) = text.split_once("key_hex = \"").filter(|_| text.contains("[llsec]"))?;
    let digits = rest.get(..32)?;
    let byte = |n: usize| u8::from_str_radix(&digits[2 * n..2 * n + 2], 16).unwrap();
    Some(std::array::from_fn(byte))
}

/// The security parameters index of the last node in the network's file, if nodes have IPsec.
pub(crate) fn spi(directory: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(directory.join("network.toml")).unwrap();
    let (_, rest) = text.rsplit_once("spi = ")?;
    Some(rest.lines().next()?.parse().unwrap())
}
