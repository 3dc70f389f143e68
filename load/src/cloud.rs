//! The cloud as a process.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sixlock_cloud::ADMINISTRATOR;

use crate::Credential;
use crate::process::on;

/// How the devices are labelled, before their number.
pub(crate) const LABEL: &str = "load-";
/// The most devices that the cloud enrols at once.
const IMPORT: usize = 1000;
/// How long one answer over HTTP may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The `sixlock` command.
#[derive(Clone, Debug)]
pub struct Program {
    file: PathBuf,
    /// Those it runs on; all, if nothing is said.
    cores: Option<RangeInclusive<usize>>,
}

impl Program {
    /// The program in the file `path`.
    pub const fn at(path: PathBuf) -> Self {
        Self { file: path, cores: None }
    }

    /// The same, to run on these cores alone.
    pub fn on(&self, cores: RangeInclusive<usize>) -> Self {
        Self { cores: Some(cores), ..self.clone() }
    }

    fn command(&self) -> Command {
        on(self.cores.clone(), &self.file)
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// The program as this source tree makes it: built first, with what the rest of the workspace is built with, so
    /// that there is little to do where the workspace has been built.
    ///
    /// # Panics
    /// When it does not build.
    pub fn built() -> Self {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        command.args([
            "build",
            "--quiet",
            "--locked",
            "--workspace",
            "--bin=sixlock",
            "--message-format=json",
        ]);
        if !cfg!(debug_assertions) {
            command.arg("--release");
        }
        let output = command.stderr(Stdio::inherit()).output().expect("cargo starts");
        assert!(output.status.success(), "cargo build --bin=sixlock fails");
        let messages = String::from_utf8(output.stdout).expect("cargo writes text");
        let executable = messages.lines().rev().find_map(|line| {
            let message: Value = serde_json::from_str(line).ok()?;
            message["executable"].as_str().map(PathBuf::from)
        });
        Self::at(executable.expect("the package sixlock has an executable"))
    }
}

/// A cloud that runs; it is killed when dropped.
pub struct Cloud {
    process: Child,
    /// Where HTTP listens.
    pub http: SocketAddr,
    /// Where CoAP over DTLS listens.
    pub coaps: SocketAddr,
    /// Where plain CoAP listens, if it does.
    pub coap: Option<SocketAddr>,
}

impl Cloud {
    /// Starts `sixlock cloud` on the data folder `data` and waits until it is ready.
    ///
    /// # Errors
    /// What it printed, if it ended instead.
    pub fn start(program: &Program, data: &Path, coaps: SocketAddr, more: &[&str]) -> io::Result<Self> {
        let mut command = program.command();
        command.args(["cloud", "--listen", "127.0.0.1:0", "--coaps", &coaps.to_string(), "--data"]);
        Self::spawn(command.arg(data).args(more))
    }

    /// Runs `command`, which starts a cloud, and waits until that is ready.
    ///
    /// # Errors
    /// What it printed, if it ended instead.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut output = BufReader::new(process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?);
        let mut line = String::new();
        while !line.starts_with("ready ") {
            line.clear();
            if output.read_line(&mut line)? == 0 {
                let status = process.wait()?;
                return Err(io::Error::other(format!("the cloud ended before it was ready: {status}")));
            }
        }
        // Whatever else it says must not block it.
        std::thread::spawn(move || io::copy(&mut output, &mut io::sink()));
        let field = |name: &str| {
            let word = line.split_whitespace().find_map(|word| word.strip_prefix(name));
            word.and_then(|address| address.parse().ok())
        };
        let missing = || io::Error::other(format!("an address is missing: {line}"));
        Ok(Self {
            http: field("http=").ok_or_else(missing)?,
            coaps: field("coaps=").ok_or_else(missing)?,
            coap: field("coap="),
            process,
        })
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Kills it, as the kernel does when memory is out: nothing of the program runs any more.
    pub fn kill(&mut self) -> io::Result<()> {
        self.process.kill()?;
        self.process.wait().map(drop)
    }

