//! A shell in which the commands of a guide run, one after another, in a folder of its own.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::WORKSPACE;
use super::transcript::Step;

/// How long a command may take: only one that hangs takes as long.
const PATIENCE: Duration = Duration::from_secs(600);
/// Follows what a command has printed, before its status.
const END: &str = "--- that command has ended with";

pub(crate) struct Shell {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    /// Where the guide's commands run, and beside it what they are and print.
    folder: PathBuf,
    commands: usize,
}

impl Shell {
    pub(crate) fn start(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("sixlock-guide-{}-{name}", std::process::id()));
        let work = folder.join("work");
        std::fs::create_dir_all(&work).expect("a folder can be made");
        for part in ["scenarios", "scripts", "firmware"] {
            std::os::unix::fs::symlink(Path::new(WORKSPACE).join(part), work.join(part))
                .expect("a link can be made");
        }
        let program = Path::new(env!("CARGO_BIN_EXE_sixlock")).parent().expect("a program is in a folder");
        let inherited = std::env::var("PATH").unwrap_or_default();
        // Examples are built beside it. Servers of the system are where only root looks for them.
        let path = format!("{0}:{0}/examples:{inherited}:/usr/sbin", program.display());
        let mut process = Command::new("bash")
            .args(["--noprofile", "--norc"])
            .current_dir(&work)
            .env("PATH", path)
            // Images are built there, too.
            .env(
                "CARGO_TARGET_DIR",
                program.parent().expect("a folder of programs is in that of all that is built"),
            )
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("bash starts");
        let mut input = process.stdin.take().expect("it is piped");
        writeln!(input, "exec 2>&1").expect("the shell listens");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            output.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        Self { process, input, lines, folder, commands: 0 }
    }

    /// What a command prints: to its end, or, if it goes on in the background, until that is what is expected.
    pub(crate) fn run(&mut self, step: &Step) -> String {
        self.commands += 1;
        let command = self.folder.join(format!("command-{}", self.commands));
        std::fs::write(&command, &step.command).expect("a file can be written");
        // What reads its input is not to read the commands that follow.
        let run = format!(". {} </dev/null", command.display());
        if !step.is_in_background() {
            writeln!(self.input, "{run}; status=$?; echo; echo '{END}' $status").expect("the shell listens");
            return self.read_to_end(&step.command);
        }
        let printed = self.folder.join(format!("printed-{}", self.commands));
        writeln!(self.input, "{run} >{} 2>&1; echo; echo '{END}' 0", printed.display())
            .expect("the shell listens");
        self.read_to_end(&step.command);
        let started = Instant::now();
        loop {
            let text = std::fs::read_to_string(&printed).unwrap_or_default();
            let is_waiting = started.elapsed() < PATIENCE / 5 && std::env::var_os("SIXLOCK_ACCEPT").is_none();
            if step.matches(&text) || !is_waiting && started.elapsed() > Duration::from_secs(10) {
                return text;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What is printed until the command has ended; its status behind that, unless it is 0.
    fn read_to_end(&mut self, command: &str) -> String {
        let mut printed: Vec<String> = Vec::new();
        let started = Instant::now();
        loop {
            let line =
                self.lines.recv_timeout(PATIENCE.saturating_sub(started.elapsed())).unwrap_or_else(|error| {
                    let why = match error {
                        RecvTimeoutError::Timeout => "hangs",
                        RecvTimeoutError::Disconnected => "has ended the shell",
                    };
                    panic!("{command} {why} after it printed\n{}", printed.join("\n"))
                });
            let Some(status) = line.strip_prefix(END) else {
                printed.push(line);
                continue;
            };
            // The line feed before the mark ends what does not end its last line.
            if printed.last().is_some_and(String::is_empty) {
                printed.pop();
            }
            if status.trim() != "0" {
                printed.push(format!("exit status: {}", status.trim()));
            }
            return printed.join("\n");
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // With it, what it started in the background.
        let group = rustix::process::Pid::from_child(&self.process);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
