//! A DTLS server with a pre-shared key, for one client at a time: it sends back what it gets. It speaks to the example `psk_client`, and to
//! `openssl s_client -dtls1_2 -connect 127.0.0.1:4433 -psk 0102030405060708 -psk_identity client -cipher PSK-AES128-CCM8`.
//!
//! `cargo run -p sixlock-dtls --example psk_server -- 127.0.0.1:4433`

use std::net::UdpSocket;
use std::time::Duration;

use sixlock_base::{Environment, Instant, entropy_from};
use sixlock_crypto::Soft;
use sixlock_dtls::{
    Completion, Config, CookieSecrets, Event, Handshake, Listen, Server, Session, Work, listen,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).ok_or("usage: psk_server ADDRESS:PORT")?;
    let socket = UdpSocket::bind(address)?;
    println!("listening on {}", socket.local_addr()?);
    let start = std::time::Instant::now();
    let now = || Instant::from_millis(start.elapsed().as_millis() as u32);
    let entropy =
        entropy_from(|bytes: &mut [u8]| getrandom::fill(bytes).expect("the system gives random bytes"));
    let mut environment = Environment::new(Soft, entropy, ());
    let secrets = CookieSecrets::new(&mut environment.entropy);
    let mut session = Session::<Soft, Server, Option<Box<_>>>::new(None);
    let mut peer = socket.local_addr()?;
    let (mut datagram, mut out) = ([0; 2048], [0; 2048]);
    loop {
        let wait = session.poll_timeout().map_or(60_000, |deadline| now().until(deadline).millis());
        socket.set_read_timeout(Some(Duration::from_millis(wait.max(1).into())))?;
        let received = socket.recv_from(&mut datagram).ok();
        let mut cx = environment.cx(now());
        if let Some((length, from)) = received {
            // Whoever has not shown their cookie costs no memory.
            match listen(&mut cx, &secrets, from.to_string().as_bytes(), &datagram[..length], &mut out) {
                Listen::Reply(length) | Listen::Refuse(length, _) => {
                    _ = socket.send_to(&out[..length], from)?
                }
                Listen::Accept(hello) if from != peer || !session.began_with(&hello) => {
                    peer = from;
                    session =
                        Session::server(&mut cx, &hello, Config::HOST, Some(Box::new(Handshake::new())));
                }
                _ if from == peer => {
                    let mut lines = Vec::new();
                    session.handle_all(&mut cx, &mut datagram[..length], |data| lines.push(data.to_vec()));
                    for line in lines {
                        let length = session.seal_into(&mut cx, &line, &mut out)?;
                        socket.send_to(&out[..length], peer)?;
                    }
                }
                _ => {}
            }
        }
        while let Some(event) = session.poll_event() {
            if let Event::Work(Work::Psk { identity }) = event {
                let key = (identity == b"client").then_some(&[1, 2, 3, 4, 5, 6, 7, 8][..]);
                session.complete(&mut cx, Completion::psk(key))?;
            }
        }
        while let Some(length) = session.poll_transmit(&mut cx, &mut out) {
            socket.send_to(&out[..length], peer)?;
        }
        session.handle_timeout(&mut cx);
    }
}
