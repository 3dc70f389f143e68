//! A border router's processor, where it is a platform's: what comes in waits for it, and what that brings about leaves when it is done.
//!
//! Its radio works beside it: it acknowledges frames as soon as the standard demands, and keeps as many in its FIFO as there is room for. What
//! a frame does to the router's tables, it does when it comes in; what follows from it, on the air and outside, waits for the processor. Packets
//! from outside wait until it has nothing else to do.

use std::collections::VecDeque;

use sixlock_base::Eui64;
use sixlock_gateway::FlowId;
use sixlock_ieee802154::{Address, BROADCAST, FrameType, Header};
use sixlock_node::HEADERS;

use crate::board::has_room;
use crate::carried;
use crate::costs::{Costs, Step, Work};
use crate::engine::Done;
use crate::error::ScenarioError;
use crate::outbound::Outbound;
use crate::platform::Platform;
use crate::time::{Span, Time};

/// Packets from outside that wait for it, at most; more are dropped, and counted.
const WAITING: usize = 32;

/// What leaves the mesh.
pub(crate) enum Leaving {
    /// A datagram of a flow.
    Datagram(Outbound),
    /// A whole packet.
    Packet(Vec<u8>),
}

/// What enters the mesh.
pub(crate) enum Entering {
    /// A datagram of a flow.
    Datagram(FlowId, Vec<u8>),
    /// A whole packet.
    Packet(Vec<u8>),
}

impl Entering {
    /// Its bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Datagram(_, payload) => HEADERS + payload.len(),
            Self::Packet(packet) => packet.len(),
        }
    }
}

/// The processor of a border router.
pub(crate) struct RouterProcessor {
    platform: Platform,
    costs: Costs,
    /// Whether links are secured.
    secured: bool,
    /// Until when it is at work.
    busy: Time,
    /// Frames in the radio's FIFO: when it takes up each, and how long that is.
    frames: VecDeque<(Time, usize)>,
    /// Packets from outside that wait until it has nothing else to do.
    entering: VecDeque<Entering>,
    /// Whether an event is scheduled for when it has.
    is_scheduled: bool,
    /// The frame that it has made last.
    made: Vec<u8>,
    /// What leaves the mesh when it is done with it.
    leaving: VecDeque<(Time, Leaving)>,
}

impl RouterProcessor {
    /// That of `platform`.
    ///
    /// # Errors
    /// Says what is wrong in the platform's file of costs.
    pub(crate) fn new(platform: Platform, secured: bool) -> Result<Self, ScenarioError> {
        Ok(Self {
            costs: platform.costs()?,
            platform,
            secured,
            busy: Time::ZERO,
            frames: VecDeque::new(),
            entering: VecDeque::new(),
            is_scheduled: false,
            made: Vec::new(),
            leaving: VecDeque::new(),
        })
    }

    /// When it is done with all that it has to do by now.
    pub(crate) fn ready(&self, now: Time) -> Time {
        now.max(self.busy)
    }

    /// Whether its radio has room for another frame of `len` bytes.
    pub(crate) fn takes_frame(&mut self, now: Time, len: usize) -> bool {
        while self.frames.pop_front_if(|(until, _)| *until <= now).is_some() {}
        has_room(self.frames.iter().map(|(_, len)| *len), len, self.platform.profile().receive_fifo)
    }

    /// Lets something from outside wait; whether there is room for it.
    pub(crate) fn enter(&mut self, entering: Entering) -> bool {
        let has_room = self.entering.len() < WAITING;
        if has_room {
            self.entering.push_back(entering);
        }
        has_room
    }

    /// What has waited longest, if it has nothing else to do now.
    pub(crate) fn poll_entering(&mut self, now: Time) -> Option<Entering> {
        self.is_scheduled = false;
        if self.ready(now) > now { None } else { self.entering.pop_front() }
    }