    /// Asks it to end, and waits for that; nothing if it has not ended within `limit`.
    pub fn terminate(mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let asked = Command::new("kill").args(["-TERM", &self.id().to_string()]).status()?;
        if !asked.success() {
            return Err(io::Error::other("kill -TERM failed"));
        }
        let end = Instant::now() + limit;
        while Instant::now() < end {
            if let Some(status) = self.process.try_wait()? {
                return Ok(Some(status));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(None)
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Enrols `count` devices with the cloud that listens at `http` and keeps its data in `data`.
///
/// # Errors
/// What the cloud answered instead.
pub fn enrol(http: SocketAddr, data: &Path, count: usize) -> io::Result<Vec<Credential>> {
    enrol_telling(http, data, count).map(|(credentials, _)| credentials)
}

/// Enrols devices with pre-shared keys, and tells what was made of each.
pub(crate) fn enrol_telling(
    http: SocketAddr,
    data: &Path,
    count: usize,
) -> io::Result<(Vec<Credential>, Vec<Value>)> {
    let credentials: Vec<Credential> = (0..count).map(credential).collect();
    let made = import(http, data, ADMINISTRATOR, &credentials.iter().map(device).collect::<Vec<_>>())?;
    Ok((credentials, made))
}

/// The credential of the device number `n`.
pub(crate) fn credential(n: usize) -> Credential {
    Credential { identity: format!("{LABEL}{n}"), key: format!("{n:032}").into_bytes() }
}

/// The device of a credential, as it is imported.
pub(crate) fn device(Credential { identity, key }: &Credential) -> Value {
    json!({ "label": identity, "mode": "dtls-psk", "key": String::from_utf8_lossy(key) })
}

/// Makes the user `owner`, and enrols devices of theirs.
pub(crate) fn enrol_for(
    http: SocketAddr,
    data: &Path,
    owner: &str,
    credentials: &[Credential],
) -> io::Result<()> {
    let user = json!({"username": owner, "password": "owner of many devices"}).to_string();
    ask_as_admin(http, data, "POST /api/v1/users", &user)?;
    import(http, data, owner, &credentials.iter().map(device).collect::<Vec<_>>()).map(drop)
}

/// Enrols devices of the user `owner`, and tells what was made of each.
pub(crate) fn import(
    http: SocketAddr,
    data: &Path,
    owner: &str,
    devices: &[Value],
) -> io::Result<Vec<Value>> {
    let mut made = Vec::new();
    for some in devices.chunks(IMPORT) {
        let body = json!({ "devices": some }).to_string();
        let answer = ask_as_admin(http, data, &format!("POST /api/v1/users/{owner}/import"), &body)?;
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let mut answer: Value = serde_json::from_str(body)?;
        made.append(answer["devices"].as_array_mut().ok_or(io::ErrorKind::InvalidData)?);
    }
    Ok(made)
}

/// The answer to a request of the administrator of the cloud at `http`, whose data are in `data`.
pub(crate) fn ask_as_admin(http: SocketAddr, data: &Path, what: &str, body: &str) -> io::Result<String> {
    let token = std::fs::read_to_string(data.join("admin-token"))?;
    ask(http, what, token.trim(), "Content-Type: application/json\r\n", body)
}

/// How many DTLS sessions the cloud that listens at `http` says are open.
///
/// # Errors
/// What the cloud answered instead.
pub(crate) fn open_sessions(http: SocketAddr) -> io::Result<usize> {
    let metrics = ask(http, "GET /metrics", "", "", "")?;
    let value = metrics.lines().find_map(|line| line.strip_prefix("sixlock_sessions "));
    value.and_then(|value| value.parse().ok()).ok_or_else(|| io::Error::other("/metrics tells no sessions"))
}

/// What the cloud answers, if that is a success.
fn ask(http: SocketAddr, what: &str, token: &str, more: &str, body: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(http)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let authorization =
        if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    write!(
        stream,
        "{what} HTTP/1.1\r\nHost: {http}\r\n{authorization}Connection: close\r\n{more}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if answer.starts_with("HTTP/1.1 2") { Ok(answer) } else { Err(io::Error::other(answer)) }
}
