//! How long a node's radio and its processor were in each state, as its driver sees it.

use sixlock_base::{Slot, Symbols};
use sixlock_interface::RadioCommand;
use sixlock_interface::mac::airtime;

/// The frame type, that of an acknowledgement, and the bit by which one is asked for, in the first byte of a frame (7.2.1.1).
const FRAME_TYPE: u8 = 0b111;
const ACK: u8 = 2;
const ACK_REQUEST: u8 = 1 << 5;
/// From a frame to its acknowledgement, and for how long that is on the air, in symbols (aTurnaroundTime, and 5 bytes).
const TURNAROUND: u32 = 12;
const ACK_LASTS: u32 = airtime(5);

/// How long a node was in each state, in symbols of 16 µs; both of the radio's and of the processor's add up to the time since the meter began.
/// They wrap after 19 hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateTimes {
    /// The radio was off.
    pub off: u32,
    /// It was on, and neither sent nor took in a frame that the driver was given: also while frames for others were on the air.
    pub listen: u32,
    /// A frame came in that the driver was given.
    pub receive: u32,
    /// It sent a frame that is no acknowledgement.
    pub send: u32,
    /// It sent an acknowledgement.
    pub acknowledge: u32,
    /// The processor was at work.
    pub active: u32,
    /// It waited for something to do.
    pub low_power: u32,
}

/// Adds up the times of the states that a radio and a processor enter one after the other. It is told each of the radio's commands, and what comes
/// of it, by a driver that reads the clock: nothing of it stands in the MAC.
///
/// The radio listens at first, as nodes expect it to, and the processor is at work.
pub struct StateMeter {
    /// What was added up so far. A frame's time is taken from the state that it lies in before that is added: some are less than 0 in
    /// between, and wrap.
    times: StateTimes,
    radio_since: Symbols,
    is_off: bool,
    /// When the radio is turned off or on next, and whether off.
    turns: Slot<(Symbols, bool)>,
    /// Since when the channel is assessed.
    assesses: Slot<Symbols>,
    /// When the last frame is out, until the radio is told something behind that.
    out: Slot<Symbols>,
    /// Whether the radio acknowledges frames by itself.
    acknowledges: bool,
    processor_since: Symbols,
    is_at_rest: bool,
}

impl StateMeter {
    /// One that has begun at the radio's time 0: [`StateMeter::start`] says when it begins. It is all zero bytes.
    pub const fn new() -> Self {
        Self {
            times: StateTimes {
                off: 0,
                listen: 0,
                receive: 0,
                send: 0,
                acknowledge: 0,
                active: 0,
                low_power: 0,
            },
            radio_since: Symbols::new(0),
            is_off: false,
            turns: Slot::Empty,
            assesses: Slot::Empty,
            out: Slot::Empty,
            acknowledges: false,
            processor_since: Symbols::new(0),
            is_at_rest: false,
        }
    }

    /// Begins at `at`. If the radio acknowledges frames by itself, those of the MAC are not on the air.
    pub fn start(&mut self, at: Symbols, acknowledges: bool) {
        *self = Self { radio_since: at, processor_since: at, acknowledges, ..Self::new() };
    }

    /// The processor has nothing to do from `at` on.
    pub fn rest(&mut self, at: Symbols) {
        self.turn_processor(true, at);
    }

    /// It is at work from `at` on.
    pub fn work(&mut self, at: Symbols) {
        self.turn_processor(false, at);
    }

    /// The radio is told `command` at `at`. It takes the place of the one before, as far as that is not done; a frame under way goes out.
    pub fn command(&mut self, command: RadioCommand, at: Symbols) {
        self.settle(at);
        self.turns = Slot::Empty;
        self.end_assessment(at);
        let begin = later(command.at(), at);
        let begin = match self.out.get() {
            Some(out) if !at.has_reached(*out) => later(begin, *out),
            _ => {
                self.out = Slot::Empty;
                begin
            }
        };
        match command {
            RadioCommand::Listen { .. } => self.turns = Slot::Full((begin, false)),
            RadioCommand::Off { .. } => self.turns = Slot::Full((begin, true)),
            RadioCommand::Assess { .. } | RadioCommand::Send { assess: true, .. } => {
                self.assesses = Slot::Full(begin);
            }
            RadioCommand::Send { assess: false, .. } => {}
        }
    }

    /// The channel was assessed until `at`.
    pub fn assessed(&mut self, at: Symbols) {
        self.settle(at);
        self.end_assessment(at);
    }

