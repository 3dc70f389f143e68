//! The three emulators, behind one interface.

use core::time::Duration;
use std::io::{self, PipeReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use socket2::SockRef;

use crate::client::Client;
use crate::error::{Cause, Error};
use crate::image::{Cpu, Image};
use crate::msp430::{Msp430, PERIPHERALS_END};
use crate::process::{Process, TemporaryFile};

/// How long an emulator may take to start or to come to a stop before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many ports are tried: another program may take one between its choice and its use.
const PORTS: u32 = 8;

/// The counter of TIM2 of QEMU's `netduino2`. QEMU lets it run at 1 GHz, and every instruction take 1 ns.
///
/// Unlike SysTick it needs no timer of QEMU's, of which each pending one lets QEMU add time while it comes to a stop.
const TIM2_CNT: u32 = 0x4000_0024;
/// The number of the Cortex-M3's program counter among its registers.
const CORTEX_M3_PC: usize = 15;

/// Where `firmware/simavr/main.c` shows the number of cycles: at a reserved address of the ATmega128's I/O registers.
const AVR_CYCLES: u32 = 0x80_00f0;
/// The last byte of the ATmega128's RAM.
const AVR_RAM_END: u32 = 0x80_10ff;

/// How many functions are watched for panics: the emulators have breakpoints for more.
const PANICS: usize = 8;

/// What unused stack is filled with.
const PAINT: u8 = 0xc5;

/// A running image. With the first error, the emulator ends.
pub struct Emulator {
    client: Client<Connection>,
    process: Process,
    cpu: Cpu,
    /// Where it stops.
    stop: u32,
    /// Where it may go when it panics.
    panics: Vec<u32>,
    /// Where its stack may reach, from the lowest address on.
    stack: core::ops::Range<u32>,
    /// The cycles counted so far; of MSP430, as `mspdebug` charges them.
    cycles: u64,
    /// The instructions counted so far, of MSP430.
    instructions: u64,
    /// What counts the cycles of MSP430 by TI's table, doing the same as `mspdebug`.
    second: Option<Msp430>,
}

impl Emulator {
    /// Starts `image`, which will stop whenever it comes to the function `stop`. It stands at its first instruction.
    ///
    /// # Errors
    /// When the emulator of its CPU is not installed or does not do as it should.
    pub fn start(image: &Image, stop: &str) -> Result<Self, Error> {
        let file = TemporaryFile::new(image.bytes()).map_err(Cause::Start)?;
        let stop = image.symbol(stop)?.address;
        let panics = image.panics();
        let stack = match image.cpu() {
            Cpu::Avr => image.symbol("_end")?.address..AVR_RAM_END + 1,
            _ => image.symbol("_bss_end")?.address..image.symbol("_stack_top")?.address,
        };
        let path = file.path().display();
        let (process, connection) = match image.cpu() {
            Cpu::CortexM3 => start_qemu(&format!("{path}"))?,
            Cpu::Msp430 => start_at_port(
                "mspdebug",
                "install the package mspdebug",
                "Bound to port",
                |command, port| {
                    command.args([
                        "-n",
                        "-q",
                        "sim",
                        "simio add hwmult multiplier",
                        "simio add tracer tracer",
                    ]);
                    command.args([&format!("prog {path}"), "reset", &format!("gdb {port}")]);
                },
            )?,
            Cpu::Avr => {
                let remedy = "scripts/emulators.sh makes it and says where; put that folder into PATH";
                start_at_port("simavr-gdb", remedy, "ready", |command, port| {
                    command.args([&format!("{path}"), &port.to_string(), &stop.to_string()]);
                    command.args(panics.iter().take(PANICS).map(u32::to_string));
                })?
            }
        };
        let mut emulator = Self {
            client: Client::new(connection),
            process,
            cpu: image.cpu(),
            stop,
            panics,
            stack,
            cycles: 0,
            instructions: 0,
            second: None,
        };
        emulator.prepare().map_err(|cause| emulator.explain(cause))?;
        Ok(emulator)
    }

    fn prepare(&mut self) -> Result<(), Cause> {
        let len = self.stack_len();
        self.client.write(self.stack.start, &vec![PAINT; len as usize])?;
        self.client.set_breakpoint(self.stop)?;
        for panic in self.panics.iter().take(PANICS) {
            self.client.set_breakpoint(*panic)?;
        }
        if self.cpu == Cpu::Msp430 {
            self.second = Some(self.second()?);
            // What its reset counts for is before the first instruction.
            (self.instructions, self.cycles) = self.counted()?;
            return Ok(());
        }
        self.elapsed()?;
        Ok(())
    }

    /// A second emulator that stands where `mspdebug` does.
    fn second(&mut self) -> Result<Msp430, Cause> {
        let mut memory = vec![0; 0x1_0000];
        // To read a peripheral may have effects.
        let (_, behind) = memory.split_at_mut(PERIPHERALS_END.into());
        self.client.read(PERIPHERALS_END.into(), behind)?;
        let memory = memory.try_into().map_err(|_| Cause::Garbled("m".into()))?;
        let registers = self.client.registers()?;
        let (words, _) = registers.as_chunks::<2>();
        let words = words.first_chunk::<16>().ok_or_else(|| Cause::Garbled("g".into()))?;
        Ok(Msp430::new(memory, words.map(u16::from_le_bytes)))
    }

    /// Lets the image run to its next stop; what that took: cycles on AVR and MSP430; on Cortex-M3 instructions, of
    /// which 2^32 at a time are not told from none.
    ///
    /// # Errors
    /// When the image panics or stops elsewhere, the emulator fails, or on MSP430 the two that count do not agree.
    pub fn resume(&mut self) -> Result<u64, Error> {
        self.try_resume().map_err(|cause| self.explain(cause))
    }

    fn try_resume(&mut self) -> Result<u64, Cause> {
        // QEMU and mspdebug stop again at a breakpoint where they stand.
        if self.program_counter()? == self.stop {
            self.client.step()?;
        }
        match self.client.resume() {
            // It does not come to a stop: it is of use to know where it is.
            Err(Cause::Connection(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                self.client.interrupt()?;
                return Err(Cause::Stuck { pc: self.program_counter()? });
            }
            ran => ran?,
        }
        match self.program_counter()? {
            pc if pc == self.stop => self.elapsed(),
            pc if self.panics.contains(&pc) => Err(Cause::Panicked),
            pc => Err(Cause::Strayed { pc }),
        }
    }

    /// Fills `out` with the memory from `address` on.
    ///
    /// # Errors
    /// When the emulator fails.
    pub fn read(&mut self, address: u32, out: &mut [u8]) -> Result<(), Error> {
        self.client.read(address, out).map_err(|cause| self.explain(cause))
    }

    /// Writes `bytes` to the memory from `address` on.
    ///
    /// # Errors
    /// When the emulator fails.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), Error> {
        if let Some(second) = &mut self.second {
            second.write(address, bytes);
        }
        self.client.write(address, bytes).map_err(|cause| self.explain(cause))
    }

    /// How many bytes of stack the image has used so far: all that lies above the part that still is as it was painted
    /// before the image ran.
    ///
    /// # Errors
    /// When the emulator fails.
    pub fn stack_peak(&mut self) -> Result<u32, Error> {
        let len = self.stack_len();
        let mut stack = vec![0; len as usize];
        self.read(self.stack.start, &mut stack)?;
        let untouched = stack.iter().take_while(|byte| **byte == PAINT).count();
        Ok(len - untouched as u32)
    }

    /// How many bytes of stack there are. A stack that has used them all has grown over something else.
    pub fn stack_len(&self) -> u32 {
        self.stack.end.saturating_sub(self.stack.start)
    }

    /// What is wrong, in the emulator's words too. It has ended then: so they are all there.
    fn explain(&mut self, cause: Cause) -> Error {
        Error { cause, said: self.process.end() }
    }

    fn program_counter(&mut self) -> Result<u32, Cause> {
        let registers = self.client.registers()?;
        let garbled = || Cause::Garbled("g".into());
        let word = |at: usize| registers.get(at..)?.first_chunk::<4>().copied();
        match self.cpu {
            Cpu::CortexM3 => word(4 * CORTEX_M3_PC).map(u32::from_le_bytes).ok_or_else(garbled),
            Cpu::Msp430 => {
                let counter = registers.first_chunk::<2>().copied();
                counter.map(|counter| u16::from_le_bytes(counter).into()).ok_or_else(garbled)
            }
            // After 32 registers, the status register and the stack pointer.
            Cpu::Avr => word(35).map(u32::from_le_bytes).ok_or_else(garbled),
        }
    }

    /// What the image has taken since this was last called.
    fn elapsed(&mut self) -> Result<u64, Cause> {
        let cycles = match self.cpu {
            Cpu::CortexM3 => {
                let mut counter = [0; 4];
                self.client.read(TIM2_CNT, &mut counter)?;
                let counted = u32::from_le_bytes(counter).wrapping_sub(self.cycles as u32);
                self.cycles + u64::from(counted)
            }
            Cpu::Msp430 => return self.elapsed_twice(),
            Cpu::Avr => {
                let mut cycles = [0; 8];
                self.client.read(AVR_CYCLES, &mut cycles)?;
                u64::from_le_bytes(cycles)
            }
        };
        let before = core::mem::replace(&mut self.cycles, cycles);
        cycles.checked_sub(before).ok_or_else(|| Cause::Garbled("the number of cycles".into()))
    }

    /// The instructions and cycles that `mspdebug` has counted.
    fn counted(&mut self) -> Result<(u64, u64), Cause> {
        let printed = self.client.monitor("simio info tracer")?;
        let figure = |name: &str| {
            let text = printed.lines().find_map(|line| line.strip_prefix(name));
            let figure = text.and_then(|text| text.trim().parse().ok());
            figure.ok_or_else(|| Cause::Garbled("simio info tracer".into()))
        };
        Ok((figure("Instruction count:")?, figure("MCLK:")?))
    }

    /// The same for MSP430: the second emulator does as many instructions as `mspdebug` has done, and must come out where
    /// it did, with as many cycles by what `mspdebug` charges. It has counted by TI's table meanwhile.
    fn elapsed_twice(&mut self) -> Result<u64, Cause> {
        let garbled = || Cause::Garbled("simio info tracer".into());
        let (counted, clock) = self.counted()?;
        let pc = self.program_counter()?;
        let instructions = counted.checked_sub(self.instructions).ok_or_else(garbled)?;
        let charged = clock.checked_sub(self.cycles).ok_or_else(garbled)?;
        (self.instructions, self.cycles) = (counted, clock);
        let Some(second) = &mut self.second else { return Ok(charged) };
        let ran = second.run(instructions);
        match ran {
            Some(cycles) if (cycles.charged, second.program_counter().into()) == (charged, pc) => {
                Ok(cycles.exact)
            }
            _ => {
                let second = ran.map(|cycles| (cycles.charged, second.program_counter().into()));
                Err(Cause::Disagreement { instructions, charged, pc, second })
            }
        }
    }
}

/// The stream to an emulator.
enum Connection {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Read for Connection {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(out),
            Self::Tcp(stream) => {
                // mspdebug sends acknowledgement and answer apart, and the kernel holds the second back until it hears
                // of the first: it is to hear at once, not after 40 ms. The option lasts for one read.
                SockRef::from(&*stream).set_tcp_quickack(true)?;
                stream.read(out)
            }
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.flush(),
            Self::Tcp(stream) => stream.flush(),
        }
    }
}

