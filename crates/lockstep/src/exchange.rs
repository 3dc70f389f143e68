//! The block of memory by which an emulated device and its driver talk.

use sixlock_base::{Eui64, Instant, Symbols};

use crate::fields::{Reader, Writer};

/// The longest frame, FCS included.
pub const FRAME: usize = 127;
/// Random bytes handed over at a time.
pub const ENTROPY: usize = 16;
/// The longest record of non-volatile memory, and the longest piece that is put out at the serial port, in bytes.
pub const RECORD: usize = 32;
/// Where in a record's place the channel stands.
const CHANNEL: usize = 8 + 4;

/// The block. What the device tells is valid while it stands at `exchange`, and what it is told when it runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Exchange {
    /// To the device: the number of a [`DeviceEvent`].
    pub event: u8,
    /// Both ways: how many bytes of [`Exchange::frame`] are meant.
    pub frame_len: u8,
    /// To the device: the time in milliseconds.
    pub now: [u8; 4],
    /// To the device: the radio's time in symbols; of a frame, its last symbol's.
    pub at: [u8; 4],
    /// From the device: the number of a [`Command`].
    pub command: u8,
    /// From the device: [`Flags`].
    pub flags: u8,
    /// From the device: when it wants [`DeviceEvent::RadioTimer`], in symbols, if the flag says so.
    pub radio_timer: [u8; 4],
    /// From the device: when it wants [`DeviceEvent::Timer`], in milliseconds, if the flag says so.
    pub timer: [u8; 4],
    /// To the device, whenever it runs on: fresh random bytes.
    pub entropy: [u8; ENTROPY],
    /// Both ways: a frame, FCS included. To the device also bytes at its serial port ([`DeviceEvent::Serial`]).
    pub frame: [u8; FRAME],
    /// To the device, whenever it runs on: what its sensors measure, as signed numbers: the
    /// temperature in tenths of a degree Celsius, the humidity in tenths of a per cent, the light in lux.
    pub sensors: [[u8; 2]; 3],
    /// From the device: where in non-volatile memory [`Exchange::record`] belongs. With [`Command::Assess`], how many symbols there
    /// are from the begin of one assessment to the begin of the next.
    pub record_address: [u8; 2],
    /// From the device: how many bytes of [`Exchange::record`] are meant. With [`Command::Assess`], how many assessments there are.
    pub record_len: u8,
    /// From the device when the radio begins ([`Command::AssessAt`] and those behind it), what to keep ([`Command::Persist`]) or to put out at the serial port ([`Command::Serial`]), to the
    /// device what was kept ([`Command::Restore`]), and at the begin of a task, [`Exchange::task_times`].
    pub record: [u8; RECORD],
}

/// What happens to the device next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum DeviceEvent {
    /// Nothing but that it runs for the first time.
    Start = 0,
    /// A frame has come in.
    Frame = 1,
    /// The frame that it sends is out.
    Transmitted = 2,
    /// The channel was assessed and found clear.
    CcaClear = 3,
    /// The channel was assessed and found busy.
    CcaBusy = 4,
    /// The radio timer has run out.
    RadioTimer = 5,
    /// The timer has run out.
    Timer = 6,
    /// Bytes have come in at the serial port: [`Exchange::frame`].
    Serial = 7,
}

/// What the device wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Command {
    /// Nothing: its task is over, and it waits for what happens.
    None = 0,
    /// The same, while the radio listens for 8 symbols and tells whether the channel is clear.
    Cca = 1,
    /// The same, while the radio sends [`Exchange::frame`]. A channel assessment under way is given up.
    Transmit = 2,
    /// Its task goes on as soon as it has more random bytes. No time passes.
    Entropy = 3,
    /// Its task goes on when [`Exchange::record`] is kept in non-volatile memory.
    Persist = 4,
    /// Its task goes on when [`Exchange::record`] holds what non-volatile memory has there; what was never written is
    /// 0xff.
    Restore = 5,
    /// Its task goes on when the serial port has taken [`Exchange::record`].
    Serial = 6,
    /// Its task is over, and the radio listens from now on, as it does at first.
    Listen = 7,
    /// The same, while the radio is off from now on, but to assess the channel and to send.
    Off = 8,
    /// The same, while the radio assesses the channel like [`Command::Cca`], but several times ([`Exchange::assessments`]) unless it
    /// finds it busy before.
    Assess = 9,
    /// The same as [`Command::Assess`], from [`Exchange::begin`] on.
    AssessAt = 10,
    /// The same as [`Command::Transmit`], from [`Exchange::begin`] on.
    TransmitAt = 11,
    /// The same as [`Command::Listen`], from [`Exchange::begin`] on, on [`Exchange::channel`].
    ListenOn = 12,
    /// The same as [`Command::TransmitAt`], on [`Exchange::channel`].
    TransmitOn = 13,
}

