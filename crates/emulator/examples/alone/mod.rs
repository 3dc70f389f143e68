//! Images of `firmware/alone` in their emulators, which take datagrams and send some.

use std::path::Path;
use std::process::ExitCode;

use sixlock_base::Entropy;
use sixlock_emulator::{Emulator, Image};
use sixlock_testing::Random;

/// What an image and these programs tell each other: `firmware/alone/src/lib.rs`.
const LENGTH: u32 = 0;
const ENTROPY: u32 = 11;
const ENTROPY_LEN: usize = 64;
const DATAGRAM: u32 = ENTROPY + ENTROPY_LEN as u32;
pub(crate) const DATAGRAM_LEN: usize = 256;

pub(crate) type Failure = Box<dyn std::error::Error>;

/// An image, in its emulator.
pub(crate) struct Device {
    emulator: Emulator,
    block: u32,
}

impl Device {
    pub(crate) fn start(path: &Path) -> Result<Self, Failure> {
        let image = &Image::read(path)?;
        let block = image.symbol("EXCHANGE")?.address;
        let mut emulator = Emulator::start(image, "exchange")?;
        emulator.resume()?;
        Ok(Self { emulator, block })
    }

    /// Hands it a datagram, which may be empty; what it sends.
    pub(crate) fn task(&mut self, datagram: &[u8], entropy: &mut Random) -> Result<Vec<u8>, Failure> {
        let mut random = [0; ENTROPY_LEN];
        entropy.fill(&mut random);
        self.emulator.write(self.block + ENTROPY, &random)?;
        self.emulator.write(self.block + DATAGRAM, datagram)?;
        self.emulator.write(self.block + LENGTH, &u16::try_from(datagram.len())?.to_le_bytes())?;
        self.emulator.resume()?;
        let mut length = [0; 2];
        self.emulator.read(self.block + LENGTH, &mut length)?;
        let mut sent = vec![0; usize::from(u16::from_le_bytes(length)).min(DATAGRAM_LEN)];
        self.emulator.read(self.block + DATAGRAM, &mut sent)?;
        Ok(sent)
    }

    /// How many bytes of stack it has used so far.
    pub(crate) fn stack_peak(&mut self) -> Result<u32, Failure> {
        let (peak, room) = (self.emulator.stack_peak()?, self.emulator.stack_len());
        if peak < room { Ok(peak) } else { Err("it needs more stack than there is".into()) }
    }
}

/// Prints what `measure` says of the image in each of these files.
pub(crate) fn print_stacks(
    paths: impl Iterator<Item = String>,
    measure: impl Fn(&Path) -> Result<u32, Failure>,
) -> ExitCode {
    for path in paths {
        match measure(Path::new(&path)) {
            Ok(stack) => println!("{stack}"),
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
