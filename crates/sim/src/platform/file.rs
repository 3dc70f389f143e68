//! Files of boards: TOML, in which each figure has a source.

use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;

use crate::accelerator::Accelerator;
use crate::chip::Chip;
use crate::device_backend::DeviceBackend;
use crate::energest::TICKS;
use crate::error::ScenarioError;
use crate::profile::{Profile, Storage};
use crate::text_file::read_text;
use crate::toml_reader::{Section, Source};
use crate::units::{
    parse_bytes, parse_current, parse_frequency, parse_nanoseconds, parse_ticks, parse_voltage,
    parse_word_time,
};

use super::{Board, Platform};

/// What a radio must keep to receive the longest frame: a byte of length and the frame.
const LONGEST_FRAME: u32 = 1 + 127;

impl Platform {
    /// The board that the file at `path` describes.
    ///
    /// # Errors
    /// Says what is wrong in it and where.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let text = read_text(path)
            .map_err(|error| ScenarioError::of_file(&file, format!("cannot read the board: {error}")))?;
        let platform = Self::parse(&file, &text)?;
        if platform.is_shipped() {
            let name = platform.name();
            let message = format!("name: \"{name}\" is shipped: give your own board another name");
            return Err(ScenarioError::of_file(file, message));
        }
        Ok(platform)
    }

    /// The board that `text` describes; errors call it `file`.
    ///
    /// # Errors
    /// Says what is wrong in it and where.
    pub(super) fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let source = Source { file, text };
        let document = DeTable::parse(text)
            .map_err(|error| source.error(error.span().unwrap_or(0..0), error.message()))?;
        let mut top = Section::new(source, "the board", document.get_ref());
        let name = named(&mut top, "name")?;
        let microcontroller = named(&mut top, "microcontroller")?;
        let is_emulated = top.boolean("emulated", false)?;
        let chip = figure(&mut top, "costs", Chip::named)?;
        let cycles_per_cost = figure(&mut top, "cycles", parse_ratio)?;
        let kilohertz = figure(&mut top, "clock", parse_frequency)?;
        let millivolts = figure(&mut top, "voltage", parse_voltage)?;
        let energest = optional_figure(&mut top, "energest", parse_ticks)?.unwrap_or(TICKS);
        let mut current = top.section("current", "[current]")?;
        let cpu = figure(&mut current, "cpu", parse_current)?;
        let lpm = figure(&mut current, "lpm", parse_current)?;
        let tx = figure(&mut current, "tx", parse_current)?;
        let rx = figure(&mut current, "rx", parse_current)?;
        let listen = figure(&mut current, "listen", parse_current)?;
        let off = optional_figure(&mut current, "off", parse_current)?;
        let engine = optional_figure(&mut current, "engine", parse_current)?;
        current.finish()?;
        let storage = storage(&mut top)?;
        let mut radio = top.section("radio", "[radio]")?;
        let bus_byte = optional_figure(&mut radio, "bus_byte", parse_nanoseconds)?.unwrap_or(0);
        let receive_fifo = figure(&mut radio, "receive_fifo", parse_fifo)?;
        let accelerator = optional_figure(&mut radio, "engine", parse_accelerator)?;
        radio.finish()?;
        top.finish()?;
        let profile = Profile {
            kilohertz,
            cycles_per_cost,
            millivolts,
            cpu,
            lpm,
            tx,
            rx,
            listen,
            off,
            engine,
            storage,
            energest,
            bus_byte,
            receive_fifo,
        };
        let backend = DeviceBackend::default();
        Ok(Self(Arc::new(Board { name, microcontroller, chip, is_emulated, profile, accelerator, backend })))
    }
}

/// What writing to storage takes, if the board says so.
fn storage(top: &mut Section<'_, '_>) -> Result<Option<Storage>, ScenarioError> {
    let is_there = top.span("storage").is_some();
    let mut section = top.section("storage", "[storage]")?;
    if !is_there {
        return Ok(None);
    }
    let word = figure(&mut section, "word", parse_word)?;
    let word_time = figure(&mut section, "word_time", parse_word_time)?;
    let current = figure(&mut section, "current", parse_current)?;
    section.finish()?;
    Ok(Some(Storage { word, word_time, current }))
}

fn parse_word(text: &str) -> Result<u32, String> {
    match parse_bytes(text)? {
        bytes @ 1..=4096 => Ok(bytes),
        _ => Err("a word of storage has 1B to 4096B".into()),
    }
}

/// The string at `key`, which must be there.
fn named(section: &mut Section<'_, '_>, key: &'static str) -> Result<String, ScenarioError> {
    match section.string(key)? {
        Some(text) if !text.trim().is_empty() => Ok(text.into()),
        _ => Err(section.error(key, format!("a board needs a {key}"))),
    }
}