/// What the device has set, and what has happened in the task that ends. The device starts each
/// task with none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// [`Exchange::radio_timer`] counts.
    pub const RADIO_TIMER: Self = Self(1 << 0);
    /// [`Exchange::timer`] counts.
    pub const TIMER: Self = Self(1 << 1);
    /// The cloud has confirmed a reading.
    pub const READING_CONFIRMED: Self = Self(1 << 2);
    /// A reading was given up, or the cloud refused it.
    pub const READING_FAILED: Self = Self(1 << 3);
    /// A session with the cloud is there.
    pub const SESSION_OPENED: Self = Self(1 << 4);
    /// The session with the cloud was lost, or its handshake failed.
    pub const SESSION_LOST: Self = Self(1 << 5);
    /// A reading was taken and handed to CoAP.
    pub const READING_SENT: Self = Self(1 << 6);
    /// Another device has posted a reading: that of [`Exchange::author`].
    pub const READING_RECEIVED: Self = Self(1 << 7);

    /// Whether all of `flags` are set.
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Sets `flags` besides those that are set.
    pub const fn insert(&mut self, flags: Self) {
        self.0 |= flags.0;
    }
}

impl Exchange {
    /// The block's length in bytes.
    pub const LEN: usize = size_of::<Self>();

    /// A block that says nothing.
    pub const fn new() -> Self {
        Self {
            event: 0,
            frame_len: 0,
            now: [0; 4],
            at: [0; 4],
            command: 0,
            flags: 0,
            radio_timer: [0; 4],
            timer: [0; 4],
            entropy: [0; ENTROPY],
            frame: [0; FRAME],
            sensors: [[0; 2]; 3],
            record_address: [0; 2],
            record_len: 0,
            record: [0; RECORD],
        }
    }

