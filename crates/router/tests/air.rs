//! Stations that are programs hear each other.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use sixlock_router::{Air, Inbound};
use sixlock_zep::{HEADER, PORT, hello};

const PATIENCE: Duration = Duration::from_secs(120);

fn listen(air: &Air) -> Receiver<Inbound> {
    let (inbound, frames) = sync_channel(64);
    air.read(inbound).unwrap();
    frames
}

/// Sends until it is heard: to join takes a moment.
fn heard(air: &mut Air, frame: &[u8], at: &Receiver<Inbound>) {
    let started = Instant::now();
    loop {
        air.send(frame);
        match at.recv_timeout(Duration::from_millis(100)) {
            Ok(inbound) if inbound == Inbound::Frame(frame.to_vec()) => return,
            _ => assert!(started.elapsed() < PATIENCE, "nobody hears it"),
        }
    }
}

#[test]
fn what_one_sends_all_others_hear_and_it_does_not() {
    let mut hub = Air::host(([127, 0, 0, 1], 0).into(), 26).unwrap();
    let address = hub.address().unwrap();
    let at_hub = listen(&hub);
    let [mut first, second] = [1, 2].map(|device| Air::join(address, 26, device).unwrap());
    let (at_first, at_second) = (listen(&first), listen(&second));
    heard(&mut hub, b"from the hub", &at_first);
    heard(&mut hub, b"from the hub again", &at_second);
    heard(&mut first, b"from the first", &at_second);
    assert_eq!(at_hub.recv_timeout(PATIENCE), Ok(Inbound::Frame(b"from the first".to_vec())));
    drop(first);
    // What else it has heard is the hub's; and its reader ends with it.
    let rest = std::iter::from_fn(|| {
        at_first
            .recv_timeout(PATIENCE)
            .map_err(|error| assert_eq!(error, RecvTimeoutError::Disconnected))
            .ok()
    });
    assert!(
        rest.collect::<Vec<_>>().iter().all(|inbound| *inbound != Inbound::Frame(b"from the first".to_vec()))
    );
}

#[test]
fn a_frame_is_a_datagram_of_zep_and_anything_else_is_not_heard() {
    let mut hub = Air::host(([127, 0, 0, 1], 0).into(), 26).unwrap();
    let at_hub = listen(&hub);
    let other = UdpSocket::bind("127.0.0.1:0").unwrap();
    other.set_read_timeout(Some(PATIENCE)).unwrap();
    other.connect(hub.address().unwrap()).unwrap();
    for wrong in [&b""[..], b"EX", &[0xff; 200], &hello()[..31]] {
        other.send(wrong).unwrap();
    }
    other.send(&hello()).unwrap();
    let mut frame = *b"EX\x02\x01\x1a\0\x07\x01\xff\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\x03abc";
    other.send(&frame).unwrap();
    assert_eq!(at_hub.recv_timeout(PATIENCE), Ok(Inbound::Frame(b"abc".to_vec())));
    hub.send(b"defg");
    let mut buffer = [0; 64];
    let length = loop {
        match other.recv(&mut buffer) {
            // The process was stopped meanwhile.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            received => break received.unwrap(),
        }
    };
    assert_eq!(length, HEADER + 4);
    assert_eq!((&buffer[..5], buffer[31], &buffer[32..36]), (&b"EX\x02\x01\x1a"[..], 4, &b"defg"[..]));
    // A length that is more than there is.
    frame[31] = 4;
    other.send(&frame).unwrap();
    assert_eq!(at_hub.recv_timeout(Duration::from_millis(200)), Err(RecvTimeoutError::Timeout));
    assert_eq!(PORT, 17754);
}
