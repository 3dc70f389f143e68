//! `sixlock keys import`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use sixlock_base::{ParseSecurityError, Security};
use sixlock_cloud::LONGEST_IMPORT;

use super::enrolment::{EnrolledDevice, NewDevice, NotImported};
use super::registry::Registry;
use crate::args::KeysImport;
use crate::progress;

/// Mistakes that are told; there may be as many as lines.
const TOLD: usize = 20;

/// A device and the line it stands in.
struct Row {
    line: u64,
    device: NewDevice,
}

pub(crate) fn run(args: &KeysImport) -> Result<(), Box<dyn Error>> {
    let file = File::open(&args.file).map_err(|error| format!("{}: {error}", args.file.display()))?;
    let rows = read(file).map_err(|mistakes| report(&args.file, &mistakes))?;
    let out = args.out.clone().unwrap_or_else(|| args.file.with_extension("keys.csv"));
    if !args.dry_run && out.exists() {
        return Err(format!("{} exists; choose another file with --out", out.display()).into());
    }
    let registry = Registry::open(&args.cloud)?;
    for_each_batch("Checking", &args.file, &rows, |batch| registry.import(batch, true).map(drop), 0)?;
    if args.dry_run {
        to_stdout!("{} devices can be enrolled", rows.len());
        return registry.close();
    }
    let mut keys = Keys::create(&out)?;
    let enrol =
        |batch| keys.write(&registry.import(batch, false)?).map_err(|error| NotImported::Other(error.into()));
    for_each_batch("Enrolling", &args.file, &rows, enrol, 1)?;
    to_stdout!("{} devices are enrolled; the keys made for them are in {} only", rows.len(), out.display());
    registry.close()
}

/// Hands the devices on, as many as go together.
fn for_each_batch(
    what: &'static str,
    path: &Path,
    rows: &[Row],
    mut batch: impl FnMut(Vec<NewDevice>) -> Result<(), NotImported>,
    first_kept: usize,
) -> Result<(), Box<dyn Error>> {
    let bar = progress::bar(what, rows.len() as u64);
    for (n, some) in rows.chunks(LONGEST_IMPORT).enumerate() {
        let outcome = batch(some.iter().map(|row| row.device.clone()).collect());
        let error: Box<dyn Error> = match outcome {
            Ok(()) => {
                bar.inc(some.len() as u64);
                continue;
            }
            Err(NotImported::Other(error)) => error,
            Err(NotImported::Devices(bad)) => {
                let line = |device: usize| some.get(device).map_or(0, |row| row.line);
                let mistakes: Vec<_> = bad.into_iter().map(|bad| (line(bad.device), bad.why)).collect();
                report(path, &mistakes).into()
            }
        };
        bar.finish_and_clear();
        if first_kept > 0 && n > 0 {
            let last = rows[n * LONGEST_IMPORT - 1].line;
            return Err(format!(
                "{error}\nthe devices up to line {last} are enrolled and their keys written; remove them from the \
                 file and import the rest, with another --out"
            )
            .into());
        }
        return Err(error);
    }
    bar.finish_and_clear();
    Ok(())
}

fn report(path: &Path, mistakes: &[(u64, String)]) -> String {
    let mut text = String::from("nothing is enrolled of what follows");
    for (line, why) in mistakes.iter().take(TOLD) {
        text += &format!("\n{}:{line}: {why}", path.display());
    }
    if mistakes.len() > TOLD {
        text += &format!("\nand {} more", mistakes.len() - TOLD);
    }
    text
}

/// The devices of a file, or all mistakes in it with their lines.
fn read(mut file: impl Read) -> Result<Vec<Row>, Vec<(u64, String)>> {
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(|error| vec![(1, error.to_string())])?;
    let text = with_short_line_ends(&text);
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_slice());
    let columns = match reader.headers() {
        Ok(names) => Columns::find(names).map_err(|why| vec![(1, why)])?,
        Err(error) => return Err(vec![mistake(&error)]),
    };
    let (mut rows, mut mistakes) = (Vec::new(), Vec::new());
    let (mut labels, mut identities) = (HashMap::new(), HashMap::new());
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                mistakes.push(mistake(&error));
                continue;
            }
        };
        let line = record.position().map_or(0, csv::Position::line);
        match columns.device(&record) {
            Ok(device) => {
                let identity = device.identity.as_ref().unwrap_or(&device.label).clone();
                let label = (device.label.clone(), &mut labels, "label");
                for (name, seen, kind) in [label, (identity, &mut identities, "identity")] {
                    if let Some(first) = seen.insert(name.clone(), line) {
                        mistakes.push((line, format!("{kind} {name} stands in line {first} already")));
                    }
                }
                rows.push(Row { line, device });
            }
            Err(why) => mistakes.push((line, why)),
        }
    }
    if rows.is_empty() && mistakes.is_empty() {
        mistakes.push((1, "there is no device behind the column names".into()));
    }
    if mistakes.is_empty() { Ok(rows) } else { Err(mistakes) }
}

