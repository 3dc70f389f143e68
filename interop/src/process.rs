use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Another implementation, running. It is killed when this value is dropped.
pub struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    printed: Arc<Printed>,
    readers: Vec<JoinHandle<()>>,
}

/// What a process has printed: standard output and standard error, each by itself, so that a line of one never stands inside a line of
/// the other.
#[derive(Default)]
struct Printed {
    streams: Mutex<[Vec<u8>; 2]>,
    /// Told of whatever is added.
    more: Condvar,
}

impl Printed {
    fn lock(&self) -> MutexGuard<'_, [Vec<u8>; 2]> {
        self.streams.lock().expect("no reader panics")
    }

    /// What `find` finds in either stream within `limit`.
    fn wait<T>(&self, limit: Duration, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let search = |streams: &[Vec<u8>; 2]| streams.iter().find_map(|bytes| find(&text(bytes)));
        let (streams, _) = self
            .more
            .wait_timeout_while(self.lock(), limit, |streams| search(streams).is_none())
            .expect("no reader panics");
        search(&streams)
    }
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

impl Process {
    /// Starts `program`, which the Debian package `package` installs.
    ///
    /// # Panics
    /// With the line that installs it, if it is not there.
    pub fn start(program: &str, package: &str, arguments: &[&str]) -> Self {
        Self::start_with(program, package, arguments, &[])
    }

    /// Starts `program` as [`Process::start`] does, with more in its environment.
    ///
    /// # Panics
    /// With the line that installs it, if it is not there.
    pub fn start_with(
        program: &str,
        package: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {program} ({error}): apt-get install {package}"));
        let printed = Arc::new(Printed::default());
        let stdin = child.stdin.take();
        let mut readers = Vec::new();
        if let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) {
            readers = vec![collect(out, Arc::clone(&printed), 0), collect(err, Arc::clone(&printed), 1)];
        }
        Self { child, stdin, printed, readers }
    }

    /// Writes to its standard input.
    pub fn write(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("standard input is open");
        stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).expect("the process reads its input");
    }

    /// What it has printed so far: its standard output, and then, on lines of its own, its standard error.
    pub fn output(&self) -> String {
        let streams = self.printed.lock();
        let [mut out, err] = [0, 1].map(|n| text(&streams[n]).into_owned());
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out + &err
    }

    /// Whether it prints `text` within `limit`.
    pub fn prints(&self, text: &str, limit: Duration) -> bool {
        self.printed.wait(limit, |printed| printed.contains(text).then_some(())).is_some()
    }

    /// Whether it prints any of these within `limit`, or before it ends.
    pub fn prints_one_of(&mut self, texts: &[&str], limit: Duration) -> bool {
        let end = Instant::now() + limit;
        let any = |process: &Self| texts.iter().any(|text| process.prints(text, Duration::ZERO));
        while !any(self) {
            if Instant::now() >= end || !self.is_running() {
                return any(self);
            }
            thread::sleep(Duration::from_millis(10));
        }
        true
    }

    /// What follows `start` in the line it begins, once the line is complete, within `limit`.
    pub fn line(&self, start: &str, limit: Duration) -> Option<String> {
        self.nth_line(start, 1, limit)
    }

    /// As [`Process::line`], where `start` stands for the `n`th time, from 1 on.
    pub fn nth_line(&self, start: &str, n: usize, limit: Duration) -> Option<String> {
        self.printed.wait(limit, |printed| {
            let (at, _) = printed.match_indices(start).nth(n - 1)?;
            printed[at + start.len()..].split_once('\n').map(|(line, _)| line.trim().to_owned())
        })
    }

    /// Waits until it has ended and all that it printed is read, at most `limit`; true if it said that it succeeded.
    pub fn succeeds(&mut self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            if let Some(status) = self.ended() {
                return status.success();
            }
            thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// Asks it to end.
    ///
    /// # Panics
    /// If it cannot be asked.
    pub fn terminate(&self) {
        let asked = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(asked.is_ok_and(|status| status.success()), "the process cannot be asked to end");
    }

    /// Whether it is running, or something that it printed is still to be read: when this is false, [`Process::output`] is complete.
    pub fn is_running(&mut self) -> bool {
        self.ended().is_none()
    }

    /// How it has ended, once all that it printed is read.
    fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.child.try_wait().ok()??;
        self.readers.iter().all(JoinHandle::is_finished).then_some(status)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Adds what is read to a stream, until there is no more.
fn collect(mut from: impl Read + Send + 'static, into: Arc<Printed>, stream: usize) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut buffer = [0; 1024];
        loop {
            match from.read(&mut buffer) {
                Ok(length @ 1..) => {
                    into.lock()[stream].extend_from_slice(&buffer[..length]);
                    into.more.notify_all();
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PATIENCE;

    fn shell(script: &str) -> Process {
        Process::start("sh", "dash", &["-c", script])
    }

    #[test]
    fn a_line_of_standard_error_never_stands_inside_one_of_standard_output() {
        let mut process = shell("printf one; read _; echo between >&2; read _; echo two; read _");
        assert!(process.prints("one", PATIENCE));
        process.write("\n");
        assert!(process.prints("between", PATIENCE));
        process.write("\n");
        assert!(process.prints("onetwo", PATIENCE), "{}", process.output());
        assert_eq!(process.line("one", PATIENCE).as_deref(), Some("two"));
        assert_eq!(process.output(), "onetwo\nbetween\n");
    }

    #[test]
    fn a_process_that_does_not_run_has_nothing_left_to_read() {
        // A child of its own prints when it has ended itself.
        let mut process = shell("exec 3<&0; (read _ <&3; echo last) & echo first");
        assert!(process.prints("first", PATIENCE) && process.child.wait().unwrap().success());
        assert!(process.is_running(), "{}", process.output());
        process.write("\n");
        assert!(process.succeeds(PATIENCE), "{}", process.output());
        assert!(!process.is_running() && process.output() == "first\nlast\n", "{}", process.output());
    }

    #[test]
    fn a_character_in_two_reads_is_one() {
        let mut process = shell(r"printf '\303'; printf . >&2; read _; printf '\244\n'");
        assert!(process.prints(".", PATIENCE));
        process.write("\n");
        assert!(process.prints("ä\n", PATIENCE), "{}", process.output());
    }
}