/// QEMU speaks the protocol at its standard input and output, which are a socket of ours.
fn start_qemu(path: &str) -> Result<(Process, Connection), Error> {
    let program = "qemu-system-arm";
    let path_is_there =
        |path: std::ffi::OsString| std::env::split_paths(&path).any(|path| path.join(program).exists());
    if !std::env::var_os("PATH").is_some_and(path_is_there) {
        return Err(Cause::NotInstalled { program, remedy: "install the package qemu-system-arm" }.into());
    }
    let start = || {
        let (ours, its) = UnixStream::pair()?;
        ours.set_read_timeout(Some(PATIENCE))?;
        let (printed, errors) = io::pipe()?;
        // The other two end when their client is gone; QEMU waits for the next one.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", program]);
        command.args(["-M", "netduino2", "-nodefaults", "-display", "none", "-icount", "shift=0", "-S"]);
        command.args(["-gdb", "stdio", "-kernel", path]);
        command.stdin(OwnedFd::from(its.try_clone()?)).stdout(OwnedFd::from(its)).stderr(errors);
        Ok((Process::start(command, printed)?, Connection::Unix(ours)))
    };
    start().map_err(|error| not_started(error, "setpriv", "install the package util-linux").into())
}

/// Starts `program`, which takes a port to listen at and prints a line that begins with `ready` when it does.
fn start_at_port(
    program: &'static str,
    remedy: &'static str,
    ready: &str,
    arguments: impl Fn(&mut Command, u16),
) -> Result<(Process, Connection), Error> {
    let start = || -> io::Result<(Process, u16, bool)> {
        // A port that is free now; the program says whether it still was.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut command = Command::new(program);
        arguments(&mut command, port);
        let printed = print_to_pipe(&mut command)?;
        let mut process = Process::start(command, printed)?;
        let is_ready = process.wait_for(ready, PATIENCE)?;
        Ok((process, port, is_ready))
    };
    let mut said = String::new();
    for _ in 0..PORTS {
        let (mut process, port, is_ready) = start().map_err(|error| not_started(error, program, remedy))?;
        if is_ready {
            let connect = || {
                let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                Ok(stream)
            };
            let stream = connect().map_err(Cause::Connection)?;
            return Ok((process, Connection::Tcp(stream)));
        }
        said = process.end();
    }
    Err(Error { cause: Cause::Start(io::ErrorKind::UnexpectedEof.into()), said })
}

fn print_to_pipe(command: &mut Command) -> io::Result<PipeReader> {
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    Ok(reader)
}

fn not_started(error: io::Error, program: &'static str, remedy: &'static str) -> Cause {
    match error.kind() {
        io::ErrorKind::NotFound => Cause::NotInstalled { program, remedy },
        _ => Cause::Start(error),
    }
}
