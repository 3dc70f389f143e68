//! The client's side of the GDB remote serial protocol, as far as the three emulators speak it: none of them can do
//! without acknowledgements, so neither does this.

use std::io::{self, Read, Write};

use crate::error::Cause;
use crate::packet::{Decoder, Item, encode, hex, unhex};

/// How many bytes of memory one command reads or writes: simavr's buffers hold half a kilobyte.
const CHUNK: usize = 256;
/// How often a packet is sent again when the emulator asks for it.
const RETRIES: u32 = 3;

/// The client at one end of `S`.
pub(crate) struct Client<S> {
    stream: S,
    decoder: Decoder,
    /// What was read and not yet decoded.
    unread: Vec<u8>,
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, decoder: Decoder::default(), unread: Vec::new() }
    }

    /// Sends `command` and waits for the answer.
    pub(crate) fn command(&mut self, command: &[u8]) -> Result<Vec<u8>, Cause> {
        let packet = encode(command);
        let name = || String::from_utf8_lossy(command.get(..32).unwrap_or(command)).into_owned();
        self.stream.write_all(&packet).map_err(Cause::Connection)?;
        let mut retries = 0;
        loop {
            match self.item()? {
                Item::Ack => {}
                Item::Packet(answer) => {
                    self.stream.write_all(b"+").map_err(Cause::Connection)?;
                    return match answer.as_slice() {
                        [b'E', _, _] | [] => Err(Cause::Refused(name())),
                        _ => Ok(answer),
                    };
                }
                Item::Nack | Item::Garbled if retries == RETRIES => return Err(Cause::Garbled(name())),
                Item::Nack => {
                    retries += 1;
                    self.stream.write_all(&packet).map_err(Cause::Connection)?;
                }
                Item::Garbled => {
                    retries += 1;
                    self.stream.write_all(b"-").map_err(Cause::Connection)?;
                }
            }
        }
    }

    /// Stops the target, which is running.
    pub(crate) fn interrupt(&mut self) -> Result<(), Cause> {
        self.stream.write_all(&[3]).map_err(Cause::Connection)?;
        while !matches!(self.item()?, Item::Packet(_)) {}
        self.stream.write_all(b"+").map_err(Cause::Connection)
    }

    fn item(&mut self) -> Result<Item, Cause> {
        loop {
            let mut bytes = self.unread.drain(..);
            let item = bytes.find_map(|byte| self.decoder.push(byte));
            // What follows the item stays for the next call.
            self.unread = bytes.collect();
            if let Some(item) = item {
                return Ok(item);
            }
            let mut bytes = [0; 4096];
            let len = match self.stream.read(&mut bytes) {
                Ok(0) => return Err(Cause::Connection(io::ErrorKind::UnexpectedEof.into())),
                Ok(len) => len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Cause::Connection(error)),
            };
            self.unread.extend(bytes.iter().take(len));
        }
    }

    fn demand_ok(&mut self, command: &[u8]) -> Result<(), Cause> {
        match self.command(command)?.as_slice() {
            b"OK" => Ok(()),
            _ => Err(Cause::Garbled(String::from_utf8_lossy(command).into_owned())),
        }
    }

    fn demand_bytes(&mut self, command: &str) -> Result<Vec<u8>, Cause> {
        unhex(&self.command(command.as_bytes())?).ok_or_else(|| Cause::Garbled(command.into()))
    }

    /// Fills `out` with the memory from `address` on.
    pub(crate) fn read(&mut self, mut address: u32, out: &mut [u8]) -> Result<(), Cause> {
        for chunk in out.chunks_mut(CHUNK) {
            let command = format!("m{address:x},{:x}", chunk.len());
            let bytes = self.demand_bytes(&command)?;
            if bytes.len() != chunk.len() {
                return Err(Cause::Garbled(command));
            }
            chunk.copy_from_slice(&bytes);
            address = address.wrapping_add(chunk.len() as u32);
        }
        Ok(())
    }

    /// Writes `bytes` to the memory from `address` on.
    pub(crate) fn write(&mut self, mut address: u32, bytes: &[u8]) -> Result<(), Cause> {
        for chunk in bytes.chunks(CHUNK) {
            let mut command = format!("M{address:x},{:x}:", chunk.len()).into_bytes();
            command.extend(hex(chunk));
            self.demand_ok(&command)?;
            address = address.wrapping_add(chunk.len() as u32);
        }
        Ok(())
    }

    /// Lets the target stop before the instruction at `address`, which is two bytes long.
    pub(crate) fn set_breakpoint(&mut self, address: u32) -> Result<(), Cause> {
        self.demand_ok(format!("Z1,{address:x},2").as_bytes())
    }

    /// Lets the target run until it stops.
    pub(crate) fn resume(&mut self) -> Result<(), Cause> {
        self.run(b"c")
    }

    /// Lets the target do one instruction.
    pub(crate) fn step(&mut self) -> Result<(), Cause> {
        self.run(b"s")
    }

    fn run(&mut self, command: &[u8]) -> Result<(), Cause> {
        match self.command(command)?.first() {
            Some(b'S' | b'T') => Ok(()),
            _ => Err(Cause::Garbled(String::from_utf8_lossy(command).into_owned())),
        }
    }

    /// All registers, in the target's own order and sizes.
    pub(crate) fn registers(&mut self) -> Result<Vec<u8>, Cause> {
        self.demand_bytes("g")
    }

    /// Has the emulator do a command of its own; what it prints.
    pub(crate) fn monitor(&mut self, command: &str) -> Result<String, Cause> {
        let request = [b"qRcmd,", hex(command.as_bytes()).as_slice()].concat();
        let printed = unhex(&self.command(&request)?).ok_or_else(|| Cause::Garbled(command.into()))?;
        Ok(String::from_utf8_lossy(&printed).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// An emulator that says what was written down for it, and keeps what it is told.
    #[derive(Default)]
    struct Script {
        says: VecDeque<Vec<u8>>,
        received: Vec<u8>,
    }

    impl Read for Script {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let Some(says) = self.says.pop_front() else { return Err(io::ErrorKind::TimedOut.into()) };
            out[..says.len()].copy_from_slice(&says);
            Ok(says.len())
        }
    }

    impl Write for Script {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.received.extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn client(says: &[&[u8]]) -> Client<Script> {
        let says = says.iter().map(|says| says.to_vec()).collect();
        Client::new(Script { says, received: Vec::new() })
    }

    #[test]
    fn memory_is_read_and_written_in_pieces() {
        let answer = |bytes: &[u8]| [b"+".to_vec(), encode(&hex(bytes))].concat();
        let mut emulator = client(&[&answer(&[7; CHUNK]), &answer(&[8; 3])]);
        let mut memory = [0; CHUNK + 3];
        emulator.read(0x1ff0, &mut memory).unwrap();
        assert_eq!(memory[CHUNK - 1..], [7, 8, 8, 8]);
        assert_eq!(
            emulator.stream.received,
            [encode(b"m1ff0,100"), b"+".to_vec(), encode(b"m20f0,3"), b"+".to_vec()].concat()
        );
        let mut emulator = client(&[b"+$OK#9a"]);
        emulator.write(0x10, &[0xab, 0xcd]).unwrap();
        assert_eq!(emulator.stream.received, [encode(b"M10,2:abcd"), b"+".to_vec()].concat());
    }

    #[test]
    fn a_packet_is_sent_again_when_the_emulator_asks_and_asked_for_again_when_it_is_garbled() {
        let mut emulator = client(&[b"-", b"+$OK#00", b"$OK#9a"]);
        emulator.set_breakpoint(0x100).unwrap();
        let sent = encode(b"Z1,100,2");
        assert_eq!(emulator.stream.received, [&sent[..], &sent, b"-+"].concat());
        assert!(matches!(client(&[b"----"]).resume(), Err(Cause::Garbled(_))));
    }

    #[test]
    fn answers_that_come_in_pieces_or_together_are_told_apart() {
        let mut emulator = client(&[b"+$T", b"05#b9+$6f6b", b"#34"]);
        emulator.resume().unwrap();
        assert_eq!(emulator.monitor("help").unwrap(), "ok");
        assert!(emulator.stream.received.ends_with(&[encode(b"qRcmd,68656c70"), b"+".to_vec()].concat()));
    }

    #[test]
    fn wrong_answers_are_errors_that_name_the_command() {
        let wrong = |answer: &[u8]| {
            let says = [b"+".to_vec(), encode(answer)].concat();
            client(&[&says]).read(0x20, &mut [0; 2]).unwrap_err().to_string()
        };
        assert_eq!(wrong(b"E01"), "the emulator refused `m20,2`");
        assert_eq!(wrong(b""), "the emulator refused `m20,2`");
        for nonsense in [&b"01"[..], b"010203", b"zz00", b"OK"] {
            assert_eq!(wrong(nonsense), "the emulator's answer to `m20,2` makes no sense");
        }
        assert!(matches!(client(&[]).resume(), Err(Cause::Connection(_))));
        assert!(matches!(client(&[b""]).resume(), Err(Cause::Connection(_))), "it hung up");
        assert!(matches!(client(&[b"+$W00#b7"]).resume(), Err(Cause::Garbled(_))), "it ended");
    }

    proptest::proptest! {
        #[test]
        fn any_answers_are_taken_or_refused(says: Vec<Vec<u8>>) {
            let says: Vec<&[u8]> = says.iter().map(Vec::as_slice).collect();
            let mut emulator = client(&says);
            let _ = emulator.read(0, &mut [0; 4]);
            let _ = emulator.registers();
            let _ = emulator.monitor("");
        }
    }
}
