//! The image of a bridge, in an emulator.

use std::ops::ControlFlow;
use std::path::Path;

use sixlock_base::{Entropy, Eui64, Instant, LinkSuite, Symbols};
use sixlock_emulator::{Image, Lockstep, Request, Task};
use sixlock_lockstep::{Command, Device, DeviceEvent, FRAME, LinkKey, Route};
use sixlock_testing::Random;

use super::{Board, Input, Moment, Output};

/// A bridge with this key of links, if they are secured, and these nodes beside it that have routes.
pub(crate) struct Emulated {
    device: Lockstep,
    entropy: Random,
    storage: [u8; 64],
    timers: (Option<Symbols>, Option<Instant>),
    started: bool,
}

impl Emulated {
    pub(crate) fn new(image: &Path, key: Option<[u8; 16]>, nodes: u32) -> Self {
        let node = |id| Route { destination: Eui64::of_node(id), next_hop: Eui64::of_node(id) }.to_bytes();
        let routes: Vec<_> = (1..=nodes).map(node).collect();
        let device = Device {
            address: Eui64::of_node(0),
            pan_id: 0xabcd,
            channel: 26,
            min_be: 0,
            max_be: 0,
            max_backoffs: 0,
            max_retries: 0,
            ack: false,
            link: key.map(|key| LinkKey { suite: LinkSuite::Ccm64, key, index: 1 }),
            parent: Eui64::of_node(0),
            routes: &routes,
            cloud: None,
            identity: &[],
            key: &[],
            serves: false,
            echoes: false,
        };
        let image = Image::read(image).unwrap_or_else(|error| panic!("{error}"));
        let device = Lockstep::start(image, &device).unwrap_or_else(|error| panic!("{error}"));
        Self { device, entropy: Random::new(9), storage: [0xff; 64], timers: (None, None), started: false }
    }

    /// The next task, and those that the radio begins by what the task wants of it.
    fn run(&mut self, time: Moment, mut event: DeviceEvent, bytes: &[u8], output: &mut Output) {
        let mut bytes = bytes;
        loop {
            let Self { device, entropy, storage, .. } = self;
            let task = Task::in_no_time(event, time.now, time.at, bytes);
            let outcome = device.run(&task, |request| {
                match request {
                    Request::Entropy(bytes) => entropy.fill(bytes),
                    Request::Restore(address, bytes) => {
                        bytes.copy_from_slice(&storage[address.into()..][..bytes.len()]);
                    }
                    Request::Persist(address, bytes) => {
                        storage[address.into()..][..bytes.len()].copy_from_slice(bytes);
                    }
                    Request::Serial(bytes) => output.line.extend_from_slice(bytes),
                }
                ControlFlow::Continue(())
            });
            let outcome = outcome.unwrap_or_else(|error| panic!("{error}")).expect("power");
            self.timers = (outcome.exchange.radio_timer(), outcome.exchange.timer());
            (event, bytes) = match outcome.command {
                // Frames on this channel do not collide.
                Command::Cca | Command::Assess => (DeviceEvent::CcaClear, &[]),
                Command::Transmit => {
                    output.frames.push(outcome.exchange.frame().to_vec());
                    (DeviceEvent::Transmitted, &[])
                }
                _ => return,
            };
        }
    }
}

impl Board for Emulated {
    fn step(&mut self, time: Moment, input: Option<Input<'_>>, output: &mut Output) {
        if !std::mem::replace(&mut self.started, true) {
            self.run(time, DeviceEvent::Start, &[], output);
        }
        match input {
            Some(Input::Frame(frame)) => self.run(time, DeviceEvent::Frame, frame, output),
            Some(Input::Line(bytes)) => {
                for bytes in bytes.chunks(FRAME) {
                    self.run(time, DeviceEvent::Serial, bytes, output);
                }
            }
            None => {}
        }
        if self.timers.0.is_some_and(|due| time.at.has_reached(due)) {
            self.run(time, DeviceEvent::RadioTimer, &[], output);
        }
        if self.timers.1.is_some_and(|due| time.now.has_reached(due)) {
            self.run(time, DeviceEvent::Timer, &[], output);
        }
    }
}
