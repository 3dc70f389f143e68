//! The stations that have joined the radio channel of a hub.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use sixlock_zep::Datagram;

/// Those that may have joined a channel at the same time.
const JOINED: usize = 256;
/// How long those are remembered that do not greet.
const SILENCE: Duration = Duration::from_secs(60);

/// At most 256 stations. One that has not greeted for a minute is forgotten.
///
/// A station at this machine's loopback has joined when it greets or sends. Another is first sent a number of the size of an
/// acknowledgement, and has joined when it returns that: nobody joins in another's name, to have the channel's frames sent there.
///
/// When all places are taken, a newcomer gets that of one that never sent a frame: of the network that has the most such
/// places, the one that joined first. If all have sent frames, it gets that of the network with the most places which sent
/// longest ago, unless its own network has as many; else it has to wait. A network is an address of IPv4, or the first 64 bits
/// of one of IPv6.
#[derive(Debug)]
pub(crate) struct Stations {
    joined: BTreeMap<SocketAddr, Station>,
    /// How many newcomers have found all places taken, and whether that is still to be told.
    crowded: u64,
    untold: bool,
    /// Makes the numbers that newcomers are to return.
    secret: RandomState,
    started: Instant,
}

#[derive(Debug)]
struct Station {
    joined: Instant,
    heard: Instant,
    /// When it last sent a frame.
    sent: Option<Instant>,
}

/// What is to be done with a datagram.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reception {
    /// Nothing.
    Done,
    /// Its sender is to return this number.
    Challenge(u32),
    /// It is a frame, which these hear, too.
    Frame(Vec<SocketAddr>),
}

impl Stations {
    pub(crate) fn new(now: Instant) -> Self {
        Self { joined: BTreeMap::new(), crowded: 0, untold: false, secret: RandomState::new(), started: now }
    }

    /// Those that hear what the hub sends.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &SocketAddr> {
        self.joined.keys()
    }

    /// Takes in a datagram.
    pub(crate) fn receive(&mut self, from: SocketAddr, datagram: &Datagram<'_>, now: Instant) -> Reception {
        self.joined.retain(|_, station| now.duration_since(station.heard) < SILENCE);
        let is_at_loopback = from.ip().to_canonical().is_loopback();
        match datagram {
            Datagram::Hello if !is_at_loopback => {
                return Reception::Challenge(self.number(from, self.period(now)));
            }
            Datagram::Acknowledgement(number) if !is_at_loopback => {
                let period = self.period(now);
                let is_right = |period| self.number(from, period) == *number;
                if is_right(period) || period.checked_sub(1).is_some_and(is_right) {
                    self.greet(from, now);
                }
            }
            Datagram::Acknowledgement(_) => {}
            Datagram::Hello => _ = self.greet(from, now),
            Datagram::Frame(..) => {
                let station = match is_at_loopback {
                    true => self.greet(from, now),
                    false => self.joined.get_mut(&from),
                };
                if let Some(station) = station {
                    station.sent = Some(now);
                    let others = self.joined.keys().filter(|&&other| other != from);
                    return Reception::Frame(others.copied().collect());
                }
            }
        }
        Reception::Done
    }

    /// How many newcomers have found all places taken, told at the first, and whenever they are twice as many.
    pub(crate) fn poll_crowded(&mut self) -> Option<u64> {
        std::mem::take(&mut self.untold).then_some(self.crowded)
    }

    /// The station at `from`, which was heard now; nothing if there is no place for it.
    fn greet(&mut self, from: SocketAddr, now: Instant) -> Option<&mut Station> {
        if !self.joined.contains_key(&from) && self.joined.len() == JOINED {
            self.crowded += 1;
            self.untold |= self.crowded.is_power_of_two();
            let displaced = self.displaced(from)?;
            self.joined.remove(&displaced);
        }
        let station = self.joined.entry(from).or_insert(Station { joined: now, heard: now, sent: None });
        station.heard = now;
        Some(station)
    }

    /// Whose place a newcomer gets.
    fn displaced(&self, newcomer: SocketAddr) -> Option<SocketAddr> {
        // Of each network, the places of those that never sent a frame, and all.
        let mut places: BTreeMap<IpAddr, (usize, usize)> = BTreeMap::new();
        for (address, station) in &self.joined {
            let (silent, all) = places.entry(network(*address)).or_default();
            (*silent, *all) = (*silent + usize::from(station.sent.is_none()), *all + 1);
        }
        let places = |address: SocketAddr| places.get(&network(address)).copied().unwrap_or_default();
        let (_, own) = places(newcomer);
        let rank = |(&address, station): (&SocketAddr, &Station)| {
            let (silent, all) = places(address);
            match station.sent {
                None => Some((false, Reverse(silent), station.joined, address)),
                Some(sent) if all > own + 1 => Some((true, Reverse(all), sent, address)),
                Some(_) => None,
            }
        };
        self.joined.iter().filter_map(rank).min().map(|(.., address)| address)
    }

    fn period(&self, now: Instant) -> u64 {
        now.duration_since(self.started).as_secs() / SILENCE.as_secs()
    }

    /// What the station at `from` is to return. Whoever does not receive it guesses one in 2^32.
    fn number(&self, from: SocketAddr, period: u64) -> u32 {
        self.secret.hash_one((from, period)) as u32
    }
}