    /// The last symbol of `frame` went out at `at`.
    pub fn sent(&mut self, frame: &[u8], at: Symbols) {
        self.settle(at);
        let is_ack = frame.first().is_some_and(|control| control & FRAME_TYPE == ACK);
        if !is_ack {
            let lasted = airtime(frame.len());
            // A radio that assesses the channel and sends in one go does not tell that it was clear.
            self.end_assessment(at.before(lasted + TURNAROUND));
            self.times.send = self.times.send.wrapping_add(lasted);
            self.goes_out(lasted, at);
        } else if !self.acknowledges {
            self.acknowledged(at);
        }
    }

    /// The last symbol of `frame`, which is for this node or for all, or an acknowledgement, came in at `at`: the radio listened for it, whatever
    /// it was told since.
    pub fn received(&mut self, frame: &[u8], at: Symbols) {
        let lasted = airtime(frame.len());
        self.times.receive = self.times.receive.wrapping_add(lasted);
        self.times.listen = self.times.listen.wrapping_sub(lasted);
        let asks = frame.first().is_some_and(|control| control & ACK_REQUEST != 0);
        if asks && self.acknowledges {
            self.acknowledged(at.after(TURNAROUND + ACK_LASTS));
        }
    }

    /// An acknowledgement is out at `at`.
    fn acknowledged(&mut self, at: Symbols) {
        self.times.acknowledge = self.times.acknowledge.wrapping_add(ACK_LASTS);
        self.goes_out(ACK_LASTS, at);
    }

    /// Takes the time of a frame that is out at `at` from the state that the radio is in around it.
    fn goes_out(&mut self, lasted: u32, at: Symbols) {
        self.out = Slot::Full(at);
        let around = if self.is_off { &mut self.times.off } else { &mut self.times.listen };
        *around = around.wrapping_sub(lasted);
    }

    /// The times until `at`.
    pub fn times(&mut self, at: Symbols) -> StateTimes {
        self.settle(at);
        self.turn_radio(self.is_off, at);
        self.turn_processor(self.is_at_rest, at);
        self.times
    }

    /// Does to the state of the radio what was due by `at`.
    fn settle(&mut self, at: Symbols) {
        if let Some(&(turns, is_off)) = self.turns.get()
            && at.has_reached(turns)
        {
            self.turns = Slot::Empty;
            self.turn_radio(is_off, turns);
        }
    }

    /// A radio that is off is on while it assesses the channel.
    fn end_assessment(&mut self, at: Symbols) {
        if let Some(since) = self.assesses.take()
            && self.is_off
            && at.has_reached(since)
        {
            let lasted = between(since, at);
            self.times.listen = self.times.listen.wrapping_add(lasted);
            self.times.off = self.times.off.wrapping_sub(lasted);
        }
    }

    fn turn_radio(&mut self, is_off: bool, at: Symbols) {
        let state = if self.is_off { &mut self.times.off } else { &mut self.times.listen };
        *state = state.wrapping_add(between(self.radio_since, at));
        (self.is_off, self.radio_since) = (is_off, at);
    }

    fn turn_processor(&mut self, is_at_rest: bool, at: Symbols) {
        let state = if self.is_at_rest { &mut self.times.low_power } else { &mut self.times.active };
        *state = state.wrapping_add(between(self.processor_since, at));
        (self.is_at_rest, self.processor_since) = (is_at_rest, at);
    }
}

impl Default for StateMeter {
    fn default() -> Self {
        Self::new()
    }
}

const fn between(from: Symbols, to: Symbols) -> u32 {
    to.count().wrapping_sub(from.count())
}