/// The same without the carriage returns of a spreadsheet's line ends, behind which the reader counts lines too late.
fn with_short_line_ends(text: &[u8]) -> Vec<u8> {
    let next = text.iter().skip(1).map(Some).chain([None]);
    let is_kept = |(byte, next): &(&u8, Option<&u8>)| **byte != b'\r' || *next != Some(&b'\n');
    text.iter().zip(next).filter(is_kept).map(|(byte, _)| *byte).collect()
}

fn mistake(error: &csv::Error) -> (u64, String) {
    let line = error.position().map_or(1, csv::Position::line);
    let why = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} columns instead of {expected_len}")
        }
        csv::ErrorKind::Utf8 { .. } => "this is not UTF-8".into(),
        _ => error.to_string(),
    };
    (line, why)
}

/// Which column is which.
struct Columns {
    label: usize,
    mode: usize,
    identity: Option<usize>,
    key: Option<usize>,
    tags: Option<usize>,
    folder: Option<usize>,
    period: Option<usize>,
    profile: Option<usize>,
}

impl Columns {
    fn find(names: &csv::StringRecord) -> Result<Self, String> {
        const KNOWN: [&str; 8] =
            ["label", "mode", "identity", "key", "tags", "folder", "period_s", "profile"];
        if let Some(unknown) = names.iter().find(|name| !KNOWN.contains(name)) {
            return Err(format!("there is no column {unknown:?}; known are {}", KNOWN.join(", ")));
        }
        let at = |wanted: &str| names.iter().position(|name| name == wanted);
        if let Some(twice) = names.iter().enumerate().find(|(n, name)| at(name) != Some(*n)) {
            return Err(format!("column {:?} stands there twice", twice.1));
        }
        let missing = |name| format!("column {name} is missing; the first line names the columns");
        Ok(Self {
            label: at("label").ok_or_else(|| missing("label"))?,
            mode: at("mode").ok_or_else(|| missing("mode"))?,
            identity: at("identity"),
            key: at("key"),
            tags: at("tags"),
            folder: at("folder"),
            period: at("period_s"),
            profile: at("profile"),
        })
    }

    fn device(&self, record: &csv::StringRecord) -> Result<NewDevice, String> {
        let field = |column: usize| record.get(column).unwrap_or_default().to_owned();
        let optional = |column: Option<usize>| column.map(field).filter(|text| !text.is_empty());
        let label = field(self.label);
        if label.is_empty() {
            return Err("the label is missing".into());
        }
        let mode: Security =
            field(self.mode).parse().map_err(|error: ParseSecurityError| format!("mode: {error}"))?;
        Ok(NewDevice {
            label,
            mode: mode.to_string(),
            identity: optional(self.identity),
            key: optional(self.key),
            tags: optional(self.tags)
                .map_or_else(Vec::new, |tags| tags.split(',').map(str::to_owned).collect()),
            folder: optional(self.folder).unwrap_or_default(),
            period_s: optional(self.period).map(|period| seconds(&period)).transpose()?,
            profile: optional(self.profile),
            ..NewDevice::default()
        })
    }
}

fn seconds(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("period_s: {text:?} is no number of seconds"))
}

/// The file of keys that were made.
struct Keys {
    path: PathBuf,
    writer: csv::Writer<File>,
}

impl Keys {
    fn create(path: &Path) -> Result<Self, Box<dyn Error>> {
        let file = File::options().write(true).create_new(true).mode(0o600).open(path);
        let file = file.map_err(|error| format!("{}: {error}", path.display()))?;
        let mut keys = Self { path: path.to_owned(), writer: csv::Writer::from_writer(file) };
        keys.writer.write_record(["resource", "label", "mode", "identity", "key"])?;
        Ok(keys)
    }

