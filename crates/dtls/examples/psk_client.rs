//! A DTLS client with a pre-shared key: it sends a line over UDP, and prints the answer. It speaks to the example `psk_server`, and to
//! `openssl s_server -dtls1_2 -port 4433 -nocert -psk 0102030405060708 -psk_hint any -cipher PSK-AES128-CCM8`.
//!
//! `cargo run -p sixlock-dtls --example psk_client -- 127.0.0.1:4433 hello`

use std::net::UdpSocket;
use std::time::Duration;

use sixlock_base::{Environment, Instant, entropy_from};
use sixlock_crypto::Soft;
use sixlock_dtls::{Client, Completion, Config, Event, Handshake, Session, Work};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (server, line) =
        arguments.next().zip(arguments.next()).ok_or("usage: psk_client ADDRESS:PORT LINE")?;
    let socket = UdpSocket::bind("[::]:0").or_else(|_| UdpSocket::bind("0.0.0.0:0"))?;
    socket.connect(server)?;
    let start = std::time::Instant::now();
    let now = || Instant::from_millis(start.elapsed().as_millis() as u32);
    let entropy =
        entropy_from(|bytes: &mut [u8]| getrandom::fill(bytes).expect("the system gives random bytes"));
    let mut environment = Environment::new(Soft, entropy, ());
    let mut session = Session::<Soft, Client, _>::new(Some(Box::new(Handshake::new())));
    session.connect(&mut environment.cx(now()), &Config::HOST, None);
    let (mut datagram, mut is_answered) = ([0; 2048], false);
    while !is_answered {
        let mut cx = environment.cx(now());
        while let Some(event) = session.poll_event() {
            match event {
                Event::Work(Work::Psk { .. }) => {
                    let key = &[1, 2, 3, 4, 5, 6, 7, 8];
                    session.complete(&mut cx, Completion::Psk { identity: b"client", key })?;
                }
                Event::Connected => {
                    let length = session.seal_into(&mut cx, line.as_bytes(), &mut datagram)?;
                    socket.send(&datagram[..length])?;
                }
                event => return Err(format!("the session has ended: {event:?}").into()),
            }
        }
        while let Some(length) = session.poll_transmit(&mut cx, &mut datagram) {
            socket.send(&datagram[..length])?;
        }
        let wait = session.poll_timeout().map_or(5000, |deadline| now().until(deadline).millis());
        socket.set_read_timeout(Some(Duration::from_millis(wait.max(1).into())))?;
        let length = socket.recv(&mut datagram).unwrap_or(0);
        let mut cx = environment.cx(now());
        session.handle_all(&mut cx, &mut datagram[..length], |data| {
            println!("{}", String::from_utf8_lossy(data));
            is_answered = true;
        });
        session.handle_timeout(&mut cx);
    }
    Ok(())
}
