//! A network namespace of a test's own.

use std::process::{Command, Stdio};

/// Says that this process is in its namespace.
const INSIDE: &str = "SIXLOCK_TEST_NAMESPACE";

/// Runs a program of the system to its end.
pub(crate) fn run(program: &str, package: &str, args: &[&str]) -> (bool, String) {
    let output = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}. Install it with: apt-get install {package}"));
    (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// Whether this process is in a namespace where it may do as it likes; if not, the test named `test` is run again in
/// one, and judged by that.
pub(crate) fn inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        let (up, said) = run("ip", "iproute2", &["link", "set", "lo", "up"]);
        assert!(up, "{said}");
        return true;
    }
    // Root of this machine, or, where the system lets anybody be that for themselves, of a user namespace.
    let kinds = [&["--net"][..], &["--net", "--user", "--map-root-user"]];
    let allowed =
        kinds.into_iter().find(|kind| run("unshare", "util-linux", &[kind, &["true"][..]].concat()).0);
    let kind = allowed.expect("a network namespace can be made: run the test as root");
    let program = std::env::current_exe().expect("a test has a path");
    let status = Command::new("unshare")
        .args(kind)
        .arg("--kill-child")
        .arg("--fork")
        .arg(program)
        .args([test, "--exact", "--include-ignored", "--nocapture"])
        .env(INSIDE, "1")
        .status()
        .expect("unshare was there before");
    assert!(status.success(), "{test} in a namespace of its own: {status}");
    false
}
