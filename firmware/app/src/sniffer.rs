//! The sniffer: every frame that the radio takes in goes out at the serial port, as a packet capture.

use sixlock_lockstep::{Command, DeviceEvent, Flags};
use sixlock_pcap::{Clock, HEADER, record};
use sixlock_start as _;

use crate::exchange;

/// Bytes on the air before a frame: preamble, start of frame and length.
const PHY_HEADER: usize = 6;
/// Symbols that a byte takes on the air.
const BYTE: usize = 2;

/// Runs the sniffer for ever. Its radio is to take in the frames for others too, and to acknowledge none.
pub fn sniff() -> ! {
    exchange::wait(Command::None, Flags::default());
    let (_, start) = exchange::time();
    let mut clock = Clock::new(start);
    exchange::put_out(HEADER);
    loop {
        let flags = exchange::set_timers(Some(clock.poll_timeout()), None);
        let event = exchange::wait(Command::None, flags);
        let (_, at) = exchange::time();
        clock.advance(at);
        if event == Some(DeviceEvent::Frame) {
            let frame = exchange::frame();
            let airtime = (PHY_HEADER + frame.len()) * BYTE;
            exchange::put_out(record(clock.ago(airtime as u32), frame.len() as u32));
            exchange::put_out(frame.iter().copied());
        }
    }
}
