use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Another implementation, running. It is killed when this value is dropped.
pub struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    output: Arc<(Mutex<String>, Condvar)>,
    readers: Vec<JoinHandle<()>>,
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
        let output = Arc::new((Mutex::new(String::new()), Condvar::new()));
        let stdin = child.stdin.take();
        let mut readers = Vec::new();
        if let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) {
            readers = vec![collect(out, Arc::clone(&output)), collect(err, Arc::clone(&output))];
        }
        Self { child, stdin, output, readers }
    }

    /// Writes to its standard input.
    pub fn write(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("standard input is open");
        stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).expect("the process reads its input");
    }

    /// What it has printed so far.
    pub fn output(&self) -> String {
        self.output.0.lock().expect("no reader panics").clone()
    }

    /// Whether it prints `text` within `limit`.
    pub fn prints(&self, text: &str, limit: Duration) -> bool {
        let (output, printed) = &*self.output;
        let guard = output.lock().expect("no reader panics");
        let (guard, _) = printed
            .wait_timeout_while(guard, limit, |output| !output.contains(text))
            .expect("no reader panics");
        guard.contains(text)
    }

    /// What follows `start` in the line it begins, once the line is complete, within `limit`.
    pub fn line(&self, start: &str, limit: Duration) -> Option<String> {
        self.nth_line(start, 1, limit)
    }

    /// As [`Process::line`], where `start` stands for the `n`th time, from 1 on.
    pub fn nth_line(&self, start: &str, n: usize, limit: Duration) -> Option<String> {
        let rest = |output: &str| {
            let (at, _) = output.match_indices(start).nth(n - 1)?;
            output[at + start.len()..].split_once('\n').map(|(line, _)| line.trim().to_owned())
        };
        let (output, printed) = &*self.output;
        let guard = output.lock().expect("no reader panics");
        let (guard, _) = printed
            .wait_timeout_while(guard, limit, |output| rest(output).is_none())
            .expect("no reader panics");
        rest(&guard)
    }

    /// Waits until it has ended and all that it printed is read, at most `limit`; true if it said that it succeeded.
    pub fn succeeds(&mut self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            if let Ok(Some(status)) = self.child.try_wait()
                && self.readers.iter().all(JoinHandle::is_finished)
            {
                return status.success();
            }
            thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// Whether it is running.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn collect(mut from: impl Read + Send + 'static, into: Arc<(Mutex<String>, Condvar)>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            let (output, printed) = &*into;
            output.lock().expect("no reader panics").push_str(&String::from_utf8_lossy(&buffer[..length]));
            printed.notify_all();
        }
    })
}