    /// The block that is `bytes` in the device's memory.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Self {
        let mut fields = Reader(bytes);
        Self {
            event: fields.u8(),
            frame_len: fields.u8(),
            now: fields.array(),
            at: fields.array(),
            command: fields.u8(),
            flags: fields.u8(),
            radio_timer: fields.array(),
            timer: fields.array(),
            entropy: fields.array(),
            frame: fields.array(),
            sensors: [fields.array(), fields.array(), fields.array()],
            record_address: fields.array(),
            record_len: fields.u8(),
            record: fields.array(),
        }
    }

    /// What the block is in the device's memory.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        let mut fields = Writer(&mut bytes);
        fields.put(&[self.event, self.frame_len]);
        fields.put(&self.now);
        fields.put(&self.at);
        fields.put(&[self.command, self.flags]);
        fields.put(&self.radio_timer);
        fields.put(&self.timer);
        fields.put(&self.entropy);
        fields.put(&self.frame);
        fields.put(self.sensors.as_flattened());
        fields.put(&self.record_address);
        fields.put(&[self.record_len]);
        fields.put(&self.record);
        bytes
    }

    /// What happens to the device, if it is anything known.
    pub fn event(&self) -> Option<DeviceEvent> {
        Some(match self.event {
            0 => DeviceEvent::Start,
            1 => DeviceEvent::Frame,
            2 => DeviceEvent::Transmitted,
            3 => DeviceEvent::CcaClear,
            4 => DeviceEvent::CcaBusy,
            5 => DeviceEvent::RadioTimer,
            6 => DeviceEvent::Timer,
            7 => DeviceEvent::Serial,
            _ => return None,
        })
    }

    /// What the device wants, if it is anything known.
    pub fn command(&self) -> Option<Command> {
        Some(match self.command {
            0 => Command::None,
            1 => Command::Cca,
            2 => Command::Transmit,
            3 => Command::Entropy,
            4 => Command::Persist,
            5 => Command::Restore,
            6 => Command::Serial,
            7 => Command::Listen,
            8 => Command::Off,
            9 => Command::Assess,
            10 => Command::AssessAt,
            11 => Command::TransmitAt,
            12 => Command::ListenOn,
            13 => Command::TransmitOn,
            _ => return None,
        })
    }

    /// When the device wants [`DeviceEvent::RadioTimer`].
    pub fn radio_timer(&self) -> Option<Symbols> {
        let set = Flags(self.flags).contains(Flags::RADIO_TIMER);
        set.then(|| Symbols::new(u32::from_le_bytes(self.radio_timer)))
    }

    /// When the device wants [`DeviceEvent::Timer`].
    pub fn timer(&self) -> Option<Instant> {
        let set = Flags(self.flags).contains(Flags::TIMER);
        set.then(|| Instant::from_millis(u32::from_le_bytes(self.timer)))
    }

    /// Who has posted a reading: it stands in place of a record.
    pub fn author(&self) -> Eui64 {
        let mut fields = Reader(&self.record);
        Eui64(fields.array())
    }

    /// Says who has posted a reading.
    pub fn set_author(&mut self, author: Eui64) {
        Writer(&mut self.record).put(&author.0);
    }

    /// How often the channel is assessed at most, and how many symbols there are from the begin of one assessment to the begin of
    /// the next: it stands in place of a record's length and address.
    pub fn assessments(&self) -> (u8, u16) {
        (self.record_len, u16::from_le_bytes(self.record_address))
    }

    /// Says so.
    pub fn set_assessments(&mut self, times: u8, apart: u16) {
        (self.record_len, self.record_address) = (times, apart.to_le_bytes());
    }

    /// When the radio begins: it stands in place of a record, behind [`Exchange::author`].
    pub fn begin(&self) -> Symbols {
        let mut fields = Reader(&self.record);
        let _author: [u8; 8] = fields.array();
        Symbols::new(u32::from_le_bytes(fields.array()))
    }

    /// Says so.
    pub fn set_begin(&mut self, at: Symbols) {
        let mut fields = Writer(&mut self.record);
        fields.skip(8);
        fields.put(&at.count().to_le_bytes());
    }

    /// The channel that the radio changes to at once: it stands in place of a record, behind [`Exchange::begin`].
    pub const fn channel(&self) -> u8 {
        self.record[CHANNEL]
    }

    /// Says so.
    pub const fn set_channel(&mut self, channel: u8) {
        self.record[CHANNEL] = channel;
    }

    /// When the task before ended, and when this one begins, in the radio's time: what a device's own clock would tell it. They stand in place of
    /// a record, until the device puts anything there.
    pub fn task_times(&self) -> (Symbols, Symbols) {
        let mut fields = Reader(&self.record);
        let [ended, begins] = [fields.array(), fields.array()].map(u32::from_le_bytes).map(Symbols::new);
        (ended, begins)
    }

    /// Says so.
    pub fn set_task_times(&mut self, ended: Symbols, begins: Symbols) {
        let mut fields = Writer(&mut self.record);
        fields.put(&ended.count().to_le_bytes());
        fields.put(&begins.count().to_le_bytes());
    }

    /// The frame.
    pub fn frame(&self) -> &[u8] {
        &self.frame[..usize::from(self.frame_len).min(FRAME)]
    }

    /// Puts a frame in; of a longer one than there may be, its first bytes.
    pub fn set_frame(&mut self, frame: &[u8]) {
        let len = frame.len().min(FRAME);
        self.frame[..len].copy_from_slice(&frame[..len]);
        self.frame_len = len as u8;
    }

    /// The bytes of non-volatile memory that are meant: where they begin, and what is there in the block. Of the serial
    /// port, what is there alone counts.
    pub fn record_mut(&mut self) -> (u16, &mut [u8]) {
        let len = usize::from(self.record_len).min(RECORD);
        (u16::from_le_bytes(self.record_address), &mut self.record[..len])
    }
}

