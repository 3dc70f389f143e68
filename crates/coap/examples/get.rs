//! Gets a resource by CoAP over UDP, as RFC 7252 has it, and prints its payload. It asks any server, such as
//! `coap-server-notls -A 127.0.0.1 -p 5683` of libcoap.
//!
//! `cargo run -p sixlock-coap --example get -- 127.0.0.1:5683 .well-known/core`

use std::net::UdpSocket;
use std::time::Duration;

use sixlock_base::{Environment, Instant, entropy_from};
use sixlock_coap::Client;
use sixlock_coap_msg::Code;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (server, path) = arguments.next().zip(arguments.next()).ok_or("usage: get ADDRESS:PORT PATH")?;
    let socket = UdpSocket::bind("[::]:0").or_else(|_| UdpSocket::bind("0.0.0.0:0"))?;
    socket.connect(server)?;
    let start = std::time::Instant::now();
    let now = || Instant::from_millis(start.elapsed().as_millis() as u32);
    let entropy =
        entropy_from(|bytes: &mut [u8]| getrandom::fill(bytes).expect("the system gives random bytes"));
    let mut environment = Environment::new((), entropy, ());
    let mut client = Client::<256>::new();
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    client.request(&mut environment.cx(now()), true, Code::GET, |mut builder| {
        builder.path(&segments)?;
        Ok(builder.finish())
    })?;
    let mut datagram = [0; 2048];
    loop {
        while let Some(length) = client.poll_transmit(&mut environment.cx(now()), &mut datagram) {
            socket.send(&datagram[..length])?;
        }
        if let Some(event) = client.poll_event() {
            return Err(format!("there is no answer: {event:?}").into());
        }
        let wait = client.poll_timeout().map_or(1000, |deadline| now().until(deadline).millis());
        socket.set_read_timeout(Some(Duration::from_millis(wait.max(1).into())))?;
        let length = socket.recv(&mut datagram).unwrap_or(0);
        let mut cx = environment.cx(now());
        if let Some(response) = client.handle(&mut cx, &datagram[..length]) {
            let payload = String::from_utf8_lossy(response.payload()).into_owned();
            // A separate response is acknowledged.
            if let Some(length) = client.poll_transmit(&mut cx, &mut datagram) {
                socket.send(&datagram[..length])?;
            }
            println!("{payload}");
            return Ok(());
        }
        client.handle_timeout(&mut cx);
    }
}
