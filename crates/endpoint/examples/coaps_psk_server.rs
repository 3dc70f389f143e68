//! A coaps server for many clients with a pre-shared key: it has a reading at `/reading`. It speaks to
//! `coap-client-openssl -u client -k secretPSK coaps://127.0.0.1:5684/reading` of libcoap.
//!
//! `cargo run -p sixlock-endpoint --example coaps_psk_server -- 127.0.0.1:5684`

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use sixlock_base::{Environment, Instant, entropy_from};
use sixlock_coap_msg::{Code, ContentFormat};
use sixlock_crypto::Soft;
use sixlock_endpoint::{Answer, Config, Endpoint, Event, InPlace, Transport};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let socket = UdpSocket::bind(std::env::args().nth(1).ok_or("usage: coaps_psk_server ADDRESS:PORT")?)?;
    println!("listening on {}", socket.local_addr()?);
    let start = std::time::Instant::now();
    let now = || Instant::from_millis(start.elapsed().as_millis() as u32);
    let entropy =
        entropy_from(|bytes: &mut [u8]| getrandom::fill(bytes).expect("the system gives random bytes"));
    let mut environment = Environment::new(Soft, entropy, ());
    let config = Config { max_sessions: 16, ..Config::default() };
    let mut server =
        Endpoint::<_, SocketAddr, InPlace<16, 0, 256>, 4>::new(&mut environment.cx(now()), config);
    let (mut datagram, mut out) = ([0; 2048], [0; 2048]);
    loop {
        let wait = server.poll_timeout().map_or(60_000, |deadline| now().until(deadline).millis());
        socket.set_read_timeout(Some(Duration::from_millis(wait.max(1).into())))?;
        let received = socket.recv_from(&mut datagram).ok();
        let mut cx = environment.cx(now());
        let (length, from) = received.unwrap_or((0, socket.local_addr()?));
        let mut rest = &mut datagram[..length];
        while !rest.is_empty() {
            let taken = server.handle(&mut cx, Transport::Dtls, from, rest);
            if let Some(request) = taken.request {
                let is_known = request.message.code() == Code::GET && request.message.path_is(&["reading"]);
                let reading = Answer::content(Code::CONTENT, ContentFormat::TEXT, b"21.5 Cel");
                let answer = if is_known { reading } else { Code::NOT_FOUND.into() };
                server.respond(&mut cx, request.id, answer)?;
            }
            rest = taken.rest;
        }
        let mut asked = None;
        while let Some(event) = server.poll_event() {
            if let Event::Work { session, identity, .. } = event {
                asked = Some((session, (identity == b"client").then_some(&b"secretPSK"[..])));
            }
            if let Some((session, key)) = asked.take() {
                server.provide_key(&mut cx, session, key)?;
            }
        }
        server.handle_timeout(&mut cx);
        while let Some(sent) = server.poll_transmit(&mut cx, &mut out) {
            socket.send_to(&out[..sent.len], sent.to)?;
        }
    }
}
