//! The kernel's own account of the order: a post is in the log, the log is on the disk, and then it is acknowledged.
//!
//! The cloud runs under strace, with plain CoAP on, so that the trace shows what it sends. Each post holds a
//! value whose eight bytes stand nowhere else: by them its page is found among what is written to the log.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use sixlock_coap_msg::{Builder, Code, ContentFormat, Message, OptionNumber, Type};
use sixlock_load::{Cloud, Program, enrol};

/// How long anything may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(120);
/// Posts that are sent at the same time, so that they share commits.
const TOGETHER: u32 = 16;
const ROUNDS: u32 = 12;

/// Not a whole number, which SQLite would store in fewer bytes; but one that decimal digits hit exactly.
fn value(post: u32) -> f64 {
    f64::from(post) + 21.0 / 64.0
}

fn request(post: u32, key: &str) -> Vec<u8> {
    let mut datagram = [0; 512];
    let token = post.to_be_bytes();
    let mut builder =
        Builder::new(&mut datagram, Type::Confirmable, Code::POST, post as u16, &token).unwrap();
    builder.path(&["resources", "data"]).unwrap().content_format(ContentFormat::SENML_JSON).unwrap();
    // The first resource of a new database.
    for argument in ["id=1", &format!("key={key}")] {
        builder.option(OptionNumber::URI_QUERY, argument.as_bytes()).unwrap();
    }
    let length = builder.finish_with(format!(r#"[{{"n":"t","v":{}}}]"#, value(post)).as_bytes()).unwrap();
    datagram[..length].to_vec()
}

/// Posts from an address each, and waits until each is acknowledged.
fn post_together(coap: SocketAddr, posts: std::ops::Range<u32>, key: &str) {
    let sockets: Vec<UdpSocket> = posts
        .clone()
        .map(|_| {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.connect(coap).unwrap();
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            socket
        })
        .collect();
    for (post, socket) in posts.clone().zip(&sockets) {
        socket.send(&request(post, key)).unwrap();
    }
    for (post, socket) in posts.zip(&sockets) {
        let mut answer = [0; 512];
        loop {
            let length = match socket.recv(&mut answer) {
                // The process was stopped meanwhile.
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                received => received.expect("an answer"),
            };
            let answer = Message::parse(&answer[..length]).unwrap();
            if answer.code() != Code::EMPTY {
                assert_eq!((answer.code(), answer.token()), (Code::CHANGED, &post.to_be_bytes()[..]));
                break;
            }
        }
    }
}

/// A system call: the lines of the trace in which it begins and ends, and what it is about.
#[derive(Debug)]
struct Call {
    began: usize,
    ended: usize,
    name: String,
    arguments: String,
}

/// Reads what `strace -f` wrote. A call during which another thread was seen stands in two lines.
fn calls(trace: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut unfinished: Vec<(String, usize)> = Vec::new();
    for (line, text) in trace.lines().enumerate() {
        let Some((thread, text)) = text.split_once(' ') else { continue };
        let text = text.trim_start();
        if text.starts_with("<... ") {
            if let Some(n) = unfinished.iter().position(|(waiting, _)| waiting == thread) {
                let call = &mut calls[unfinished.swap_remove(n).1];
                call.ended = line;
                // What the call fills in is told at its end.
                call.arguments.push_str(text);
            }
        } else if let Some((name, arguments)) = text.split_once('(') {
            let mut ended = line;
            if arguments.ends_with("<unfinished ...>") {
                unfinished.push((thread.into(), calls.len()));
                ended = usize::MAX;
            }
            calls.push(Call { began: line, ended, name: name.into(), arguments: arguments.into() });
        }
    }
    calls
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect()
}

/// The trace, once strace has written that the process ended.
fn read_trace(path: &Path, process: u32) -> String {
    // Numbers of processes are padded.
    let is_end = |line: &str| {
        line.split_once(' ').is_some_and(|(number, rest)| {
            number == process.to_string() && rest.trim_start() == "+++ exited with 0 +++"
        })
    };
    let end = Instant::now() + PATIENCE;
    loop {
        let trace = std::fs::read_to_string(path).unwrap_or_default();
        if trace.lines().any(is_end) {
            return trace;
        }
        assert!(Instant::now() < end, "strace did not see the cloud end");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn no_post_is_acknowledged_before_the_log_that_holds_it_is_on_the_disk() {
    let (program, data) = (Program::built(), tempfile::tempdir().unwrap());
    let trace = data.path().join("trace");
    let mut command = Command::new("strace");
    command.args(["-D", "-f", "-y", "-xx", "-s", "8192", "-e"]);
    command.arg("trace=write,pwrite64,fsync,fdatasync,sendto,sendmsg,sendmmsg").arg("-o").arg(&trace);
    command.arg(program.path()).args(["cloud", "--listen", "127.0.0.1:0", "--coap", "127.0.0.1:0"]);
    command.args(["--coaps", "127.0.0.1:0", "--data"]).arg(data.path());
    let cloud = Cloud::spawn(&mut command).unwrap_or_else(|error| panic!("{error}; apt-get install strace"));
    let key = enrol(cloud.http, data.path(), 1).unwrap().remove(0).key;
    let key = String::from_utf8(key).unwrap();
    for round in 0..ROUNDS {
        let first = 1 + round * TOGETHER;
        post_together(cloud.coap.unwrap(), first..first + TOGETHER, &key);
    }
    let process = cloud.id();
    assert!(cloud.terminate(PATIENCE).unwrap().expect("it ends").success());

    let calls = calls(&read_trace(&trace, process));
    // With -xx, names are written so, too.
    let log = hex(b"-wal");
    let is_log = |call: &&Call| call.arguments.split_once('>').is_some_and(|(file, _)| file.ends_with(&log));
    for post in 1..=ROUNDS * TOGETHER {
        let (stored, token) = (hex(&value(post).to_be_bytes()), hex(&post.to_be_bytes()));
        let written = calls
            .iter()
            .filter(|call| ["write", "pwrite64"].contains(&&*call.name))
            .filter(is_log)
            .find(|call| call.arguments.contains(&stored))
            .unwrap_or_else(|| panic!("post {post} was never written to the log"));
        let synced = calls
            .iter()
            .filter(|call| ["fsync", "fdatasync"].contains(&&*call.name))
            .filter(is_log)
            .find(|call| call.began > written.ended)
            .unwrap_or_else(|| panic!("the log was not synced after post {post} was written"));
        // The second byte is the code, 2.04, and from the fifth on stands the token.
        let is_acknowledgement =
            |bytes: &str| bytes.get(4..8) == Some(&*hex(&[0x44])) && bytes.get(16..32) == Some(&*token);
        let acknowledged = calls
            .iter()
            .filter(|call| call.name.starts_with("send"))
            // One call may send many.
            .find(|call| call.arguments.split('"').skip(1).step_by(2).any(is_acknowledgement))
            .unwrap_or_else(|| panic!("post {post} was not acknowledged"));
        assert!(
            synced.ended < acknowledged.began,
            "post {post}: line {} of the trace acknowledges, line {} begins to sync what line {} has written",
            acknowledged.began + 1,
            synced.began + 1,
            written.began + 1,
        );
    }
}
