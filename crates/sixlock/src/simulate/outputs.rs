//! The files that a run writes.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use sixlock_sim::{Scenario, Sinks, create_key_log};

use crate::args::Sim;

/// Creates the files that `args` name.
///
/// # Errors
/// When one cannot be written, or would replace another, the scenario, or a file that it names and that is read.
pub(super) fn sinks(args: &Sim, scenario: Option<&Scenario>) -> Result<Sinks, String> {
    check(args, scenario)?;
    Ok(Sinks {
        pcap: create(args.pcap.as_deref(), |path| File::create(path))?,
        events: create(args.events.as_deref(), |path| File::create(path))?,
        key_log: create(args.keylog.as_deref(), create_key_log)?,
    })
}

type Sink = Option<Box<dyn Write + Send>>;

fn create(path: Option<&Path>, open: impl FnOnce(&Path) -> io::Result<File>) -> Result<Sink, String> {
    let Some(path) = path else { return Ok(None) };
    let file = open(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(Some(Box::new(BufWriter::new(file))))
}

/// Whether each output has a file of its own, which is no input.
fn check(args: &Sim, scenario: Option<&Scenario>) -> Result<(), String> {
    let emulated = scenario.into_iter().flat_map(|scenario| scenario.emulated().values());
    let images = emulated.filter_map(|node| node.image.as_deref());
    let mut taken: Vec<_> = images.map(|image| ("an image of the scenario", resolved(image))).collect();
    let files = scenario.into_iter().flat_map(Scenario::files);
    taken.extend(files.map(|file| ("a file that the scenario names", resolved(file))));
    taken.extend(args.scenario.iter().map(|path| ("the scenario", resolved(path))));
    for (option, path) in [("--pcap", &args.pcap), ("--events", &args.events), ("--keylog", &args.keylog)] {
        let Some(path) = path else { continue };
        let place = resolved(path);
        if let Some((other, _)) = taken.iter().find(|(_, other)| *other == place && is_replaced(other)) {
            return Err(format!("{option} {} is {other}: name another file", path.display()));
        }
        taken.push((option, place));
    }
    Ok(())
}

/// Whether writing replaces what is there: not so with devices, as `/dev/null`.
fn is_replaced(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |metadata| metadata.is_file())
}

/// The one path, by whichever name, of a file that may not be there yet.
fn resolved(path: &Path) -> PathBuf {
    let of_new = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Some(fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(of_new).unwrap_or_else(|| path.into())
}
