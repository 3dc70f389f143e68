//! Logs of `cargo test`: the tests that failed, and why.

/// The tests that failed, each behind the target it stands in, in the order of the log. A test that runs itself again in a process of its
/// own fails in both, and is named once.
pub fn failed_tests(log: &str) -> Vec<String> {
    let mut target = "";
    // The names stand behind the last line `failures:`, behind what the tests have printed.
    let mut listed: Option<Vec<&str>> = None;
    let mut failed = Vec::new();
    for line in log.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["Running", rest @ ..] | ["Doc-tests", rest @ ..] = words.as_slice()
            && line.starts_with(' ')
        {
            target = rest.last().map_or("", |path| target_name(path));
        } else if line == "failures:" {
            listed = Some(Vec::new());
        } else if line.starts_with("test result:") {
            for name in listed.take().unwrap_or_default() {
                let name = format!("{target} {name}");
                if !failed.contains(&name) {
                    failed.push(name);
                }
            }
        } else if line.contains("process didn't exit successfully") && line.contains("signal") {
            failed.push(format!("{target} (all of it)"));
        } else if let (Some(names), [name]) = (&mut listed, words.as_slice())
            && line.starts_with("    ")
        {
            names.push(name);
        }
    }
    failed
}

/// What the panics of a log say, each with its place.
pub fn panics(log: &str) -> Vec<String> {
    let lines: Vec<&str> = log.lines().collect();
    let panicked = (0..lines.len()).filter(|&at| lines[at].contains("panicked at"));
    panicked.map(|at| lines[at..lines.len().min(at + 4)].join("\n")).collect()
}

/// `tun` of `(target/debug/deps/tun-3efee34cd640ee2f)`.
fn target_name(path: &str) -> &str {
    let file = path.trim_matches(['(', ')']).rsplit('/').next().unwrap_or("");
    file.rsplit_once('-').map_or(file, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
     Running unittests src/lib.rs (target/debug/deps/sixlock_net-0123456789abcdef)
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
     Running tests/tun.rs (target/debug/deps/tun-3efee34cd640ee2f)
test pings ... FAILED
test waits ... ok

failures:

---- pings stdout ----

failures:
    a line that the test printed
thread 'pings' (7) panicked at crates/sixlock/tests/tun.rs:9:5:
no answer
stack backtrace:

failures:
    pings

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 1 filtered out; finished in 8.00s
test pings ... FAILED

failures:
    pings

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 9.00s
     Running tests/up.rs (target/debug/deps/up-6436c0b66af17e2a)
  process didn't exit successfully: `target/debug/deps/up-6436c0b66af17e2a` (signal: 9, SIGKILL: kill)
";

    #[test]
    fn failed_tests_are_named_with_their_targets() {
        assert_eq!(failed_tests(LOG), ["tun pings", "up (all of it)"]);
    }

    #[test]
    fn panics_say_where_and_why() {
        assert_eq!(
            panics(LOG),
            [
                "thread 'pings' (7) panicked at crates/sixlock/tests/tun.rs:9:5:\nno answer\nstack backtrace:\n"
            ]
        );
    }
}
