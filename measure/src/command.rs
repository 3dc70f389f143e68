//! Programs that are run, and what they print.

use std::process::{Command, Stdio};

use crate::failure::Failure;

/// Runs `command`, which prints where this program does.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| format!("{}: {error}", name(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{} failed: {status}", name(command)).into()) }
}

/// What `command` prints; its errors go where this program's do.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| format!("{}: {error}", name(command)))?;
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout)?),
        false => Err(format!("{} failed: {}", name(command), output.status).into()),
    }
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}
