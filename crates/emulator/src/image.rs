//! Images as the linker leaves them: ELF files.

use core::fmt;
use std::path::Path;

use object::read::elf::ElfFile32;
use object::{Architecture, Object, ObjectSection, ObjectSymbol};

/// The microcontrollers that images are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cpu {
    /// ARM Cortex-M3.
    CortexM3,
    /// Texas Instruments MSP430.
    Msp430,
    /// Atmel AVR.
    Avr,
}

/// Where something named lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its address. On AVR, that of data is counted from 0x80_0000.
    pub address: u32,
    /// How many bytes it takes.
    pub size: u32,
}

/// Why an image cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageError {
    /// The file cannot be read: the path and why.
    Read(String),
    /// It is no ELF file for one of the microcontrollers.
    Format,
    /// It has no symbol of this name.
    NoSymbol(String),
    /// The symbol of this name has no room for what should be written there, or lies in no part of the file.
    NoRoom(String),
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(why) => write!(f, "cannot read the image {why}"),
            Self::Format => f.write_str("the image is no ELF file for Cortex-M3, MSP430 or AVR"),
            Self::NoSymbol(name) => {
                write!(f, "the image has no symbol `{name}`: was it built for the emulator?")
            }
            Self::NoRoom(name) => write!(f, "the image has no room for what belongs at `{name}`"),
        }
    }
}

impl core::error::Error for ImageError {}

/// An image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    bytes: Vec<u8>,
    cpu: Cpu,
}

impl Image {
    /// The image in the file `path`.
    ///
    /// # Errors
    /// When it cannot be read or is none.
    pub fn read(path: &Path) -> Result<Self, ImageError> {
        let bytes =
            std::fs::read(path).map_err(|error| ImageError::Read(format!("{}: {error}", path.display())))?;
        Self::parse(bytes)
    }

    /// The image in `bytes`.
    ///
    /// # Errors
    /// When they are no image.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, ImageError> {
        let cpu = match elf(&bytes)?.architecture() {
            Architecture::Arm => Cpu::CortexM3,
            Architecture::Msp430 => Cpu::Msp430,
            Architecture::Avr => Cpu::Avr,
            _ => return Err(ImageError::Format),
        };
        Ok(Self { bytes, cpu })
    }

    /// What it runs on.
    pub fn cpu(&self) -> Cpu {
        self.cpu
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where `name` lies.
    ///
    /// # Errors
    /// When there is nothing of that name.
    pub fn symbol(&self, name: &str) -> Result<Symbol, ImageError> {
        let elf = elf(&self.bytes)?;
        let symbol = elf.symbols().find(|symbol| symbol.is_definition() && symbol.name() == Ok(name));
        // `_stack_top` and its like are no definitions of anything, only addresses.
        let symbol = symbol.or_else(|| elf.symbol_by_name(name)).filter(|symbol| !symbol.is_undefined());
        let number = |number: u64| u32::try_from(number).map_err(|_| ImageError::Format);
        let symbol = symbol.ok_or_else(|| ImageError::NoSymbol(name.into()))?;
        // The lowest bit of a function's address says that it is Thumb code.
        let thumb = u64::from(self.cpu == Cpu::CortexM3 && symbol.kind() == object::SymbolKind::Text);
        Ok(Symbol { address: number(symbol.address() & !thumb)?, size: number(symbol.size())? })
    }

    /// Where it may go when it panics: the functions of the core library that end in the panic handler, which is
    /// inlined into them.
    pub(crate) fn panics(&self) -> Vec<u32> {
        let Ok(elf) = elf(&self.bytes) else { return Vec::new() };
        let symbols = elf.symbols().filter(|symbol| symbol.is_definition());
        let names =
            symbols.filter_map(|symbol| symbol.name().ok()).filter(|name| name.contains("4core9panicking"));
        names.filter_map(|name| self.symbol(name).ok()).map(|symbol| symbol.address).collect()
    }

    /// Writes `contents` into what is named `name`.
    ///
    /// # Errors
    /// When there is no such thing, or not enough room.
    pub fn patch(&mut self, name: &str, contents: &[u8]) -> Result<(), ImageError> {
        let symbol = self.symbol(name)?;
        let no_room = || ImageError::NoRoom(name.into());
        let elf = elf(&self.bytes)?;
        let place = elf.sections().find_map(|section| {
            let offset = u64::from(symbol.address).checked_sub(section.address())?;
            let (start, len) = section.file_range()?;
            let room = len.checked_sub(offset)?.min(symbol.size.into());
            (room >= contents.len() as u64).then_some(start.checked_add(offset)?)
        });
        let start = usize::try_from(place.ok_or_else(no_room)?).map_err(|_| no_room())?;
        let end = start.checked_add(contents.len()).ok_or_else(no_room)?;
        self.bytes.get_mut(start..end).ok_or_else(no_room)?.copy_from_slice(contents);
        Ok(())
    }
}

fn elf(bytes: &[u8]) -> Result<ElfFile32<'_>, ImageError> {
    ElfFile32::parse(bytes).map_err(|_| ImageError::Format)
}
