//! What a process takes of the machine, as Linux tells it, and which of its cores.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;

/// Clock ticks of `/proc` in a second: the same on all Linux systems that matter here.
const TICKS: f64 = 100.0;

/// A command that runs on these cores alone, or on all.
pub(crate) fn on(cores: Option<RangeInclusive<usize>>, program: impl AsRef<OsStr>) -> Command {
    let Some(cores) = cores else { return Command::new(program) };
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", &format!("{}-{}", cores.start(), cores.end())]).arg(program);
    command
}

/// The processor time that a process has used, its own and the kernel's for it.
pub(crate) fn cpu_seconds(process: u32) -> io::Result<f64> {
    times(process).map(|[own, kernel]| own + kernel)
}

/// The processor time that a process has used itself, and the kernel for it.
pub(crate) fn times(process: u32) -> io::Result<[f64; 2]> {
    seconds(Path::new(&format!("/proc/{process}/stat")))
}

/// The processor time that each of the threads of a process has used that runs now.
pub(crate) fn thread_seconds(process: u32) -> io::Result<BTreeMap<OsString, f64>> {
    let mut threads = BTreeMap::new();
    for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let thread = thread?;
        // It may end meanwhile.
        if let Ok([own, kernel]) = seconds(&thread.path().join("stat")) {
            threads.insert(thread.file_name(), own + kernel);
        }
    }
    Ok(threads)
}

fn seconds(stat: &Path) -> io::Result<[f64; 2]> {
    let stat = std::fs::read_to_string(stat)?;
    let missing = || io::Error::other("/proc shows no times");
    // The name may hold blanks; it ends at the last parenthesis. The fields 14 and 15 are the times.
    let (_, rest) = stat.rsplit_once(')').ok_or_else(missing)?;
    let mut ticks = rest.split_whitespace().skip(11).map(|field| field.parse::<f64>().ok());
    let mut next = || ticks.next().flatten().map(|ticks| ticks / TICKS).ok_or_else(missing);
    Ok([next()?, next()?])
}

/// The memory of a process that is not elsewhere: neither on the disk only nor never touched.
pub(crate) fn resident_bytes(process: u32) -> io::Result<u64> {
    memory(process, "VmRSS:")
}

/// The most that this memory ever was.
pub(crate) fn most_resident_bytes(process: u32) -> io::Result<u64> {
    memory(process, "VmHWM:")
}

fn memory(process: u32, field: &str) -> io::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix(field)?.split_whitespace().next()?.parse::<u64>().ok());
    kib.map(|kib| kib << 10).ok_or_else(|| io::Error::other("/proc shows no memory"))
}