/// The figure at `key`, which must be there.
fn figure<T>(
    section: &mut Section<'_, '_>,
    key: &'static str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, ScenarioError> {
    let found = optional_figure(section, key, parse)?;
    found.ok_or_else(|| {
        section.error(key, format!("{key} is missing: {key} = {{ value = \"…\", source = \"…\" }}"))
    })
}

/// The figure at `key`, if it is there: a value, and where it is from.
fn optional_figure<T>(
    section: &mut Section<'_, '_>,
    key: &'static str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, ScenarioError> {
    if section.span(key).is_none() {
        // It is known to be a key all the same.
        section.section(key, key)?;
        return Ok(None);
    }
    let mut figure = section.section(key, key)?;
    if figure.string("source")?.is_none_or(|source| source.trim().is_empty()) {
        return Err(section.error(key, format!("{key} has no source: say where its value is from")));
    }
    let value = figure.parsed("value", None, |text| parse(text).map(Some))?;
    let value = value.ok_or_else(|| section.error(key, format!("{key} has no value")))?;
    figure.finish()?;
    Ok(Some(value))
}

/// A ratio of two whole numbers, or one: `4/3`, `1`.
fn parse_ratio(text: &str) -> Result<(u64, u64), String> {
    let (cycles, units) = text.split_once('/').unwrap_or((text, "1"));
    let number = |text: &str| text.trim().parse().ok().filter(|number| (1..=1000).contains(number));
    match (number(cycles), number(units)) {
        (Some(cycles), Some(units)) => Ok((cycles, units)),
        _ => Err(format!("\"{text}\" is not a ratio such as \"1\" or \"4/3\", of numbers from 1 to 1000")),
    }
}

fn parse_fifo(text: &str) -> Result<usize, String> {
    match parse_bytes(text)? {
        bytes if bytes >= LONGEST_FRAME => Ok(bytes as usize),
        _ => Err(format!("the longest frame and its length need {LONGEST_FRAME}B")),
    }
}

fn parse_accelerator(text: &str) -> Result<Accelerator, String> {
    let found = Accelerator::ALL.iter().find(|(name, _)| *name == text);
    found.map(|&(_, accelerator)| accelerator).ok_or_else(|| {
        let names = Accelerator::ALL.map(|(name, _)| format!("\"{name}\"")).join(" or ");
        format!("\"{text}\" is not {names}: leave it out if the times of the board's engine are not known")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENMOTE: &str = include_str!("../../boards/openmote.toml");

    #[test]
    fn a_file_says_all_that_a_board_is() {
        let text = OPENMOTE.replace("name = \"openmote\"", "name = \"mine\"");
        let mine = Platform::parse("f", &text.replace("32MHz", "16MHz")).unwrap();
        let openmote = Platform::openmote();
        assert_eq!(mine.name(), "mine");
        assert_eq!(mine.profile(), &Profile { kilohertz: 16_000, ..*openmote.profile() });
        assert_eq!((mine.chip(), mine.accelerator()), (Chip::CortexM3, Some(Accelerator::Cc2538)));
        assert_ne!(mine, openmote);
    }

    #[test]
    fn what_is_wrong_in_a_file_is_named_with_its_line() {
        for (from, to, message) in [
            ("name = \"openmote\"", "", "f:1: a board needs a name"),
            (
                ", source = \"CC2538 user's guide (SWRU319)\" }\nvoltage",
                " }\nvoltage",
                "f:7: clock has no source: say where its value is from",
            ),
            ("\"its own core\"", "\" \"", "f:5: costs has no source: say where its value is from"),
            (
                "\"cortex-m3\"",
                "\"cortex-m4\"",
                "f:5: value: cortex-m4 is not cortex-m3, msp430f1611 or atmega128",
            ),
            (
                "4/3",
                "4/0",
                "f:6: value: \"4/0\" is not a ratio such as \"1\" or \"4/3\", of numbers from 1 to 1000",
            ),
            ("32MHz", "0MHz", "f:7: value: a clock has 1kHz to 10GHz"),
            ("\"3V\"", "\"3\"", "f:8: value: \"3\" is not a voltage such as \"3V\" or \"3300mV\""),
            ("13mA", "13", "f:12: value: \"13\" is not a current such as \"1.8mA\" or \"54.5uA\""),
            ("lpm", "lmp", "f:11: lpm is missing: lpm = { value = \"…\", source = \"…\" }"),
            ("128B", "64B", "f:19: value: the longest frame and its length need 128B"),
            (
                "engine",
                "motor",
                "f:20: unknown key `motor` in [radio]; it has `bus_byte`, `engine`, `receive_fifo`",
            ),
        ] {
            let wrong = Platform::parse("f", &OPENMOTE.replacen(from, to, 1)).unwrap_err().to_string();
            assert_eq!(wrong, message);
        }
    }
}
