//! A sniffer in an emulator, and what it makes of the frames that it is given.

use core::ops::ControlFlow;
use std::path::Path;

use sixlock_base::{Eui64, Instant, Symbols};
use sixlock_emulator::{Image, Lockstep, Request, Task};
use sixlock_ieee802154::{Address, BROADCAST, Endpoint, FrameType, Header, MAX_FRAME, Version, ack, fcs};
use sixlock_lockstep::DeviceEvent;

/// Microseconds in a symbol.
const SYMBOL: u64 = 16;

/// A frame on the air.
pub(crate) struct Sniffed {
    /// When it began, in microseconds since the sniffer did.
    pub(crate) micros: u64,
    /// It, FCS included.
    pub(crate) frame: Vec<u8>,
}

/// An acknowledgement, and data frames of every length from one byte of payload on: each a second and a bit after the one
/// before, the last of them a day later, after radio time has wrapped.
pub(crate) fn frames() -> Vec<Sniffed> {
    let endpoint = |address| Some(Endpoint { pan_id: 0xabcd, address });
    let data = (1..).map_while(|payload: u8| {
        let header = Header {
            frame_type: FrameType::Data,
            pending: false,
            ack_request: payload.is_multiple_of(2),
            version: Version::V2003,
            sequence: payload,
            destination: endpoint(match payload % 2 {
                0 => Address::Extended(Eui64::of_node(1)),
                _ => Address::Short(BROADCAST),
            }),
            source: endpoint(Address::Extended(Eui64::of_node(2))),
            security: None,
        };
        let mut frame = vec![0; MAX_FRAME];
        let len = header.emit(&mut frame).unwrap();
        frame.truncate(len);
        frame.extend((0..payload).map(|n| n ^ 0xc0));
        frame.extend(fcs(&frame).to_le_bytes());
        (frame.len() <= MAX_FRAME).then_some(frame)
    });
    let frames: Vec<_> = [ack(7).to_vec()].into_iter().chain(data).collect();
    let last = frames.len() as u64 - 1;
    let at = |n| n * 1_000_016 + if n == last { 86_400_000_000 } else { 0 };
    (0..).zip(frames).map(|(n, frame)| Sniffed { micros: at(n), frame }).collect()
}

/// What the sniffer of the image at `path` makes of `frames`: the bytes at its serial port, and its stack's peak.
pub(crate) fn sniff(path: &Path, frames: &[Sniffed]) -> (Vec<u8>, u32) {
    let image = Image::read(path).unwrap_or_else(|error| panic!("{error}"));
    let mut lockstep = Lockstep::start_as_built(image).unwrap_or_else(|error| panic!("{error}"));
    let mut bytes = Vec::new();
    // When it is woken if nothing happens, in symbols since it began.
    let mut wake = None::<u64>;
    let mut run = |event, symbols: u64, frame: &[u8]| {
        let now = Instant::from_millis((symbols * SYMBOL / 1000) as u32);
        let task = Task::in_no_time(event, now, Symbols::new(symbols as u32), frame);
        let outcome = lockstep.run(&task, |request| {
            match request {
                Request::Serial(piece) => bytes.extend(piece),
                Request::Entropy(_) => {}
                request => panic!("{request:?} of a sniffer"),
            }
            ControlFlow::Continue(())
        });
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}")).expect("power");
        let timer = outcome.exchange.radio_timer();
        timer.map(|timer| symbols + u64::from(timer.count().wrapping_sub(symbols as u32)))
    };
    let mut happens = |event, symbols: u64, frame: &[u8]| {
        while let Some(due) = wake.filter(|due| *due < symbols) {
            wake = run(DeviceEvent::RadioTimer, due, &[]);
        }
        wake = run(event, symbols, frame);
    };
    happens(DeviceEvent::Start, 0, &[]);
    for Sniffed { micros, frame } in frames {
        // Preamble, start of frame and length before it, 32 µs a byte.
        let end = micros + (6 + frame.len() as u64) * 32;
        happens(DeviceEvent::Frame, end / SYMBOL, frame);
    }
    let stack = lockstep.stack_peak().unwrap_or_else(|error| panic!("{error}"));
    (bytes, stack)
}
