//! Stations that are programs hear each other.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use sixlock_router::{Air, Inbound};
use sixlock_zep::{HEADER, PORT, acknowledgement, hello};

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

#[test]
fn those_that_only_greet_keep_no_station_out() {
    let mut hub = Air::host(([127, 0, 0, 1], 0).into(), 26).unwrap();
    let address = hub.address().unwrap();
    let at_hub = listen(&hub);
    let strangers: Vec<_> = (0..256).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
    // Until the hub has taken in all of them, and one was too many.
    let last = UdpSocket::bind("127.0.0.1:0").unwrap();
    let started = Instant::now();
    loop {
        for stranger in strangers.iter().chain([&last]) {
            stranger.send_to(&hello(), address).unwrap();
        }
        match at_hub.recv_timeout(Duration::from_millis(100)) {
            Ok(inbound) => {
                assert!(matches!(inbound, Inbound::ChannelFull(_)), "{inbound:?}");
                break;
            }
            Err(_) => assert!(started.elapsed() < PATIENCE, "nobody is told that the channel is full"),
        }
    }
    let mut station = Air::join(address, 26, 1).unwrap();
    let at_station = listen(&station);
    let started = Instant::now();
    while !at_hub.try_iter().any(|inbound| inbound == Inbound::Frame(b"from the station".to_vec())) {
        station.send(b"from the station");
        std::thread::sleep(Duration::from_millis(10));
        assert!(started.elapsed() < PATIENCE, "the hub does not hear it");
    }
    // It stays, whoever greets.
    for stranger in &strangers {
        stranger.send_to(&hello(), address).unwrap();
    }
    heard(&mut hub, b"from the hub", &at_station);
}

#[test]
fn a_station_returns_what_the_hub_challenges_it_with() {
    let hub = UdpSocket::bind("127.0.0.1:0").unwrap();
    hub.set_read_timeout(Some(PATIENCE)).unwrap();
    let station = Air::join(hub.local_addr().unwrap(), 26, 1).unwrap();
    let _at_station = listen(&station);
    let mut buffer = [0; 64];
    let (length, from) = hub.recv_from(&mut buffer).unwrap();
    assert_eq!(buffer[..length], hello());
    hub.send_to(&acknowledgement(0x0102_0304), from).unwrap();
    let length = hub.recv(&mut buffer).unwrap();
    assert_eq!(buffer[..length], acknowledgement(0x0102_0304));
}