/// What addresses of one holder have in common.
fn network(address: SocketAddr) -> IpAddr {
    match address.ip().to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_zep::Header;

    const FRAME: Datagram<'_> =
        Datagram::Frame(Header { channel: 26, device: 1, timestamp: (0, 0), sequence: 0 }, b"abc");

    fn at(network: u8, port: u16) -> SocketAddr {
        ([192, 0, 2, network], port).into()
    }

    fn local(port: u16) -> SocketAddr {
        ([127, 0, 0, 1], port).into()
    }

    struct Hub(Stations, Instant);

    impl Hub {
        fn new() -> Self {
            let now = Instant::now();
            Self(Stations::new(now), now)
        }

        fn receive(&mut self, from: SocketAddr, datagram: Datagram<'_>) -> Reception {
            self.0.receive(from, &datagram, self.1)
        }

        fn join(&mut self, from: SocketAddr) {
            let Reception::Challenge(number) = self.receive(from, Datagram::Hello) else { panic!() };
            assert_eq!(self.receive(from, Datagram::Acknowledgement(number)), Reception::Done);
            self.1 += Duration::from_millis(1);
        }

        fn sends(&mut self, from: SocketAddr) {
            assert!(matches!(self.receive(from, FRAME), Reception::Frame(_)), "{from}");
            self.1 += Duration::from_millis(1);
        }

        fn has(&self, address: SocketAddr) -> bool {
            self.0.joined.contains_key(&address)
        }
    }

    #[test]
    fn another_machine_joins_when_it_has_returned_what_it_was_sent() {
        let mut hub = Hub::new();
        let Reception::Challenge(number) = hub.receive(at(1, 1), Datagram::Hello) else { panic!() };
        assert_eq!(hub.receive(at(1, 1), FRAME), Reception::Done, "it has not joined");
        hub.receive(at(1, 1), Datagram::Acknowledgement(!number));
        hub.receive(at(1, 2), Datagram::Acknowledgement(number));
        assert!(hub.0.joined.is_empty());
        hub.receive(at(1, 1), Datagram::Acknowledgement(number));
        assert!(hub.has(at(1, 1)));
        hub.receive(local(1), Datagram::Hello);
        assert_eq!(hub.receive(at(1, 1), FRAME), Reception::Frame(vec![local(1)]));
        // Neither greetings nor frames keep it there, which anybody may send in its name.
        for _ in 0..6 {
            hub.1 += Duration::from_secs(10);
            hub.receive(at(1, 1), Datagram::Hello);
            hub.receive(at(1, 1), FRAME);
        }
        assert!(!hub.has(at(1, 1)));
        // What it was sent a minute ago or less is still good, and nothing older.
        let Reception::Challenge(number) = hub.receive(at(1, 1), Datagram::Hello) else { panic!() };
        hub.1 += Duration::from_secs(60);
        hub.receive(at(1, 1), Datagram::Acknowledgement(number));
        assert!(hub.has(at(1, 1)));
        hub.1 += Duration::from_secs(60);
        hub.receive(at(1, 1), Datagram::Acknowledgement(number));
        assert!(!hub.has(at(1, 1)));
    }

    #[test]
    fn one_that_never_sent_a_frame_gives_its_place_to_a_newcomer() {
        let mut hub = Hub::new();
        hub.join(at(1, 1));
        hub.sends(at(1, 1));
        // It only listens, and is the only one of its network.
        hub.join(at(2, 1));
        for port in 0..254 {
            hub.join(at(3, port));
        }
        assert_eq!(hub.0.poll_crowded(), None);
        for port in 254..1000 {
            hub.join(at(3, port));
        }
        assert_eq!(hub.0.joined.len(), JOINED);
        assert!(hub.has(at(1, 1)) && hub.has(at(2, 1)) && hub.has(at(3, 999)) && !hub.has(at(3, 0)));
        assert_eq!((hub.0.poll_crowded(), hub.0.poll_crowded()), (Some(746), None));
        // At loopback a frame is enough.
        hub.sends(local(1));
        assert!(hub.has(local(1)));
    }

    #[test]
    fn a_network_whose_stations_all_send_takes_no_more_places_than_others_need() {
        let mut hub = Hub::new();
        for port in 0..256 {
            hub.join(at(3, port));
            hub.sends(at(3, port));
        }
        hub.sends(at(3, 0));
        for port in 0..200 {
            hub.join(at(1, port));
            if hub.has(at(1, port)) {
                hub.sends(at(1, port));
            }
        }
        let of = |network| hub.0.addresses().filter(|address| address.ip() == at(network, 0).ip()).count();
        assert_eq!((of(1), of(3)), (128, 128));
        // Who sent longest ago went first.
        assert!(hub.has(at(3, 0)) && !hub.has(at(3, 1)));
    }
}
