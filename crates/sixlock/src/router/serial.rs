//! A border router whose mesh is at the other end of a serial line.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use sixlock_base::{Eui64, Instant, MESH_PREFIX};
use sixlock_crypto::Soft;
use sixlock_gateway::{Exit, Presence, Serial, SerialGateway};
use sixlock_router::{Inbound, LineEvent};
use sixlock_sim::{CLOUD, FlowId, GatewayError, Peering};
use tokio::sync::mpsc;

use super::border_router::{BorderRouter, Parts, outbound};
use super::machine::{Hosts, Machine, MeshSecurity, Rules};
use crate::station::{Clock, Context, Moment, NAP};

/// A border router whose bridge does what is to be done on the air.
pub(super) struct Bridged {
    gateway: SerialGateway<Soft, MeshSecurity, 1024, Hosts, Rules>,
    line: Line,
}

/// The way to the bridge.
struct Line {
    to_line: mpsc::Sender<Vec<u8>>,
    /// Packets that have found no room on the line.
    full: u64,
    /// When that was told, and how many there were.
    reported: (Instant, u64),
}

impl Line {
    fn put(&mut self, bytes: impl Iterator<Item = u8>) {
        if self.to_line.try_send(bytes.collect()).is_err() {
            self.full += 1;
        }
    }
}

impl Machine for Bridged {
    // The bridge does, or does not.
    const SPEAKS_RPL: bool = false;

    fn security(&mut self) -> &mut MeshSecurity {
        self.gateway.security()
    }

    fn internet(&mut self) -> &mut Hosts {
        self.gateway.internet()
    }

    fn firewall(&mut self) -> &mut Rules {
        self.gateway.firewall()
    }

    fn compress(&mut self, _: &Peering) {
        // The bridge has the links.
    }

    fn open(&mut self, cx: &mut Context<'_>, node: Eui64, port: u16) -> FlowId {
        self.gateway.open(cx, CLOUD, node.with_prefix(MESH_PREFIX), port)
    }

    fn handle_upstream(
        &mut self,
        cx: &mut Context<'_>,
        _: Moment,
        flow: FlowId,
        payload: &[u8],
    ) -> Result<(), GatewayError> {
        let Self { gateway, line } = self;
        gateway.handle_upstream(cx, flow, payload, |bytes| line.put(bytes))
    }

    fn handle_packet<'b>(
        &'b mut self,
        cx: &mut Context<'_>,
        _: Moment,
        buffer: &'b mut [u8],
        len: usize,
    ) -> Option<&'b [u8]> {
        let Self { gateway, line } = self;
        gateway.handle_packet(cx, buffer, len, |bytes| line.put(bytes))
    }
}

/// A border router at its line.
pub(super) struct SerialStation {
    router: BorderRouter<Bridged>,
    /// The line's device.
    device: String,
}

impl SerialStation {
    pub(super) fn new(
        parts: Parts,
        exit: Exit,
        device: String,
        to_line: mpsc::Sender<Vec<u8>>,
    ) -> Result<Self, Box<dyn Error>> {
        if parts.gateway.as_ref().is_some_and(|gateway| gateway.nodes.tunnels) {
            return Err(
                "tunnels with nodes end at the address of the border router in the mesh, which the bridge has: \
                 with --serial, set [nodes] security = \"link\" in the gateway's file"
                    .into(),
            );
        }
        let start = Instant::from_millis(0);
        let serial = Serial { bridge: Eui64::of_node(0).with_prefix(MESH_PREFIX), host: CLOUD };
        let machine = Box::new(Bridged {
            gateway: SerialGateway::new(start, serial, exit),
            line: Line { to_line, full: 0, reported: (start, 0) },
        });
        Ok(Self { router: BorderRouter::new(machine, parts, start)?, device })
    }

    /// Runs until it is told to stop.
    pub(super) fn drive(&mut self, inbound: &Receiver<Inbound>, stop: &AtomicBool) {
        let clock = Clock::start();
        while !stop.load(Ordering::Relaxed) {
            let time = clock.read();
            self.settle(time);
            match inbound.recv_timeout(NAP) {
                Ok(inbound) => self.handle(clock.read(), inbound),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn handle(&mut self, time: Moment, inbound: Inbound) {
        match self.router.handle(time, inbound) {
            Some(Inbound::Line(LineEvent::Bytes(bytes))) => self.receive(time, &bytes),
            Some(Inbound::Line(LineEvent::Lost(error))) => {
                to_stderr!(
                    "the serial line is gone ({error}): plug the bridge in again; it is looked for once a second"
                );
            }
            Some(Inbound::Line(LineEvent::Found)) => {
                to_stdout!("the serial line {} is there again", self.device)
            }
            _ => {}
        }
    }

    fn receive(&mut self, time: Moment, bytes: &[u8]) {
        let BorderRouter { machine, lent, .. } = &mut self.router;
        let mut left = Vec::new();
        machine.gateway.handle_line(&mut lent.cx(time.now), bytes, |upstream| left.push(outbound(upstream)));
        for left in left {
            self.router.leave(time.now, left);
        }
    }

    fn settle(&mut self, time: Moment) {
        let BorderRouter { machine, lent, .. } = &mut self.router;
        let Bridged { gateway, line } = &mut **machine;
        gateway.handle_timeout(&mut lent.cx(time.now), |bytes| line.put(bytes));
        match gateway.poll_event() {
            Some(Presence::Answers) => to_stdout!("the bridge at {} answers", self.device),
            Some(Presence::Silent) => to_stderr!(
                "the bridge at {} does not answer: is it on, does it run an image of a bridge, with a device's own data that fits it, and is its speed that of --baud?",
                self.device
            ),
            None => {}
        }
        let (at, reported) = &mut line.reported;
        if line.full != *reported && time.now.since(*at).millis() >= 1000 {
            (*at, *reported) = (time.now, line.full);
            to_stderr!("the serial line is full: {} packets have found no room so far", line.full);
        }
        self.router.settle(time.now);
    }
}
