//! What is in an image, and how much room it takes.

use std::path::Path;

use object::read::elf::{ElfFile32, ElfSymbol32};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use regex::Regex;

use crate::failure::Failure;

/// What no device may contain: allocation, formatting, 64-bit multiplication and division, floating point.
const FORBIDDEN: &str = concat!(
    "__rust_alloc|__rg_alloc|^malloc$|core3fmt|^_?_?u?(div|mod|divmod)di[34]$",
    "|^__(u?(div|mod|mul)|mulo|ash[lr]|lshr)ti[34]$|^__aeabi_u?ldivmod",
    "|^__mspabi_(mpyll|divull|divlli|remull|remlli|divu?ll|remu?ll)|^__(mul|u?div|u?mod)di3",
    "|^__(add|sub|mul|div)[sd]f3|^__aeabi_[fd](add|sub|mul|div)|^__mspabi_[a-z]*[fd]$",
);

/// How much room an image takes, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Of flash.
    pub(crate) flash: u64,
    /// Of RAM, before the stack.
    pub(crate) ram: u64,
}

impl Size {
    /// That of the image in `file`.
    pub(crate) fn of(file: &Path) -> Result<Self, Failure> {
        let bytes = read(file)?;
        let elf = elf(file, &bytes)?;
        let mut size = Self::default();
        for section in elf.sections() {
            let bytes = section.size();
            match section.name()? {
                ".data" => {
                    size.flash += bytes;
                    size.ram += bytes;
                }
                ".bss" => size.ram += bytes,
                name if [".vector", ".text", ".rodata", ".device"]
                    .iter()
                    .any(|part| name.starts_with(part)) =>
                {
                    size.flash += bytes;
                }
                _ => {}
            }
        }
        Ok(size)
    }

    /// What it takes more than `other`.
    pub(crate) const fn beyond(self, other: Self) -> Self {
        Self { flash: self.flash.saturating_sub(other.flash), ram: self.ram.saturating_sub(other.ram) }
    }
}

/// The symbols in the image `file` that no device may contain.
pub(crate) fn forbidden(file: &Path) -> Result<Vec<String>, Failure> {
    let bytes = read(file)?;
    let forbidden = Regex::new(FORBIDDEN)?;
    let elf = elf(file, &bytes)?;
    let names = elf.symbols().filter_map(|symbol| symbol.name().ok().map(str::to_owned));
    Ok(names.filter(|name| forbidden.is_match(name)).collect())
}

/// How many bytes of code sections are no code but constants: on AVR those that are not copied to RAM at start.
pub(crate) fn constants_in_flash(file: &Path) -> Result<u64, Failure> {
    let bytes = read(file)?;
    let elf = elf(file, &bytes)?;
    let code: Vec<_> = elf.sections().filter(|section| section.kind() == SectionKind::Text).collect();
    let is_in_code = |symbol: &ElfSymbol32<'_, '_>| {
        symbol.section_index().is_some_and(|index| code.iter().any(|section| section.index() == index))
    };
    let constants = elf.symbols().filter(|symbol| symbol.kind() == SymbolKind::Data && is_in_code(symbol));
    Ok(constants.map(|symbol| symbol.size()).sum())
}

/// How large what is called `symbol` is in the image `file`.
pub(crate) fn size_of_symbol(file: &Path, symbol: &str) -> Result<u64, Failure> {
    let bytes = read(file)?;
    let found =
        elf(file, &bytes)?.symbols().find(|found| found.name() == Ok(symbol)).map(|found| found.size());
    found.ok_or_else(|| format!("{}: it has no {symbol}", file.display()).into())
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()).into())
}

fn elf<'a>(file: &Path, bytes: &'a [u8]) -> Result<ElfFile32<'a>, Failure> {
    ElfFile32::parse(bytes).map_err(|error| format!("{}: {error}", file.display()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_devices_may_not_contain_is_told_by_its_symbols() {
        let forbidden = Regex::new(FORBIDDEN).unwrap();
        for symbol in [
            "__rust_alloc",
            "malloc",
            "_ZN4core3fmt5write17h0E",
            "__udivdi3",
            "__divmoddi4",
            "__aeabi_uldivmod",
            "__multi3",
            "__ashlti3",
            "__adddf3",
            "__mspabi_divull",
            "__aeabi_fadd",
            "__mspabi_addf",
        ] {
            assert!(forbidden.is_match(symbol), "{symbol}");
        }
        for symbol in ["memcpy", "__udivsi3", "__aeabi_uidiv", "__mspabi_divu", "__mspabi_mpyl", "mallocate"]
        {
            assert!(!forbidden.is_match(symbol), "{symbol}");
        }
    }
}
