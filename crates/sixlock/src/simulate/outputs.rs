//! The files that a run writes.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use sixlock_sim::{Scenario, Sinks, create_key_log};

use crate::args::Sim;

/// Whether `args` name any files that a run writes.
pub(super) fn are_wanted(args: &Sim) -> bool {
    let files = [&args.pcap, &args.keylog, &args.events, &args.serial];
    files.into_iter().any(Option::is_some) || !args.timeline.is_empty()
}

/// Creates the files that `args` name.
///
/// # Errors
/// When one cannot be written, or would replace another, the scenario, or a file that it names and that is read; when there are two of
/// one kind.
pub(super) fn sinks(args: &Sim, scenario: Option<&Scenario>) -> Result<Sinks, String> {
    let [lines, picture] = timelines(args)?;
    check(args, scenario)?;
    Ok(Sinks {
        pcap: create(args.pcap.as_deref(), |path| File::create(path))?,
        events: create(args.events.as_deref(), |path| File::create(path))?,
        timeline: create(lines, |path| File::create(path))?,
        timeline_picture: create(picture, |path| File::create(path))?,
        key_log: create(args.keylog.as_deref(), create_key_log)?,
    })
}

type Sink = Option<Box<dyn Write + Send>>;

fn create(path: Option<&Path>, open: impl FnOnce(&Path) -> io::Result<File>) -> Result<Sink, String> {
    let Some(path) = path else { return Ok(None) };
    let file = open(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(Some(Box::new(BufWriter::new(file))))
}

/// The files of the timeline: that of lines, and that of the picture.
fn timelines(args: &Sim) -> Result<[Option<&Path>; 2], String> {
    let is_picture = |path: &&PathBuf| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("svg"));
    let (pictures, lines): (Vec<_>, Vec<_>) = args.timeline.iter().partition(is_picture);
    let one = |files: Vec<&'_ PathBuf>, kind| match files[..] {
        [_, second, ..] => Err(format!(
            "--timeline {}: there is a file for {kind} already, leave one of them out",
            second.display()
        )),
        _ => Ok(()),
    };
    one(lines.clone(), "JSON lines")?;
    one(pictures.clone(), "the picture")?;
    Ok([lines, pictures].map(|files| files.first().map(|path| path.as_path())))
}

/// Whether each output has a file of its own, which is no input.
fn check(args: &Sim, scenario: Option<&Scenario>) -> Result<(), String> {
    let emulated = scenario.into_iter().flat_map(|scenario| scenario.emulated().values());
    let images = emulated.filter_map(|node| node.image.as_deref());
    let mut taken: Vec<_> = images.map(|image| ("an image of the scenario", resolved(image))).collect();
    let files = scenario.into_iter().flat_map(Scenario::files);
    taken.extend(files.map(|file| ("a file that the scenario names", resolved(file))));
    taken.extend(args.scenario.iter().map(|path| ("the scenario", resolved(path))));
    let files = [
        ("--pcap", &args.pcap),
        ("--events", &args.events),
        ("--keylog", &args.keylog),
        ("--serial", &args.serial),
    ];
    let files = files.into_iter().flat_map(|(option, path)| path.iter().map(move |path| (option, path)));
    for (option, path) in files.chain(args.timeline.iter().map(|path| ("--timeline", path))) {
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
