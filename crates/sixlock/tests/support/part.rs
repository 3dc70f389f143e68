//! A part of the system as a process.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long anything may take that they do by themselves.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The command.
pub(crate) fn sixlock(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sixlock"));
    command.args(args).current_dir(directory).stdin(Stdio::null());
    command
}

/// A process that runs until it is dropped, and the lines that it says, errors among them.
pub(crate) struct Part {
    process: Child,
    lines: Receiver<String>,
}

impl Part {
    /// Starts the command with these arguments.
    pub(crate) fn start(directory: &Path, args: &[&str]) -> Self {
        Self::of(&mut sixlock(directory, args))
    }

    /// Starts this command.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (said, complained) = (process.stdout.take().unwrap(), process.stderr.take().unwrap());
        let (sender, lines) = channel();
        let complaints = sender.clone();
        let said = BufReader::new(said).lines().map_while(Result::ok);
        std::thread::spawn(move || said.map(|line| sender.send(line)).all(|sent| sent.is_ok()));
        let complained = BufReader::new(complained).lines().map_while(Result::ok);
        std::thread::spawn(move || {
            complained
                .inspect(|line| eprintln!("{line}"))
                .map(|line| complaints.send(line))
                .all(|sent| sent.is_ok())
        });
        Self { process, lines }
    }

    /// Its threads by name, and how nice each is to others.
    pub(crate) fn threads(&self) -> Vec<(String, i64)> {
        let tasks = format!("/proc/{}/task", self.process.id());
        let read = |task: std::fs::DirEntry| {
            let status = std::fs::read_to_string(task.path().join("stat")).ok()?;
            let (name, fields) = status.split_once('(')?.1.rsplit_once(") ")?;
            // The 19th field of all, of which the first two are the id and the name.
            Some((name.to_owned(), fields.split(' ').nth(16)?.parse().ok()?))
        };
        std::fs::read_dir(tasks).unwrap().map_while(Result::ok).filter_map(read).collect()
    }

    /// Sends it this signal.
    pub(crate) fn signal(&self, signal: &str) {
        let process = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &process]).status().unwrap().success());
    }

    /// Waits for a line with `text` in it, and gives what stands behind it.
    pub(crate) fn says(&self, text: &str) -> String {
        let [rest] = self.says_all([text]);
        rest
    }

    /// Waits for a line with each of these texts in it, and gives what stands behind them. The lines come in any order: those of
    /// two threads do, and so do errors and other lines.
    pub(crate) fn says_all<const N: usize>(&self, texts: [&str; N]) -> [String; N] {
        let end = Instant::now() + PATIENCE;
        let mut found = [const { None }; N];
        while let Some(missing) = found.iter().position(Option::is_none) {
            let left = end.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("nobody says {:?}", texts[missing]));
            for (found, text) in found.iter_mut().zip(texts).filter(|(found, _)| found.is_none()) {
                *found = line.split_once(text).map(|(_, rest)| rest.to_owned());
            }
        }
        found.map(Option::unwrap_or_default)
    }

    /// Whether it has said so by now.
    pub(crate) fn has_said(&self, text: &str) -> bool {
        self.lines.try_iter().any(|line| line.contains(text))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// All that a process has said.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// Makes devices of this mode; their border router's file is `network.toml`.
pub(crate) fn enrol(directory: &Path, mode: &str, devices: &[&str]) {
    enrol_with(directory, mode, devices, &[]);
}

/// The same, with these options.
pub(crate) fn enrol_with(directory: &Path, mode: &str, devices: &[&str], options: &[&str]) {
    let kind = mode.rsplit('-').next().unwrap_or_default();
    for device in devices {
        let args = [
            "keys",
            kind,
            "--data",
            "data",
            "--network",
            "network.toml",
            "--mode",
            mode,
            "--resource",
            device,
        ];
        let output = sixlock(directory, &[&args, options].concat()).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }
}
