//! The `[radio]` of a scenario: each model has keys of its own.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::ScenarioError;
use crate::random::Probability;
use crate::text_file::read_text;
use crate::toml_reader::Section;
use crate::units::{parse_decibels, parse_drift, parse_length};

use super::beside::beside;
use super::checks::{BURST, Key, Lines};
use super::{LinkTable, LogDistance, Radio, RadioModel};

/// The keys that not every model has, and the model that has them.
const KEYS: [(&str, &str); 13] = [
    ("range", "unit-disk"),
    ("interference", "unit-disk"),
    ("one_way", "unit-disk"),
    ("loss_at_range", "unit-disk"),
    ("links", "links"),
    ("exponent", "log-distance"),
    ("reference_loss", "log-distance"),
    ("reference_distance", "log-distance"),
    ("transmit_power", "log-distance"),
    ("sensitivity", "log-distance"),
    ("floor", "log-distance"),
    ("shadowing", "log-distance"),
    ("capture", "log-distance"),
];

/// Reads it; the scenario stands in `file`, and the file of links joins `files`.
pub(super) fn read(
    mut section: Section<'_, '_>,
    file: &str,
    default: Radio,
    (lines, files): (&mut Lines, &mut Vec<PathBuf>),
) -> Result<Radio, ScenarioError> {
    let models = [("unit-disk", "unit-disk"), ("links", "links"), ("log-distance", "log-distance")];
    let name = section.choice("model", &models)?;
    section.refuse_keys_of_others("model", name, &KEYS)?;
    if name == "links" && section.span("loss").is_some() {
        return Err(section.error("loss", "the file of links says how likely frames arrive: leave loss out"));
    }
    let range = section.parsed("range", default.range, parse_length)?;
    let interference = section.parsed("interference", range, parse_length)?;
    let one_way = probability(&mut section, "one_way")?.unwrap_or(default.one_way);
    let loss = probability(&mut section, "loss")?.unwrap_or(default.loss);
    let loss_at_range = probability(&mut section, "loss_at_range")?;
    let burst = section.optional_integer("burst", BURST)?.map(|burst| burst as u32);
    let drift = section.parsed("drift", default.drift, parse_drift)?;
    let links = section.string("links")?;
    let log_distance = read_log_distance(&mut section)?;
    let model = match name {
        "links" => {
            let (path, table) = read_links(&section, file, links)?;
            files.push(path);
            RadioModel::Links(Arc::new(table))
        }
        "log-distance" => RadioModel::LogDistance(log_distance),
        _ => RadioModel::UnitDisk { loss_at_range },
    };
    let keys = [
        (Key::Range, "range"),
        (Key::Interference, "interference"),
        (Key::Burst, "burst"),
        (Key::LossAtRange, "loss_at_range"),
        (Key::Links, "links"),
        (Key::Floor, "floor"),
    ];
    lines.extend(keys.map(|(key, name)| (key, section.line(name))));
    section.finish()?;
    Ok(Radio { range, interference, one_way, loss, burst, drift, model })
}

/// The probability at `key`, if it is there.
fn probability(
    section: &mut Section<'_, '_>,
    key: &'static str,
) -> Result<Option<Probability>, ScenarioError> {
    let number = section.float(key, 0.0)?;
    let wrong = || section.error(key, format!("{key} is a probability between 0.0 and 1.0"));
    let probability = Probability::new(number).ok_or_else(wrong)?;
    Ok(section.span(key).map(|_| probability))
}

fn read_log_distance(section: &mut Section<'_, '_>) -> Result<LogDistance, ScenarioError> {
    let default = LogDistance::default();
    let exponent = section.float("exponent", default.exponent)?;
    if !(1.0..=10.0).contains(&exponent) {
        return Err(section.error("exponent", "exponent: path loss exponents lie between 1.0 and 10.0"));
    }
    let reference_distance =
        section.parsed("reference_distance", default.reference_distance, parse_length)?;
    if reference_distance < 100 {
        return Err(section.error("reference_distance", "reference_distance: it is at least 0.1m"));
    }
    let mut level = |key, default| section.parsed(key, default, |text| parse_decibels(text, "dBm"));
    let transmit_power = level("transmit_power", default.transmit_power)?;
    let sensitivity = level("sensitivity", default.sensitivity)?;
    let floor = level("floor", default.floor.min(sensitivity))?;
    let mut loss = |key, default| section.parsed(key, default, parse_loss);
    Ok(LogDistance {
        reference_loss: loss("reference_loss", default.reference_loss)?,
        shadowing: loss("shadowing", default.shadowing)?,
        capture: loss("capture", default.capture)?,
        reference_distance,
        exponent,
        transmit_power,
        sensitivity,
        floor,
    })
}

fn parse_loss(text: &str) -> Result<f64, String> {
    match parse_decibels(text, "dB")? {
        loss if loss < 0.0 => Err("it is 0dB or more".into()),
        loss => Ok(loss),
    }
}

/// The path of the file that is called so, beside the scenario, and the links in it.
fn read_links(
    section: &Section<'_, '_>,
    scenario: &str,
    name: Option<&str>,
) -> Result<(PathBuf, LinkTable), ScenarioError> {
    let Some(name) = name else {
        return Err(section.error(
            "model",
            "model = \"links\" needs links, the file that lists them: links = \"links.csv\"",
        ));
    };
    let path = beside(scenario, name);
    let text = read_text(&path)
        .map_err(|error| section.error("links", format!("cannot read {}: {error}", path.display())))?;
    let table = LinkTable::parse(&path.display().to_string(), &text)?;
    Ok((path, table))
}