    /// When to call [`RouterProcessor::poll_entering`], once, if something waits: there, or at the end of a serial line.
    pub(crate) fn poll_time(&mut self, now: Time, line: bool) -> Option<Time> {
        let waits = line || !self.entering.is_empty();
        (waits && !core::mem::replace(&mut self.is_scheduled, true)).then(|| self.ready(now))
    }

    /// Works at a frame that has come in, and is opened by now, if it was sealed; `done` was computed for it, and IPsec did `protected`.
    pub(crate) fn frame(
        &mut self,
        now: Time,
        frame: &[u8],
        left: Option<usize>,
        done: &Done,
        protected: &[(Step, usize)],
    ) {
        let mut work = Work::new(done.cpu);
        work.add(Step::Frame, frame.len());
        if let Some((_, payload)) = carried::of_data_frame(frame) {
            work.add(Step::DataFrame, payload.len());
            if self.secured {
                work.add(Step::FrameOpened, frame.len());
            }
            carried::read(payload, &mut work);
        }
        if let Some(len) = left {
            work.add(Step::Forwarded, len);
        }
        for &(step, bytes) in protected {
            work.add(step, bytes);
        }
        // Out of the FIFO a frame comes when the processor takes it up, as with nodes.
        self.frames.push_back((self.ready(now), frame.len()));
        self.work(now, &work, done.lasts + self.platform.profile().bus(frame.len()));
    }

    /// Works at a packet of `len` bytes from outside, as [`RouterProcessor::frame`] does.
    pub(crate) fn packet(&mut self, now: Time, len: usize, done: &Done, protected: &[(Step, usize)]) {
        let mut work = Work::new(done.cpu);
        work.add(Step::Forwarded, len);
        for &(step, bytes) in protected {
            work.add(step, bytes);
        }
        self.work(now, &work, done.lasts);
    }

    /// Makes `frame`, unless it did before, and begins to send it; `done` was computed before. When it is made.
    pub(crate) fn transmission(&mut self, now: Time, frame: &[u8], done: &Done) -> Time {
        let mut work = Work::new(done.cpu);
        for step in [Step::ChannelAssessment, Step::ChannelAssessed, Step::Transmission] {
            work.add(step, frame.len());
        }
        if self.made != frame {
            work.add(Step::FrameMade, frame.len());
            if self.secured {
                work.add(Step::FrameSealed, frame.len());
            }
            self.made = frame.to_vec();
        }
        self.work(now, &work, done.lasts + self.platform.profile().bus(frame.len()))
    }

    /// Deals with something else that happens.
    pub(crate) fn step(&mut self, now: Time, step: Step, done: &Done) {
        let mut work = Work::new(done.cpu);
        work.add(step, 0);
        self.work(now, &work, done.lasts);
    }

    /// Does this after all that it has to do; when it is done with it.
    fn work(&mut self, now: Time, work: &Work, beside: Span) -> Time {
        self.busy = self.ready(now) + (self.platform.duration(self.costs.of(work)) + beside);
        self.busy
    }

    /// Lets something leave the mesh when it is done with what it has to do by now; when that is.
    pub(crate) fn leave(&mut self, now: Time, leaving: Leaving) -> Time {
        let at = self.ready(now);
        self.leaving.push_back((at, leaving));
        at
    }

    /// What leaves the mesh by now.
    pub(crate) fn poll_leaving(&mut self, now: Time) -> Option<Leaving> {
        self.leaving.pop_front_if(|(at, _)| *at <= now).map(|(_, leaving)| leaving)
    }
}

/// Whether a station at this address takes a frame, or its radio passes over it.
pub(crate) fn is_taken(frame: &[u8], own: Eui64) -> bool {
    let Ok((header, _)) = Header::parse(frame) else { return true };
    let to = header.destination.map(|endpoint| endpoint.address);
    header.frame_type == FrameType::Ack
        || [Address::Extended(own), Address::Short(BROADCAST)].map(Some).contains(&to)
}