fn later(one: Symbols, other: Symbols) -> Symbols {
    if one.has_reached(other) { one } else { other }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An acknowledgement of frame 7; its FCS does not matter.
    const ACKNOWLEDGEMENT: [u8; 5] = [2, 0, 7, 0, 0];
    /// A frame that asks for one, and one that does not.
    const ASKS: [u8; 10] = [0x21, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    const DATA: [u8; 10] = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    /// For how many symbols these are on the air, and an acknowledgement.
    const TEN: u32 = 32;
    const FIVE: u32 = 22;

    fn at(count: u32) -> Symbols {
        // Shortly before the count wraps, which must not matter.
        Symbols::new(count.wrapping_sub(200))
    }

    fn meter() -> StateMeter {
        let mut meter = StateMeter::new();
        meter.start(at(0), false);
        meter
    }

    #[test]
    fn frames_are_taken_out_of_the_time_in_which_the_radio_listens() {
        let mut meter = meter();
        meter.rest(at(10));
        meter.received(&ASKS, at(90));
        meter.work(at(100));
        meter.rest(at(130));
        meter.sent(&ACKNOWLEDGEMENT, at(150));
        meter.command(RadioCommand::Send { at: at(160), assess: true }, at(160));
        meter.assessed(at(168));
        meter.command(RadioCommand::Send { at: at(180), assess: false }, at(180));
        meter.sent(&DATA, at(180 + TEN));
        let times = meter.times(at(300));
        let on_air = TEN + FIVE + TEN;
        let listen = 300 - on_air;
        let expected = StateTimes {
            off: 0,
            listen,
            receive: TEN,
            send: TEN,
            acknowledge: FIVE,
            active: 40,
            low_power: 260,
        };
        assert_eq!(times, expected);
        let StateTimes { listen, low_power, .. } = meter.times(at(305));
        assert_eq!((listen, low_power), (expected.listen + 5, 265), "it goes on");
    }

    #[test]
    fn a_radio_that_is_off_is_on_while_it_assesses_the_channel_and_sends() {
        let mut meter = meter();
        meter.command(RadioCommand::Off { at: at(20) }, at(5));
        meter.command(RadioCommand::Assess { at: at(100), times: 2, apart: 38 }, at(21));
        meter.assessed(at(146));
        meter.command(RadioCommand::Send { at: at(158), assess: false }, at(146));
        meter.sent(&DATA, at(158 + TEN));
        let times = meter.times(at(400));
        assert_eq!((times.off, times.listen, times.send), (400 - 20 - 46 - TEN, 20 + 46, TEN));
        meter.command(RadioCommand::Send { at: at(500), assess: true }, at(450));
        meter.sent(&DATA, at(508 + TURNAROUND + TEN));
        let times = meter.times(at(800));
        assert_eq!((times.off, times.listen, times.send), (780 - 46 - 8 - 2 * TEN, 20 + 46 + 8, 2 * TEN));
    }

    #[test]
    fn a_radio_that_acknowledges_by_itself_does_so_for_each_frame_that_asks_and_before_it_is_off() {
        let mut meter = StateMeter::new();
        meter.start(at(0), true);
        meter.received(&DATA, at(50));
        meter.received(&ASKS, at(100));
        meter.command(RadioCommand::Send { at: at(112), assess: false }, at(105));
        meter.sent(&ACKNOWLEDGEMENT, at(105));
        meter.command(RadioCommand::Off { at: at(110) }, at(110));
        let times = meter.times(at(200));
        let out = 100 + TURNAROUND + FIVE;
        assert_eq!((times.off, times.listen, times.acknowledge), (200 - out, out - 2 * TEN - FIVE, FIVE));
    }

    #[test]
    fn a_command_takes_the_place_of_the_one_before_as_far_as_that_is_not_done() {
        let mut meter = meter();
        meter.command(RadioCommand::Off { at: at(50) }, at(10));
        meter.command(RadioCommand::Listen { at: at(40) }, at(30));
        assert_eq!(meter.times(at(100)).off, 0, "it was not off");
        meter.command(RadioCommand::Off { at: at(90) }, at(110));
        assert_eq!(meter.times(at(130)).off, 20, "what is late begins at once");
        meter.command(RadioCommand::Assess { at: at(140), times: 3, apart: 38 }, at(131));
        meter.command(RadioCommand::Off { at: at(150) }, at(145));
        assert_eq!(meter.times(at(160)).off, 50 - 5, "an assessment is given up");
        meter.command(RadioCommand::Assess { at: at(180), times: 1, apart: 8 }, at(161));
        meter.command(RadioCommand::Listen { at: at(170) }, at(170));
        assert_eq!(meter.times(at(190)).off, 60 - 5, "another that has not begun");
    }

    proptest::proptest! {
        #[test]
        fn the_times_of_a_component_add_up_however_its_state_changes(
            changes in proptest::collection::vec((0u32..500, 0..7), 0..60),
        ) {
            let (mut meter, mut now) = (meter(), 0);
            for (pause, change) in changes {
                now += pause;
                let later = at(now + 30);
                match change {
                    0 => meter.command(RadioCommand::Off { at: later }, at(now)),
                    1 => meter.command(RadioCommand::Listen { at: later }, at(now)),
                    2 => meter.command(RadioCommand::Assess { at: later, times: 1, apart: 8 }, at(now)),
                    3 => meter.assessed(at(now)),
                    4 => meter.sent(&DATA, at(now)),
                    5 => meter.rest(at(now)),
                    _ => meter.work(at(now)),
                }
            }
            let StateTimes { off, listen, receive, send, acknowledge, active, low_power } = meter.times(at(now + 7));
            let radio = [off, listen, receive, send, acknowledge];
            proptest::prop_assert_eq!(radio.into_iter().fold(0, u32::wrapping_add), now + 7);
            proptest::prop_assert_eq!(active + low_power, now + 7);
        }
    }
}
