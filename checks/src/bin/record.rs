//! Runs the benches whose output stands in a document of docs/measurements/, and writes what they print now into it, with the day, the
//! commit and the machine. Usage: `./bench record DOCUMENT [WORDS]`

use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, thread};

use sixlock_checks::measurements::{MEASURED, measurements, replaced};

type Failure = Box<dyn Error>;

const HELP: &str = "\
Usage: ./bench record DOCUMENT [WORDS]

Runs each command `./bench …` that stands in docs/measurements/DOCUMENT.md, or those that contain WORDS, and writes what they print into
the document, with the day, the commit and the machine. Let the machine do nothing else meanwhile.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (document, words) = match arguments.as_slice() {
        [document] if !document.starts_with('-') => (document, ""),
        [document, words] => (document, words.as_str()),
        _ => {
            print!("{HELP}");
            return ExitCode::FAILURE;
        }
    };
    match record(document, words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn record(name: &str, words: &str) -> Result<(), Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = root.join("docs/measurements").join(format!("{name}.md"));
    let mut document = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let measured = measured(&root)?;
    let commands: Vec<String> = measurements(&document).into_iter().map(|found| found.command).collect();
    let wanted: Vec<&String> = commands.iter().filter(|command| command.contains(words)).collect();
    if wanted.is_empty() {
        return Err(format!("{} has none of them; it has: {}", path.display(), commands.join("; ")).into());
    }
    for command in wanted {
        eprintln!("{command}");
        let output = printed(&root, "bash", &["-o", "pipefail", "-c", command])?;
        let place = measurements(&document).into_iter().find(|found| found.command == *command);
        let place = place.ok_or("the document has changed meanwhile")?;
        document = replaced(&document, &place, &output, &measured);
        fs::write(&path, &document)?;
    }
    Ok(())
}

/// Returns the lines that name the day, the commit and the machine of a measurement.
fn measured(root: &Path) -> Result<String, Failure> {
    let day = printed(root, "date", &["-u", "+%F"])?;
    let commit = printed(root, "git", &["describe", "--always", "--abbrev=12", "--dirty"])?;
    let processors = thread::available_parallelism()?;
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown processor", |(_, name)| name.trim());
    Ok(format!("{MEASURED}{} at {}, with {processors} processors: {model}.", day.trim(), commit.trim()))
}

/// What a program prints, which is to succeed.
fn printed(root: &Path, program: &str, arguments: &[&str]) -> Result<String, Failure> {
    let mut command = Command::new(program);
    let output = command.args(arguments).current_dir(root).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program} {}: {}", arguments.join(" "), output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
