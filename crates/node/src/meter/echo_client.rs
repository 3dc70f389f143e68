//! Echoes to one peer, of several sizes, and how long each is under way.

use core::net::Ipv6Addr;

use sixlock_base::{Array, Cx, Duration, Entropy, Eui64, Instant, Packet, Slot, Symbols};
use sixlock_crypto::Crypto;
use sixlock_interface::Datagram;

use crate::application::Application;
use crate::config::{Cloud, TooLong};
use crate::schedule::next_after;

/// How many bytes echoes carry: those of the experiments.
pub const SIZES: [u16; 6] = [16, 64, 128, 256, 384, 512];
/// How many echoes there are of each size.
pub const ECHOES: u16 = 100;

/// The UDP port that echoes go out from: those below 1024 get no answer.
const CLIENT_PORT: u16 = 49_153;

/// What became of the echoes of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoTimes {
    /// How many were sent.
    pub sent: u16,
    /// How many came back before the next was due.
    pub answered: u16,
    /// How long those took, there and back, all together, in symbols of 16 µs: from the event at which an echo is due to the last symbol of the
    /// frame that completes its answer.
    pub sum: u32,
    /// The shortest of these times.
    pub least: u32,
    /// The longest.
    pub most: u32,
}

/// Sends [`ECHOES`] echoes of each of [`SIZES`] to the echo service of a peer (RFC 862), in the clear: one of each size in turn, one a period. An
/// echo that is not back when the next is due is lost.
///
/// The milliseconds of [`Cx::now`] are too coarse for what it measures: its driver tells it the radio's time, too.
pub struct EchoClient {
    peer: (Ipv6Addr, u16),
    period: Duration,
    /// None before it was told whom to ask, and behind the last echo.
    next: Option<Instant>,
    is_over: bool,
    /// Whether an echo is due that is not sent yet.
    is_due: bool,
    at: Symbols,
    /// When the echo was sent that is under way.
    under_way: Slot<Symbols>,
    /// Its number, from 1 on, and the index of its size.
    number: u16,
    size: u8,
    times: [EchoTimes; SIZES.len()],
}

impl EchoClient {
    const fn new() -> Self {
        Self {
            peer: (Ipv6Addr::UNSPECIFIED, 0),
            period: Duration::from_millis(0),
            next: None,
            is_over: false,
            is_due: false,
            at: Symbols::new(0),
            under_way: Slot::Empty,
            number: 0,
            size: 0,
            times: [EchoTimes { sent: 0, answered: 0, sum: 0, least: 0, most: 0 }; SIZES.len()],
        }
    }

    /// Takes in the radio's time of what the node is told next: to be called before each call of the node.
    pub fn set_radio_time(&mut self, at: Symbols) {
        self.at = at;
    }

    /// Whether all echoes were sent and waited for.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// What became of them, by size.
    pub fn times(&self) -> &[EchoTimes; SIZES.len()] {
        &self.times
    }

    /// How many bytes the latest echo carries, and what became of those of its size.
    fn latest(&mut self) -> Option<(u16, &mut EchoTimes)> {
        let index = usize::from(self.size);
        SIZES.get(index).copied().zip(self.times.get_mut(index))
    }
}

/// What echo `number` carries.
fn content(number: u16) -> impl Iterator<Item = u8> {
    let [high, low] = number.to_be_bytes();
    [high, low].into_iter().chain((0..).map(move |n: u16| low.wrapping_add(n as u8)))
}

impl<C: Crypto> Application<C> for EchoClient {
    /// Its peer asks for nothing.
    type Access<'a> = ();

    const NEW: Self = Self::new();

    fn start(&mut self, now: Instant, peer: &Cloud<()>) -> Result<(), TooLong> {
        self.peer = (peer.address, peer.port);
        self.period = peer.period;
        self.next = Some(now + peer.first);
        Ok(())
    }

    fn period(&self) -> Duration {
        self.period
    }

    fn port(&self) -> u16 {
        CLIENT_PORT
    }

    fn takes(&self, datagram: &Datagram<'_>) -> bool {
        datagram.destination_port == CLIENT_PORT
            && (datagram.source, datagram.source_port) == self.peer
            && self.under_way.is_full()
    }

