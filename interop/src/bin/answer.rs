//! What runs beside a kernel that is tested: it answers datagrams and connections with what they bring, at the port and
//! the addresses that it is told, and tells what the kernel counts.
//!
//! Usage: answer ADDRESS...

use std::fs;
use std::io;
use std::net::{Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::thread;

/// The well-known port of what is called echo.
const ECHO: u16 = 7;
/// The well-known port of what is called netstat.
const NETSTAT: u16 = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A socket for each address: the answer comes from where the question went.
    for address in std::env::args().skip(1) {
        let address: Ipv6Addr = address.parse()?;
        let (echo, counts) = (UdpSocket::bind((address, ECHO))?, UdpSocket::bind((address, NETSTAT))?);
        let listener = TcpListener::bind((address, ECHO))?;
        thread::spawn(move || answer(&echo, Ok));
        thread::spawn(move || answer(&counts, |_| fs::read("/proc/net/xfrm_stat")));
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

fn answer(socket: &UdpSocket, with: impl Fn(Vec<u8>) -> io::Result<Vec<u8>>) -> io::Result<()> {
    let mut datagram = [0; 2048];
    loop {
        let (length, from) = socket.recv_from(&mut datagram)?;
        // Policy may forbid the answer; the next question is another matter.
        let _ = socket.send_to(&with(datagram[..length].to_vec())?, from);
    }
}

fn copy(mut stream: &TcpStream) -> io::Result<u64> {
    io::copy(&mut { stream }, &mut stream)
}
