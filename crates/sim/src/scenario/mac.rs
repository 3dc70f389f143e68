//! The `[mac]` of a scenario: the kinds of MAC, their times and their rules.

use core::num::NonZeroU16;

use sixlock_node::contikimac::Times;
use sixlock_node::mac::tsch::{Slotframes, TschConfig};
use sixlock_node::{Backoff, Rules};

use crate::error::ScenarioError;
use crate::time::{SYMBOL, Span};
use crate::toml_reader::Section;
use crate::units::parse_span;

use super::checks::{Key, Lines, MAX_BACKOFFS, MAX_BE, MAX_RETRIES, SLOTFRAME};
use super::{Csma, Listen, Mac};

/// The longest of its times.
const LONGEST: Span = Span::from_secs(10);
/// Transmissions of a frame after the first by Contiki 2.6.
const CONTIKI_RETRIES: u64 = 4;

/// Ticks of a clock in a unit of waits.
const BACKOFF_TICKS: core::ops::RangeInclusive<u64> = 1..=1000;

/// Gaps between copies of a frame, in symbols: an assessment of the channel is in one, and two that belong together are not.
const STROBE_GAP: core::ops::RangeInclusive<u16> = 8..=25;

/// The keys that not every choice of `listen` has, and the one that has them.
const LISTEN_KEYS: [(&str, &str); 7] = [
    ("phase_lock", "contikimac"),
    ("strobe_gap", "contikimac"),
    ("poll", "sleepy"),
    ("shared_slotframe", "tsch"),
    ("beacon_slotframe", "tsch"),
    ("unicast_slotframe", "tsch"),
    ("guard", "tsch"),
];

/// How long a node may listen before and after a frame should begin, in microseconds.
const GUARD: core::ops::RangeInclusive<u16> = 160..=1100;

/// The longest time between data requests: that where it is not said, and the limits. A parent forgets who has not asked for ten minutes.
const POLL: Span = Span::from_secs(30);
const SHORTEST_POLL: Span = Span::from_micros(125_000);
const LONGEST_POLL: Span = Span::from_secs(300);

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Csma,
    ContikiCsma,
    Null,
}

/// Reads it.
pub(super) fn read(mut section: Section<'_, '_>, lines: &mut Lines) -> Result<(Mac, Listen), ScenarioError> {
    let listen = listen(&mut section)?;
    lines.insert(Key::Mac, section.line("listen"));
    if let Listen::Tsch { .. } = listen {
        let mac = slotted(&mut section)?;
        section.finish()?;
        return Ok((mac, listen));
    }
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
                    backoff: backoff(&mut section)?,
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
            rules: times(&mut section, Rules::CONTIKI)?,
            ..default
        },
    };
    let csma = Csma { ack: section.boolean("ack", default.ack)?, ..csma };
    section.finish()?;
    Ok((Mac::Csma(csma), listen))
}

/// When radios listen.
fn listen(section: &mut Section<'_, '_>) -> Result<Listen, ScenarioError> {
    let choices = ["always", "contikimac", "sleepy", "tsch"].map(|name| (name, name));
    let name = section.choice("listen", &choices)?;
    section.refuse_keys_of_others("listen", name, &LISTEN_KEYS)?;
    match name {
        "contikimac" => contikimac(section),
        "sleepy" => sleepy(section),
        "tsch" => tsch(section),
        _ => Ok(Listen::Always),
    }
}

fn sleepy(section: &mut Section<'_, '_>) -> Result<Listen, ScenarioError> {
    let poll = section.parsed("poll", POLL, |text| match parse_span(text)? {
        span if span < SHORTEST_POLL || span > LONGEST_POLL => {
            Err("it is between \"125ms\" and \"5min\"".to_owned())
        }
        span => Ok(span),
    })?;
    Ok(Listen::Sleepy { poll })
}

fn contikimac(section: &mut Section<'_, '_>) -> Result<Listen, ScenarioError> {
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

/// The slotframes of TSCH.
fn tsch(section: &mut Section<'_, '_>) -> Result<Listen, ScenarioError> {
    let TschConfig { slotframes: Slotframes { shared, beacons, unicast }, guard, .. } = TschConfig::DEVICE;
    let mut length = |key, default: u16| {
        section.integer(key, default.into(), SLOTFRAME).map(|length| u16::try_from(length).unwrap_or(default))
    };
    let slotframes = Slotframes {
        shared: length("shared_slotframe", shared)?,
        beacons: beacons.map(|default| length("beacon_slotframe", default)).transpose()?,
        unicast: unicast.map(|default| length("unicast_slotframe", default)).transpose()?,
    };
    let guard = section.parsed("guard", guard, |text| {
        let micros = u16::try_from(parse_span(text)?.micros()).ok();
        let known = micros.filter(|guard| GUARD.contains(guard));
        known
            .map(Some)
            .ok_or_else(|| "it is between \"0.16ms\" and \"1.1ms\", which is that of RFC 8180".to_owned())
    })?;
    Ok(Listen::Tsch { slotframes, guard })
}

/// How frames in links that several send in are sent again.
fn slotted(section: &mut Section<'_, '_>) -> Result<Mac, ScenarioError> {
    section.choice("kind", &[("csma", ())])?;
    let max_be = section.integer("max_be", 5, MAX_BE)?;
    Ok(Mac::Csma(Csma {
        min_be: section.integer("min_be", 1, 0..=max_be)? as u8,
        max_be: max_be as u8,
        max_retries: section.integer("max_retries", 7, MAX_RETRIES)? as u8,
        ..Csma::default()
    }))
}

/// How waits are drawn.
fn backoff(section: &mut Section<'_, '_>) -> Result<Backoff, ScenarioError> {
    let name = section.choice("backoff", &["standard", "contiki-ng"].map(|name| (name, name)))?;
    section.refuse_keys_of_others("backoff", name, &[("backoff_ticks", "contiki-ng")])?;
    if name == "standard" {
        return Ok(Backoff::Standard);
    }
    let ticks = section.integer("backoff_ticks", 1, BACKOFF_TICKS)?;
    Ok(Backoff::Ticks(u16::try_from(ticks).ok().and_then(NonZeroU16::new).unwrap_or(NonZeroU16::MIN)))
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
