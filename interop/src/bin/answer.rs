//! What runs beside a kernel that is tested, at the addresses that it is told. It answers datagrams and connections with
//! what they bring, tells what the kernel counts, asks others for echoes, and runs programs of the machine.
//!
//! Usage: answer ADDRESS...

use std::borrow::Cow;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::net::{Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// The well-known port of what is called echo.
const ECHO: u16 = 7;
/// The well-known port of what is called netstat.
const NETSTAT: u16 = 15;
/// Ports of our own.
const ASK: u16 = 1007;
const RUN: u16 = 1008;
/// How often a question is put that gets no answer.
const QUESTIONS: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    // Sockets for each address: the answer comes from where the question went.
    for address in std::env::args().skip(1) {
        let address: Ipv6Addr = address.parse()?;
        serve(address, ECHO, |question| Ok(question.to_vec()))?;
        serve(address, NETSTAT, |_| fs::read("/proc/net/xfrm_stat"))?;
        serve(address, ASK, move |question| ask(address, question))?;
        serve(address, RUN, run)?;
        let listener = TcpListener::bind((address, ECHO))?;
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || copy(&stream));
            }
        });
    }
    println!("ready");
    loop {
        thread::park();
    }
}

/// Answers datagrams by what `answer` makes of them.
fn serve(
    address: Ipv6Addr,
    port: u16,
    answer: impl Fn(&[u8]) -> io::Result<Vec<u8>> + Send + 'static,
) -> io::Result<()> {
    let socket = UdpSocket::bind((address, port))?;
    thread::spawn(move || {
        let mut datagram = [0; 2048];
        while let Ok((length, from)) = socket.recv_from(&mut datagram) {
            if let Ok(answer) = answer(&datagram[..length]) {
                // Policy may forbid it; the next question is another matter.
                let _ = socket.send_to(&answer, from);
            }
        }
    });
    Ok(())
}

fn copy(mut stream: &TcpStream) -> io::Result<u64> {
    io::copy(&mut { stream }, &mut stream)
}

/// The echo of all but the first line of `question`, by the host that this line names; it also tells how many milliseconds an
/// answer may take before the question is put again.
fn ask(from: Ipv6Addr, question: &[u8]) -> io::Result<Vec<u8>> {
    let (whose, payload) = first_line(question);
    let (whose, patience) = whose.split_once(' ').unwrap_or((&whose, "20000"));
    let whose: Ipv6Addr = whose.parse().map_err(io::Error::other)?;
    let patience = Duration::from_millis(patience.parse().map_err(io::Error::other)?);
    let socket = UdpSocket::bind((from, 0))?;
    socket.set_read_timeout(Some(patience))?;
    let mut answer = vec![0; 2048];
    let mut received = Err(io::ErrorKind::TimedOut.into());
    for _ in 0..QUESTIONS {
        socket.send_to(payload, (whose, ECHO))?;
        received = socket.recv(&mut answer);
        if received.is_ok() {
            break;
        }
    }
    answer.truncate(received?);
    Ok(answer)
}

/// What a program prints: the first line of `question` is the command, the others it reads.
fn run(question: &[u8]) -> io::Result<Vec<u8>> {
    let (command, input) = first_line(question);
    let mut words = command.split(' ');
    let mut command = Command::new(words.next().unwrap_or_default());
    let command = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = command.spawn()?;
    if let Some(mut stdin) = program.stdin.take() {
        stdin.write_all(input)?;
    }
    let output = program.wait_with_output()?;
    Ok([output.stdout, output.stderr].concat())
}

fn first_line(question: &[u8]) -> (Cow<'_, str>, &[u8]) {
    let end = question.iter().position(|&byte| byte == b'\n').unwrap_or(question.len());
    (String::from_utf8_lossy(&question[..end]), question.get(end + 1..).unwrap_or_default())
}