impl Default for Exchange {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use core::mem::offset_of;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_field_lies_where_the_documentation_of_the_layout_says() {
        assert_eq!(offset_of!(Exchange, event), 0);
        assert_eq!(offset_of!(Exchange, frame_len), 1);
        assert_eq!(offset_of!(Exchange, now), 2);
        assert_eq!(offset_of!(Exchange, at), 6);
        assert_eq!(offset_of!(Exchange, command), 10);
        assert_eq!(offset_of!(Exchange, flags), 11);
        assert_eq!(offset_of!(Exchange, radio_timer), 12);
        assert_eq!(offset_of!(Exchange, timer), 16);
        assert_eq!(offset_of!(Exchange, entropy), 20);
        assert_eq!(offset_of!(Exchange, frame), 36);
        assert_eq!(offset_of!(Exchange, sensors), 163);
        assert_eq!(offset_of!(Exchange, record_address), 169);
        assert_eq!(offset_of!(Exchange, record_len), 171);
        assert_eq!(offset_of!(Exchange, record), 172);
        assert_eq!((Exchange::LEN, align_of::<Exchange>()), (204, 1));
    }

    #[test]
    fn numbers_stand_for_what_was_meant() {
        for event in [
            DeviceEvent::Start,
            DeviceEvent::Frame,
            DeviceEvent::Transmitted,
            DeviceEvent::CcaClear,
            DeviceEvent::CcaBusy,
            DeviceEvent::RadioTimer,
            DeviceEvent::Timer,
            DeviceEvent::Serial,
        ] {
            let exchange = Exchange { event: event as u8, ..Exchange::new() };
            assert_eq!(exchange.event(), Some(event));
        }
        for command in [
            Command::None,
            Command::Cca,
            Command::Transmit,
            Command::Entropy,
            Command::Persist,
            Command::Restore,
            Command::Serial,
            Command::Listen,
            Command::Off,
            Command::Assess,
            Command::AssessAt,
            Command::TransmitAt,
            Command::ListenOn,
            Command::TransmitOn,
        ] {
            let exchange = Exchange { command: command as u8, ..Exchange::new() };
            assert_eq!(exchange.command(), Some(command));
        }
        let unknown = Exchange { event: 8, command: 14, ..Exchange::new() };
        assert_eq!((unknown.event(), unknown.command()), (None, None));
    }

    #[test]
    fn a_device_is_told_when_its_tasks_ended_and_begin() {
        let mut exchange = Exchange::new();
        let times = (Symbols::new(0x0102_0304), Symbols::new(u32::MAX));
        exchange.set_task_times(times.0, times.1);
        assert_eq!(Exchange::from_bytes(&exchange.to_bytes()).task_times(), times);
    }

    #[test]
    fn timers_count_when_their_flags_are_set() {
        let mut exchange = Exchange::new();
        (exchange.radio_timer, exchange.timer) = ([1, 0, 0, 0], [0, 1, 0, 0]);
        assert_eq!((exchange.radio_timer(), exchange.timer()), (None, None));
        let mut flags = Flags::RADIO_TIMER;
        exchange.flags = flags.0;
        assert_eq!((exchange.radio_timer(), exchange.timer()), (Some(Symbols::new(1)), None));
        flags.insert(Flags::TIMER);
        exchange.flags = flags.0;
        assert_eq!(exchange.timer(), Some(Instant::from_millis(256)));
    }

    #[test]
    fn frames_and_records_end_with_the_block() {
        let mut exchange = Exchange::new();
        exchange.set_frame(&[7; 200]);
        assert_eq!(exchange.frame(), [7; FRAME]);
        exchange.frame_len = 255;
        assert_eq!(exchange.frame().len(), FRAME);
        exchange.set_assessments(6, 258);
        assert_eq!((exchange.assessments(), exchange.record_mut().0), ((6, 258), 258));
        let author = Eui64::of_node(7);
        exchange.set_author(author);
        exchange.set_begin(Symbols::new(0x0102_0304));
        exchange.set_channel(26);
        assert_eq!((exchange.author(), exchange.begin()), (author, Symbols::new(0x0102_0304)));
        assert_eq!(exchange.channel(), 26);
        assert_eq!(exchange.assessments(), (6, 258));
        exchange.record = [0; RECORD];
        (exchange.record_address, exchange.record_len) = ([2, 1], 255);
        assert_eq!(exchange.record_mut(), (0x102, &mut [0; RECORD][..]));
    }

    proptest! {
        #[test]
        fn blocks_pass_through_memory(bytes: [u8; Exchange::LEN]) {
            prop_assert_eq!(Exchange::from_bytes(&bytes).to_bytes(), bytes);
        }
    }
}