    /// Returns when the keys would survive power loss.
    fn write(&mut self, enrolled: &[EnrolledDevice]) -> Result<(), String> {
        let lost = |error: String| {
            format!(
                "{}: {error}; devices were enrolled whose keys are lost: give them new ones with sixlock keys rotate",
                self.path.display()
            )
        };
        for device in enrolled {
            let id = device.id.to_string();
            let made = device.certificate.as_ref().unwrap_or(&device.key);
            let (label, identity) = (shown(&device.label), shown(&device.identity));
            let row = [&id, &*label, &device.mode, &*identity, made];
            self.writer.write_record(row).map_err(|error| lost(error.to_string()))?;
        }
        let flushed = self.writer.flush().and_then(|()| self.writer.get_ref().sync_data());
        flushed.map_err(|error| lost(error.to_string()))
    }
}

/// A name as a spreadsheet shows it: what begins like a formula is marked as text, so that it is not run.
fn shown(name: &str) -> Cow<'_, str> {
    match name.starts_with(['=', '+', '-', '@']) {
        true => format!("'{name}").into(),
        false => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spreadsheet_runs_no_name() {
        for name in ["=cmd|'/c calc'!A0", "+1", "-1", "@SUM(A1)"] {
            assert_eq!(shown(name), format!("'{name}"));
        }
        assert_eq!(shown("node-1"), "node-1");
    }

    fn mistakes(text: &str) -> Vec<(u64, String)> {
        read(text.as_bytes()).err().unwrap_or_default()
    }

    #[test]
    fn columns_stand_in_any_order_and_quotes_are_understood() {
        let text = "key,mode,label\n,dtls-psk,a\n0123456789abcdef,llsec+dtls-psk,\"b, \"\"c\"\"\"\n";
        let rows = read(text.as_bytes()).ok().unwrap();
        assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 3]);
        assert_eq!((rows[0].device.label.as_str(), rows[0].device.key.as_deref()), ("a", None));
        assert_eq!(rows[1].device.label, "b, \"c\"");
        assert_eq!(rows[1].device.mode, "llsec:ccm-64+dtls-psk");
        assert_eq!(rows[1].device.key.as_deref(), Some("0123456789abcdef"));
    }

    #[test]
    fn a_device_has_the_tags_folder_period_and_profile_of_its_line() {
        let text = "label,mode,tags,folder,period_s,profile\na,none,\"roof,pump\",house/attic,60,gauge\nb,none,,,,\n";
        let rows = read(text.as_bytes()).ok().unwrap();
        let [a, b] = [&rows[0].device, &rows[1].device];
        assert_eq!((&*a.folder, a.period_s, a.profile.as_deref()), ("house/attic", Some(60), Some("gauge")));
        assert_eq!((&a.tags[..], b.tags.len()), (&["roof".to_owned(), "pump".to_owned()][..], 0));
        assert_eq!((&*b.folder, b.period_s, b.profile.as_deref()), ("", None, None));
        let wrong = mistakes("label,mode,period_s\na,none,often\n");
        assert_eq!(wrong, [(2, "period_s: \"often\" is no number of seconds".to_owned())]);
    }

    #[test]
    fn every_mistake_is_told_with_its_line() {
        let text = "label,mode,identity\na,dtls-psk,\nb,rot13,\n,none,\na,none,x\nc,none\nd,none,a\n";
        let told: Vec<_> = mistakes(text).into_iter().map(|(line, why)| format!("{line}: {why}")).collect();
        let of_a_spreadsheet = mistakes(&text.replace('\n', "\r\n"));
        let of_a_spreadsheet: Vec<_> =
            of_a_spreadsheet.into_iter().map(|(line, why)| format!("{line}: {why}")).collect();
        assert_eq!(of_a_spreadsheet, told);
        assert_eq!(told.len(), 5, "{told:?}");
        assert!(told[0].starts_with("3: mode: unknown security mode"));
        assert_eq!(
            told[1..],
            [
                "4: the label is missing",
                "5: label a stands in line 2 already",
                "6: 2 columns instead of 3",
                "7: identity a stands in line 2 already",
            ]
        );
        for (text, why) in [
            ("", "column label is missing"),
            ("label\n", "column mode is missing"),
            ("label,mode,colour\n", "there is no column \"colour\""),
            ("label,mode,mode\n", "column \"mode\" stands there twice"),
            ("label,mode\n", "there is no device"),
        ] {
            let told = mistakes(text);
            assert!(told.len() == 1 && told[0].0 == 1 && told[0].1.starts_with(why), "{text:?}: {told:?}");
        }
    }
}
