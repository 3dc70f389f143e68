//! The `[mac]` of a scenario: the kinds of MAC, their times and their rules.

use sixlock_node::contikimac::Times;
use sixlock_node::{Backoff, Rules};

use crate::error::ScenarioError;
use crate::time::{SYMBOL, Span};
use crate::toml_reader::Section;
use crate::units::parse_span;

use super::checks::{Key, Lines, MAX_BACKOFFS, MAX_BE, MAX_RETRIES};
use super::{Csma, Listen, Mac};

/// The longest of its times.
const LONGEST: Span = Span::from_secs(10);
/// An eighth of a second in symbols, as the times of Contiki 2.6 are multiples of, and its transmissions of a frame after the first.
const CONTIKI_UNIT: u32 = 7812;
const CONTIKI_RETRIES: u64 = 4;

/// Gaps between copies of a frame, in symbols: an assessment of the channel is in one, and two that belong together are not.
const STROBE_GAP: core::ops::RangeInclusive<u16> = 8..=25;

/// The keys that not every choice of `listen` has, and the one that has them.
const LISTEN_KEYS: [(&str, &str); 2] = [("phase_lock", "contikimac"), ("strobe_gap", "contikimac")];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Csma,
    ContikiCsma,
    Null,
}

/// Reads it.
pub(super) fn read(mut section: Section<'_, '_>, lines: &mut Lines) -> Result<(Mac, Listen), ScenarioError> {
    let listen = listen(&mut section)?;
    let kinds = [("csma", Kind::Csma), ("contiki-csma", Kind::ContikiCsma), ("null", Kind::Null)];
    let kind = section.choice("kind", &kinds)?;
    lines.insert(Key::Mac, section.line("kind"));
    let default = Csma::default();
    let csma = match kind {
        Kind::Null => {
            section.finish()?;
            return Ok((Mac::Null, listen));
        }
        Kind::Csma => {
            let max_be = section.integer("max_be", default.max_be.into(), MAX_BE)?;
            let min_be = section.integer("min_be", u64::from(default.min_be).min(max_be), 0..=max_be)?;
            Csma {
                min_be: min_be as u8,
                max_be: max_be as u8,
                max_backoffs: section.integer("max_backoffs", default.max_backoffs.into(), MAX_BACKOFFS)?
                    as u8,
                max_retries: section.integer("max_retries", default.max_retries.into(), MAX_RETRIES)? as u8,
                rules: Rules {
                    backoff: section.choice(
                        "backoff",
                        &[("standard", Backoff::Standard), ("contiki-ng", Backoff::OneLess)],
                    )?,
                    retries_when_busy: section.choice("when_busy", &[("give-up", false), ("retry", true)])?,
                    ..times(&mut section, Rules::STANDARD)?
                },
                ..default
            }
        }
        Kind::ContikiCsma => Csma {
            min_be: 0,
            // It tries a busy channel again without end.
            max_backoffs: u8::MAX,
            max_retries: section.integer("max_retries", CONTIKI_RETRIES, MAX_RETRIES)? as u8,
            rules: times(
                &mut section,
                Rules {
                    unit_backoff: CONTIKI_UNIT,
                    short_pause: 0,
                    long_pause: 0,
                    backoff: Backoff::Linear,
                    ..Rules::STANDARD
                },
            )?,
            ..default
        },
    };
    let csma = Csma { ack: section.boolean("ack", default.ack)?, ..csma };
    section.finish()?;
    Ok((Mac::Csma(csma), listen))
}

/// When radios listen.
fn listen(section: &mut Section<'_, '_>) -> Result<Listen, ScenarioError> {
    let name = section.choice("listen", &[("always", "always"), ("contikimac", "contikimac")])?;
    section.refuse_keys_of_others("listen", name, &LISTEN_KEYS)?;
    if name == "always" {
        return Ok(Listen::Always);
    }
    if section.span("ack_wait").is_some() {
        return Err(section.error(
            "ack_wait",
            "ack_wait: with listen = \"contikimac\" an acknowledgement begins within strobe_gap: set that, or leave ack_wait out",
        ));
    }
    let times = Times::CONTIKI_2_7;
    let gap = section.parsed("strobe_gap", times.gap, |text| {
        let symbols = parse_span(text)?.micros() / SYMBOL;
        let known = u16::try_from(symbols).ok().filter(|gap| STROBE_GAP.contains(gap));
        known.ok_or_else(|| "it is between \"0.128ms\", which an assessment takes, and \"0.4ms\": in a longer one a sleeper would find the channel clear".to_owned())
    })?;
    let phase_lock = section.boolean("phase_lock", true)?;
    Ok(Listen::ContikiMac { times: Times { gap, ..times }, phase_lock })
}

/// The rules with the times that are given.
fn times(section: &mut Section<'_, '_>, default: Rules) -> Result<Rules, ScenarioError> {
    let mut time = |key, default, least: u32| {
        section.parsed(key, default, |text| match parse_span(text)? {
            span if span > LONGEST => Err("it is at most 10s".into()),
            span if !span.micros().is_multiple_of(SYMBOL) => {
                let below = span.micros() / SYMBOL * SYMBOL;
                Err(format!("it is in whole symbols of {SYMBOL}us, such as \"{below}us\""))
            }
            span if span.micros() / SYMBOL < least.into() => Err("it must be longer than nothing".into()),
            span => Ok((span.micros() / SYMBOL) as u32),
        })
    };
    Ok(Rules {
        unit_backoff: time("unit_backoff", default.unit_backoff, 1)?,
        turnaround: time("turnaround", default.turnaround, 0)?,
        ack_turnaround: time("ack_turnaround", default.ack_turnaround, 0)?,
        ack_wait: time("ack_wait", default.ack_wait, 0)?,
        short_pause: time("short_pause", default.short_pause, 0)?,
        long_pause: time("long_pause", default.long_pause, 0)?,
        ..default
    })
}
