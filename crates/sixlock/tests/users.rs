//! `sixlock users` as a person uses it, with a cloud that runs and with one that does not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A running `sixlock cloud`, ended when dropped.
struct Cloud {
    process: Child,
    http: String,
}

impl Cloud {
    fn start(data: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_sixlock"))
            .args(["cloud", "--listen", "127.0.0.1:0", "--coaps", "127.0.0.1:0", "--data"])
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let ready = lines.by_ref().map(Result::unwrap).find(|line| line.starts_with("ready ")).unwrap();
        let http = ready.split("http=").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        // Whatever else it says must not block it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, http }
    }

    /// The status that signing in is answered with.
    fn login(&self, user: &str, password: &str) -> u16 {
        self.post("/login", &json!({"username": user, "password": password}))
    }

    /// The status that setting a password by a link is answered with.
    fn reset(&self, link: &str, password: &str) -> u16 {
        let token = link.trim().rsplit('=').next().unwrap();
        self.post("/reset-password", &json!({"token": token, "password": password}))
    }

    fn post(&self, path: &str, body: &Value) -> u16 {
        let body = body.to_string();
        let mut stream = TcpStream::connect(&self.http).unwrap();
        write!(
            stream,
            "POST /api/v1{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Workspace(TempDir);

impl Workspace {
    fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    /// What `sixlock users` says when it reads this, and whether it succeeds.
    fn users(&self, args: &[&str], input: &str) -> (bool, String) {
        let mut process = Command::new(env!("CARGO_BIN_EXE_sixlock"))
            .arg("users")
            .args(args)
            .arg("--data")
            .arg(self.data())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It may end without reading.
        let _ = process.stdin.take().unwrap().write_all(input.as_bytes());
        let output = process.wait_with_output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).unwrap())
    }

    fn done(&self, args: &[&str], input: &str) -> String {
        let (done, said) = self.users(args, input);
        assert!(done, "{args:?}: {said}");
        said
    }

    fn audit(&self) -> String {
        std::fs::read_to_string(self.data().join("audit.jsonl")).unwrap_or_default()
    }
}

#[test]
fn users_are_added_listed_changed_and_removed_while_the_cloud_runs_and_while_it_does_not() {
    let place = Workspace(tempfile::tempdir().unwrap());
    let (done, said) = place.users(&["list"], "");
    assert!(!done && said.contains("no cloud has run"), "{said}");
    let mut cloud = Some(Cloud::start(&place.data()));
    for running in [true, false] {
        let (name, password) = if running { ("ann", "first password") } else { ("bob", "second password") };
        place.done(&["add", name, "--email", "a@example.org"], &format!("{password}\n"));
        let (done, said) = place.users(&["add", name], "another one\n");
        assert!(!done && said.contains("username"), "{said}");
        for bad in ["short\n", "password123\n", "\n", ""] {
            assert!(!place.users(&["passwd", name], bad).0, "{bad:?}");
        }
        assert!(!place.users(&["passwd", "zoe"], "a good password\n").0);
        place.done(&["role", name, "admin"], "");
        let listed = place.done(&["list"], "");
        let line = listed.lines().find(|line| line.contains(name)).unwrap();
        assert!(line.contains("admin") && line.contains("a@example.org"), "{listed}");
        place.done(&["role", name, "user"], "");
        assert!(!place.users(&["role", "admin", "user"], "").0, "the administrator stays one");
        place.done(&["role", name, "viewer"], "");
        assert!(place.done(&["list"], "").contains("viewer"));
        place.done(&["remove-second-factor", name], "");
        let said = place.done(&["reset-link", name], "");
        let link = said.lines().find(|line| line.contains("/reset-password?token=")).unwrap();
        assert!(link.starts_with("http://127.0.0.1:"), "{link}");
        // A lost password of the administrator.
        place.done(&["passwd", "admin"], &format!("{password} of admin\n"));
        assert!(!place.users(&["remove", "admin"], "").0, "the administrator stays");

        let running_now = cloud.take().unwrap_or_else(|| Cloud::start(&place.data()));
        assert_eq!(running_now.login("admin", &format!("{password} of admin")), 200);
        assert_eq!(running_now.login(name, password), 200);
        assert_eq!(running_now.reset(link, "third password"), 204);
        assert_eq!(running_now.reset(link, "third password"), 403, "it works once");
        let password = "third password";
        assert_eq!(running_now.login(name, password), 200);
        if running {
            place.done(&["remove", name], "");
            assert_eq!(running_now.login(name, password), 401);
        } else {
            drop(running_now);
            place.done(&["remove", name], "");
        }
        assert!(!place.done(&["list"], "").contains(name));
    }
    // Both ways leave a trace, and no password stands anywhere.
    let audit = place.audit();
    for action in [
        "user_added",
        "role_changed_to_administrator",
        "reset_link_made",
        "second_factor_removed",
        "password_changed",
        "user_deleted",
    ] {
        for (transport, user) in [("http", "ann"), ("command", "bob")] {
            let told = audit.lines().any(|line| {
                line.contains(action) && line.contains(&format!("\"{transport}\"")) && line.contains(user)
                    || action == "password_changed" && line.contains(&format!("\"{transport}\""))
            });
            assert!(told, "{action} {transport}: {audit}");
        }
    }
    assert!(!audit.contains("password of"), "{audit}");
}

#[test]
fn a_command_whose_output_nobody_reads_does_what_it_is_told() {
    let place = Workspace(tempfile::tempdir().unwrap());
    drop(Cloud::start(&place.data()));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let listed = Command::new(env!("CARGO_BIN_EXE_sixlock"))
        .args(["users", "list", "--data"])
        .arg(place.data())
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(listed.status.success() && listed.stderr.is_empty(), "{listed:?}");
}
