//! Plants faults, and sees whether the swarm finds them: each patch in `crates/sim/faults/` changes one line of the crate that it is named
//! after. It is applied to a copy of the tree; the crate's own tests must not notice it, the swarm must find it in at most 1,000
//! networks, and the network in which it shows must show the same again. Prints a row of docs/swarm.md for each.
//! Usage: `./bench faults [CRATE]...`

use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

type Failure = Box<dyn Error>;

/// Networks that are tried, and how many at a time: none after those in which the fault shows.
const SEEDS: u32 = 1_000;
const STEP: u32 = 50;

/// Where the patches are.
const FAULTS: &str = "crates/sim/faults";

const HELP: &str = "\
Usage: ./bench faults [CRATE]...

Plants a fault of one changed line in each of these crates, or in all that have a patch in crates/sim/faults/, one after the other,
in a copy of the tree. The crate's own tests must not notice it, one of the networks with the seeds from 1 to 1,000 must show it, and
must show the same when it is tried again. Prints a row of the table in docs/swarm.md for each, and fails if one is not found.
";

fn main() -> ExitCode {
    if env::args().any(|argument| ["--help", "-h"].contains(&argument.as_str())) {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match plant_all(env::args().skip(1).collect()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// Plants the fault of each of these crates, or of all that have one; whether each was found.
fn plant_all(mut crates: Vec<String>) -> Result<bool, Failure> {
    if crates.is_empty() {
        for entry in fs::read_dir(root().join(FAULTS))? {
            let path = entry?.path();
            crates.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
        crates.sort();
    }
    let copy = Copy::make()?;
    println!("| crate | fault | found by |\n|---|---|---|");
    let mut all = true;
    for name in &crates {
        let patch = root().join(FAULTS).join(format!("{name}.patch"));
        let text = fs::read_to_string(&patch).map_err(|error| format!("{}: {error}", patch.display()))?;
        let fault =
            text.split("\n---").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        let found = copy.apply(&patch, &[]).and_then(|()| {
            let found = copy.find(name);
            copy.apply(&patch, &["--reverse"])?;
            found
        });
        // The faults of the other crates are looked for all the same.
        all &= matches!(found, Ok(Some(_)));
        match found {
            Ok(found) => println!("| {name} | {fault} | {} |", found.as_deref().unwrap_or("nobody")),
            Err(failure) => eprintln!("{failure}"),
        }
    }
    Ok(all)
}

/// A copy of the tree. It is always in the same place, and what is there is left as it is if it is the same: what no fault changes is
/// built once.
struct Copy {
    tree: PathBuf,
    target: PathBuf,
}

impl Copy {
    fn make() -> Result<Self, Failure> {
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        let (tree, target) = (target.join("faults/tree"), target.join("faults/build"));
        let listed = output(Command::new("git").args(["ls-files", "-z"]).current_dir(root()))?;
        let listed = String::from_utf8(listed.stdout)?;
        // A file that is deleted but listed still is not copied.
        let files = listed.split_terminator('\0').filter(|file| root().join(file).is_file());
        let files: BTreeSet<_> = files.map(|file| tree.join(file)).collect();
        fs::create_dir_all(&tree)?;
        remove_others(&tree, &files)?;
        for to in &files {
            let from = root().join(to.strip_prefix(&tree)?);
            fs::create_dir_all(to.parent().ok_or("a file without a folder")?)?;
            if fs::read(to).ok() != Some(fs::read(&from)?) {
                fs::copy(from, to)?;
            }
        }
        Ok(Self { tree, target })
    }

    /// Applies a patch. Git is not to look for a repository around the copy.
    fn apply(&self, patch: &Path, options: &[&str]) -> Result<(), Failure> {
        let mut command = Command::new("git");
        command.arg("apply").args(options).arg(patch).current_dir(&self.tree);
        let output =
            output(command.env("GIT_CEILING_DIRECTORIES", self.tree.parent().unwrap_or(&self.tree)))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("{}: {}", patch.display(), String::from_utf8_lossy(&output.stderr)).into()),
        }
    }

    /// The first network in which the fault that is planted in crate `name` shows, and what does not hold there, if one does.
    fn find(&self, name: &str) -> Result<Option<String>, Failure> {
        let package = format!("sixlock-{name}");
        let own = output(&mut self.cargo(&["test", "--quiet", "--locked", "--package", &package]))?;
        if !own.status.success() {
            return Err(format!(
                "the tests of {name} notice the fault: it is none that only the swarm can find"
            )
            .into());
        }
        for first in (1..=SEEDS).step_by(STEP as usize) {
            if let Some((seed, invariant)) = self.swarm(first, STEP)? {
                let again = self.swarm(seed, 1)?;
                if again.as_ref() != Some(&(seed, invariant.clone())) {
                    return Err(format!(
                        "{name}: seed {seed} comes to something else when it is tried alone"
                    )
                    .into());
                }
                return Ok(Some(format!("seed {seed}: {invariant}")));
            }
        }
        Ok(None)
    }

    /// The first of so many networks in which something does not hold, and what that is.
    fn swarm(&self, first: u32, count: u32) -> Result<Option<(u32, String)>, Failure> {
        let test = ["--package", "sixlock-sim", "--test", "swarm", "what_must_hold", "--", "--ignored"];
        let mut command = self.cargo(&["test", "--quiet", "--locked", "--release"]);
        let output = output(command.args(test).env("SIXLOCK_SWARM", format!("{count},{first}")))?;
        let text = String::from_utf8(output.stdout)?;
        // Where no test has run, nobody has looked.
        if output.status.success() && text.contains("1 passed") {
            return Ok(None);
        }
        let found = text.lines().find_map(|line| {
            let (_, what) = line.split_once(": not so: ")?;
            Some(what.split_once(':')?.0.to_owned())
        });
        let seed = text.lines().find_map(|line| line.split_once(": ")?.0.parse().ok());
        match (seed, found) {
            (Some(seed), Some(invariant)) => Ok(Some((seed, invariant))),
            _ => {
                Err(format!("the swarm does not run:\n{text}{}", String::from_utf8_lossy(&output.stderr))
                    .into())
            }
        }
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO"));
        command.args(arguments).current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.target);
        command
    }
}

/// Removes the files in a folder that are none of these.
fn remove_others(folder: &Path, files: &BTreeSet<PathBuf>) -> Result<(), Failure> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, files)?;
        } else if !files.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn output(command: &mut Command) -> Result<Output, Failure> {
    command.output().map_err(|error| format!("{}: {error}", command.get_program().display()).into())
}

/// The folder of the project.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
