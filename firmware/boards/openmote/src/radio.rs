//! The radio, whose registers SWRU319 describes in its chapter Radio.

use cc2538_pac::{AnaRegs, RfcoreSfr, RfcoreXreg};
use sixlock_ieee802154::{FCS, MAX_FRAME, fcs};

use crate::clock::Clock;

/// Instructions of the strobe processor, for immediate execution: ISRXON, ISTXON, ISFLUSHRX, ISFLUSHTX and ISRFOFF.
pub(crate) const RECEIVE: u32 = 0xe3;
const TRANSMIT: u32 = 0xe9;
const FLUSH_RECEIVED: u32 = 0xed;
const FLUSH_TRANSMIT: u32 = 0xee;
pub(crate) const RECEIVER_OFF: u32 = 0xef;

/// In the last of the two bytes that stand for the FCS of a received frame: it was right.
const IS_RIGHT: u8 = 0x80;

/// When sending has failed, in symbols: after the turnaround, six bytes before the longest frame, the frame, and a reserve.
const SENDING: u32 = 12 + 2 * (6 + MAX_FRAME as u32) + 60;

/// Has the strobe processor execute an instruction.
pub(crate) fn strobe(fifo: &RfcoreSfr, instruction: u32) {
    // SAFETY: it is one of those above.
    fifo.rfst().write(|w| unsafe { w.bits(instruction) });
}

/// From off to a signal strength that tells of the last 8 symbols, in symbols: the receiver takes 12 to start.
const STARTING: u32 = 12 + 8;

/// The radio.
pub(crate) struct Radio {
    pub(crate) registers: RfcoreXreg,
    fifo: RfcoreSfr,
    /// Whether it listens when it neither sends nor assesses the channel.
    listens: bool,
}

impl Radio {
    /// Sets it up and begins to listen on `channel`.
    pub(crate) fn start(registers: RfcoreXreg, fifo: RfcoreSfr, analog: &AnaRegs, channel: u8) -> Self {
        // SAFETY: the guide recommends these values in place of those at reset.
        unsafe {
            registers.agcctrl1().write(|w| w.bits(0x15));
            registers.txfiltcfg().write(|w| w.bits(0x09));
            analog.ivctrl().write(|w| w.bits(0x0b));
            registers.fscal1().write(|w| w.bits(0x01));
        }
        // SAFETY: the channel is busy above -81 dBm, as the guide recommends (CCACTRL0); 0 dBm (TXPOWER); channels are
        // 5 MHz apart, and the first is 11 (FREQCTRL); a frame counts as received when it is whole (FIFOPCTRL).
        unsafe {
            registers.ccactrl0().write(|w| w.bits(0xf8));
            registers.txpower().write(|w| w.bits(0xb6));
            registers.freqctrl().write(|w| w.bits(11 + 5 * (u32::from(channel) - 11)));
            registers.fifopctrl().write(|w| w.bits(MAX_FRAME as u32));
        }
        // The radio makes and checks the FCS, and no more. Addresses and acknowledgements are the node's.
        registers.frmctrl0().write(|w| w.autocrc().set_bit());
        registers.frmfilt0().modify(|_, w| w.frame_filter_en().clear_bit());
        registers.srcmatch().modify(|_, w| w.src_match_en().clear_bit().autopend().clear_bit());
        strobe(&fifo, FLUSH_RECEIVED);
        strobe(&fifo, RECEIVE);
        Self { registers, fifo, listens: true }
    }

    /// From now on it listens, or is off, while nothing else is to be done.
    pub(crate) fn listen(&mut self, listens: bool) {
        self.listens = listens;
        strobe(&self.fifo, if listens { RECEIVE } else { RECEIVER_OFF });
    }

    /// A frame that has come in, FCS included, if there is one.
    pub(crate) fn receive<'a>(&mut self, frame: &'a mut [u8; MAX_FRAME]) -> Option<&'a mut [u8]> {
        let status = self.registers.fsmstat1().read();
        if status.fifop().bit_is_clear() {
            return None;
        }
        let length = usize::from(self.take());
        let body = length.checked_sub(FCS).filter(|_| length <= MAX_FRAME);
        // FIFOP without FIFO tells of an overflow, after which the radio waits to be flushed.
        let (Some(body), true) = (body, status.fifo().bit_is_set()) else {
            strobe(&self.fifo, FLUSH_RECEIVED);
            return None;
        };
        for byte in &mut frame[..body] {
            *byte = self.take();
        }
        // The signal strength, and whether the FCS was right.
        let [_, quality] = [self.take(), self.take()];
        if quality & IS_RIGHT == 0 {
            return None;
        }
        let (data, rest) = frame.split_at_mut(body);
        rest[..FCS].copy_from_slice(&fcs(data).to_le_bytes());
        Some(&mut frame[..length])
    }

    fn take(&mut self) -> u8 {
        self.fifo.rfdata().read().rfd().bits()
    }

    /// Assesses the channel so many times, so many symbols from one begin to the next, until it is busy; whether it was clear.
    pub(crate) fn assess(&mut self, times: u8, apart: u16, clock: &mut Clock) -> bool {
        let mut at = clock.symbols();
        if !self.listens {
            strobe(&self.fifo, RECEIVE);
            at = at.after(STARTING);
            clock.wait(at);
        }
        let mut is_clear = self.is_clear();
        for _ in 1..times {
            at = at.after(apart.into());
            if is_clear {
                clock.wait(at);
                is_clear = self.is_clear();
            }
        }
        self.rest();
        is_clear
    }

    /// Is off again, if it was before it sent or assessed the channel.
    fn rest(&mut self) {
        if !self.listens {
            strobe(&self.fifo, RECEIVER_OFF);
        }
    }

    /// Whether the channel was clear for the last 8 symbols; what cannot be told yet counts as busy.
    fn is_clear(&mut self) -> bool {
        let is_valid = self.registers.rssistat().read().rssi_valid().bit_is_set();
        is_valid && self.registers.fsmstat1().read().cca().bit_is_set()
    }

    /// Sends `frame`, whose FCS the radio makes itself, a turnaround from now; returns when it is out. Returns false without sending it if
    /// the channel is to be assessed before, and is busy.
    pub(crate) fn send(&mut self, frame: &[u8], assess: bool, clock: &mut Clock) -> bool {
        if assess && !self.assess(1, 0, clock) {
            return false;
        }
        strobe(&self.fifo, FLUSH_TRANSMIT);
        self.put(frame.len() as u8);
        for byte in frame.iter().take(frame.len().saturating_sub(FCS)) {
            self.put(*byte);
        }
        self.fifo.rfirqf1().modify(|_, w| w.txdone().clear_bit());
        strobe(&self.fifo, TRANSMIT);
        // It listens again by itself when it has sent (SET_RXENMASK_ON_TX).
        let deadline = clock.symbols().after(SENDING);
        while self.fifo.rfirqf1().read().txdone().bit_is_clear() {
            if clock.symbols().has_reached(deadline) {
                strobe(&self.fifo, FLUSH_TRANSMIT);
                strobe(&self.fifo, RECEIVE);
                break;
            }
        }
        self.rest();
        true
    }

    fn put(&mut self, byte: u8) {
        // SAFETY: the register takes any byte.
        self.fifo.rfdata().write(|w| unsafe { w.bits(byte.into()) });
    }
}