    fn handle<E: Entropy, N, B: Array<u8>>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: Eui64,
        datagram: Datagram<'_>,
        _: &mut Packet<B>,
    ) -> bool {
        let (at, number) = (self.at, self.number);
        let since = self.under_way.get().copied();
        let Some((since, (bytes, times))) = since.zip(self.latest()) else { return false };
        let expected = content(number).take(bytes.into());
        if datagram.payload.iter().copied().eq(expected) {
            let took = at.count().wrapping_sub(since.count());
            times.least = if times.answered == 0 { took } else { times.least.min(took) };
            times.most = times.most.max(took);
            times.sum = times.sum.saturating_add(took);
            times.answered += 1;
            self.under_way = Slot::Empty;
        }
        false
    }

    fn poll_transmit<E: Entropy, N, B: Array<u8>>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<B>,
    ) -> Option<(Ipv6Addr, u16)> {
        if !core::mem::take(&mut self.is_due) {
            return None;
        }
        let number = self.number;
        let (bytes, times) = self.latest()?;
        let payload = packet.push_back(bytes.into()).ok()?;
        for (byte, content) in payload.iter_mut().zip(content(number)) {
            *byte = content;
        }
        times.sent += 1;
        self.under_way = Slot::Full(self.at);
        Some(self.peer)
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.next
    }

    fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        let Some(due) = self.next.filter(|due| cx.now.has_reached(*due)) else { return };
        self.under_way = Slot::Empty;
        if self.number > 0 {
            self.size += 1;
        }
        if usize::from(self.size) == SIZES.len() {
            self.size = 0;
        }
        self.is_over = self.number == ECHOES * SIZES.len() as u16;
        self.is_due = !self.is_over;
        self.number += u16::from(self.is_due);
        self.next = self.is_due.then(|| next_after(due, self.period, cx.now));
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use sixlock_crypto::Soft;
    use sixlock_testing::Rig;

    use super::*;

    const PEER: Cloud<()> = Cloud {
        address: Ipv6Addr::LOCALHOST,
        port: 7,
        access: (),
        period: Duration::from_millis(1000),
        first: Duration::from_millis(3000),
    };

    struct Station {
        client: EchoClient,
        rig: Rig,
    }

    impl Station {
        fn new() -> Self {
            let mut station = Self { client: EchoClient::new(), rig: Rig::near_wrap(1) };
            Application::<Soft>::start(&mut station.client, station.rig.now, &PEER).unwrap();
            station
        }

        fn next(&mut self) -> Option<Instant> {
            Application::<Soft>::poll_timeout(&mut self.client)
        }

        /// Lets time go on to the next echo; what it carries.
        fn echo(&mut self, at: u32) -> Option<Vec<u8>> {
            let next = self.next()?;
            self.client.set_radio_time(Symbols::new(at));
            self.client.handle_timeout(&mut self.rig.at(next));
            let mut packet = Packet::<[u8; 600]>::new();
            packet.reset(48);
            let peer = self.client.poll_transmit(&mut self.rig.cx(), &mut packet)?;
            assert_eq!(peer, (PEER.address, 7));
            assert_eq!(self.client.poll_transmit(&mut self.rig.cx(), &mut packet), None, "one is sent once");
            Some(packet.bytes().to_vec())
        }

        /// The peer sends `payload` back.
        fn answer(&mut self, at: u32, mut payload: Vec<u8>) {
            self.client.set_radio_time(Symbols::new(at));
            let datagram = Datagram {
                source: PEER.address,
                source_port: 7,
                destination: Ipv6Addr::LOCALHOST,
                destination_port: CLIENT_PORT,
                payload: &mut payload,
            };
            if Application::<Soft>::takes(&self.client, &datagram) {
                let answer = &mut Packet::<[u8; 1]>::new();
                assert!(!self.client.handle(&mut self.rig.cx(), Eui64::of_node(1), datagram, answer));
            }
        }
    }

    #[test]
    fn each_size_is_sent_in_turn_as_often_as_the_others_one_a_period() {
        let mut station = Station::new();
        let start = station.rig.now;
        let sent: Vec<_> = (0..).map_while(|_| Some((station.next()?, station.echo(0)?))).collect();
        assert_eq!(sent.len(), usize::from(ECHOES) * SIZES.len());
        for (n, (due, payload)) in (0u32..).zip(&sent) {
            assert_eq!(due.since(start).millis(), 3000 + 1000 * n);
            assert_eq!(payload.len(), usize::from(SIZES[n as usize % SIZES.len()]));
        }
        assert!(station.client.is_over() && station.next().is_none());
        assert!(station.client.times().iter().all(|times| (times.sent, times.answered) == (ECHOES, 0)));
    }

    #[test]
    fn the_last_echo_is_waited_for_as_long_as_the_others() {
        let mut station = Station::new();
        let all = usize::from(ECHOES) * SIZES.len();
        let last = (0..all).filter_map(|_| station.echo(10)).last().unwrap();
        assert!(!station.client.is_over());
        station.answer(40, last);
        assert_eq!(station.client.times()[SIZES.len() - 1].answered, 1);
        assert_eq!(station.echo(0), None);
        assert!(station.client.is_over());
    }

    #[test]
    fn round_trips_are_those_of_echoes_that_come_back_whole_once_and_in_time() {
        let mut station = Station::new();
        for (sent, back) in [(u32::MAX - 99, 100), (1000, 1120), (5000, 5130)] {
            let echo = station.echo(sent).unwrap();
            let mut other = echo.clone();
            other[9] ^= 1;
            station.answer(back - 10, other);
            station.answer(back - 10, echo[1..].to_vec());
            station.answer(back, echo.clone());
            station.answer(back + 10, echo);
            for _ in 1..SIZES.len() {
                station.echo(0).unwrap();
            }
        }
        let late = station.echo(0).unwrap();
        station.echo(0).unwrap();
        station.answer(10, late);
        let expected = EchoTimes { sent: 4, answered: 3, sum: 200 + 120 + 130, least: 120, most: 200 };
        assert_eq!(station.client.times()[0], expected);
        assert_eq!(station.client.times()[1].answered, 0);
    }
}
