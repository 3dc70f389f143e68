//! Networks with a border router, two routers that have joined it, and hosts, over links that lose messages.

use std::net::Ipv6Addr;

use sixlock_base::{Duration, Eui64, Instant};
use sixlock_ipv6::nd::Capabilities;
use sixlock_net::BROADCAST;
use sixlock_net::neighbour_discovery::{Event, Network, Settings, Transmit};
use sixlock_testing::{Random, Rig};

use crate::bench::*;

const BORDER: u32 = 0;
const ROUTERS: [u32; 2] = [1, 2];
const HOSTS: std::ops::Range<u32> = 10..16;

/// A node: routers are hosts, too.
struct Station {
    id: u32,
    host: Option<Lone<TestHost>>,
    registrar: Option<Lone<SizedRegistrar<16>>>,
}

struct Flight {
    at: Instant,
    from: u32,
    to: u32,
    packet: Packet,
}

struct Bench {
    now: Instant,
    stations: Vec<Station>,
    flying: Vec<Flight>,
    random: Random,
    /// Of a hundred messages so many are lost on each link.
    loss: u32,
    /// A node that is off.
    off: Option<u32>,
}

impl Bench {
    fn new(seed: u32, loss: u32) -> Self {
        let ids = [BORDER].into_iter().chain(ROUTERS).chain(HOSTS);
        let stations = ids.map(|id| Station::new(id, seed)).collect();
        let now = Rig::near_wrap(0).now;
        Self { now, stations, flying: Vec::new(), random: Random::new(seed), loss, off: None }
    }

    /// Whether two nodes hear each other: hosts hear the routers, of which each half has one that the other has not; routers hear the border router.
    fn hear(a: u32, b: u32) -> bool {
        let (low, high) = (a.min(b), a.max(b));
        match (low, high) {
            (BORDER, high) => ROUTERS.contains(&high),
            (low, high) if ROUTERS.contains(&low) && HOSTS.contains(&high) => {
                high < 14 || low == 1 + high % 2
            }
            _ => false,
        }
    }

    fn send(&mut self, from: u32, transmit: Transmit, packet: Packet) {
        let to: Vec<u32> = match transmit.neighbour {
            Some(BROADCAST) => {
                self.stations.iter().map(|station| station.id).filter(|&id| Self::hear(from, id)).collect()
            }
            Some(neighbour) => neighbour.node_id().into_iter().filter(|&id| Self::hear(from, id)).collect(),
            // Routers and the border router reach each other in one hop.
            None => Eui64::of_address(packet.destination).node_id().into_iter().collect(),
        };
        for to in to {
            if self.random.below(100) < self.loss {
                continue;
            }
            let at = self.now + Duration::from_millis(5 + self.random.below(200));
            // Some come twice.
            if self.random.below(100) < self.loss / 2 {
                let later = at + Duration::from_millis(self.random.below(3_000));
                self.flying.push(Flight { at: later, from, to, packet: packet.clone() });
            }
            self.flying.push(Flight { at, from, to, packet: packet.clone() });
        }
    }

    fn flush(&mut self) {
        for n in 0..self.stations.len() {
            let station = &mut self.stations[n];
            let id = station.id;
            let sent = station.sent(self.now);
            for (transmit, packet) in sent {
                if self.off != Some(id) {
                    self.send(id, transmit, packet);
                }
            }
        }
    }

    fn step(&mut self, end: Instant) -> bool {
        self.flush();
        let timeouts = self.stations.iter().filter_map(Station::timeout);
        let next = timeouts.chain(self.flying.iter().map(|flight| flight.at));
        let Some(next) =
            next.fold(None, |a, b| Instant::earliest(a, Some(b))).filter(|next| end.has_reached(*next))
        else {
            self.now = end;
            return false;
        };
        if !self.now.has_reached(next) {
            self.now = next;
        }
        let (due, later): (Vec<_>, Vec<_>) =
            self.flying.drain(..).partition(|flight| self.now.has_reached(flight.at));
        self.flying = later;
        for flight in due {
            if self.off != Some(flight.to) {
                let now = self.now;
                self.station(flight.to).take(now, flight.from, &flight.packet);
            }
        }
        for station in &mut self.stations {
            station.elapse(self.now);
        }
        self.check();
        true
    }

    fn pass(&mut self, seconds: u32) {
        let end = self.now + Duration::from_secs(seconds);
        while self.step(end) {}
    }

    fn station(&mut self, id: u32) -> &mut Station {
        self.stations.iter_mut().find(|station| station.id == id).unwrap()
    }

    fn address(&self, id: u32) -> Option<Ipv6Addr> {
        let station = self.stations.iter().find(|station| station.id == id).unwrap();
        station.host.as_ref().and_then(|lone| lone.machine.address())
    }

    /// Whether every host that is on has an address, and the border router knows it.
    fn is_settled(&self) -> bool {
        let registry = self.stations[0].registrar.as_ref().unwrap();
        ROUTERS.into_iter().chain(HOSTS).filter(|&id| self.off != Some(id)).all(|id| {
            self.address(id) == Some(global(id))
                && registry.machine.registrations().any(|known| known.address() == global(id))
        })
    }

    /// What holds at any time: an address is with one router, whose neighbour has it.
    fn check(&self) {
        for station in &self.stations {
            let Some(registrar) = &station.registrar else { continue };
            let mut seen = std::collections::BTreeSet::new();
            for known in registrar.machine.registrations() {
                assert!(seen.insert(known.address()), "{} twice", known.address());
                let owner = Eui64::of_address(known.address());
                assert!(known.neighbour().is_none_or(|neighbour| neighbour == owner));
            }
        }
    }
}

impl Station {
    fn new(id: u32, seed: u32) -> Self {
        let rig = || Rig::near_wrap(seed * 100 + id);
        let host = (id != BORDER).then(|| {
            let mut lone = Lone { machine: TestHost::new(), rig: rig() };
            let capabilities = Capabilities { router: !HOSTS.contains(&id), ..Capabilities::NONE };
            lone.machine.start(
                &mut lone.rig.cx(),
                node(id),
                &Settings { capabilities, rovr: rovr(id), ..SETTINGS },
            );
            lone
        });
        let registrar = (!HOSTS.contains(&id)).then(|| {
            let mut lone = Lone { machine: SizedRegistrar::new(), rig: rig() };
            lone.machine.start(node(id));
            if id == BORDER {
                lone.machine.configure(network(true));
                assert!(lone.machine.add_context(context(0, 600)));
            }
            lone
        });
        Self { id, host, registrar }
    }

    fn timeout(&self) -> Option<Instant> {
        let host = self.host.as_ref().and_then(|lone| lone.machine.poll_timeout());
        Instant::earliest(host, self.registrar.as_ref().and_then(|lone| lone.machine.poll_timeout()))
    }

    fn elapse(&mut self, now: Instant) {
        if let Some(lone) = &mut self.host {
            lone.rig.now = now;
            lone.machine.elapse(&mut lone.rig);
        }
        if let Some(lone) = &mut self.registrar {
            lone.rig.now = now;
            lone.machine.elapse(&mut lone.rig);
        }
        self.learn();
    }

    /// A router tells what it has learned as a host.
    fn learn(&mut self) {
        let (Some(host), Some(registrar)) = (&mut self.host, &mut self.registrar) else { return };
        let events = host.events();
        if events.contains(&Event::Registered) {
            let border_router = host.machine.border_router(host.rig.now).unwrap();
            registrar.machine.configure(Network { border_router, ..network(false) });
            host.machine.contexts().for_each(|context| assert!(registrar.machine.add_context(context)));
        }
    }

    fn take(&mut self, now: Instant, from: u32, packet: &Packet) {
        if let Some(lone) = &mut self.host {
            lone.rig.now = now;
            let _ = lone.handle(from, packet);
        }
        if let Some(lone) = &mut self.registrar {
            lone.rig.now = now;
            let _ = lone.handle(from, packet);
        }
        self.learn();
    }

    fn sent(&mut self, now: Instant) -> Vec<(Transmit, Packet)> {
        let mut all = Vec::new();
        let mut out = [0; 500];
        if let Some(lone) = &mut self.host {
            while let Some(transmit) = lone.machine.poll_transmit(&mut out) {
                all.push((transmit, Packet::parse(&out[..transmit.len])));
            }
        }
        if let Some(lone) = &mut self.registrar {
            while let Some(transmit) = lone.machine.poll_transmit(now, &mut out) {
                all.push((transmit, Packet::parse(&out[..transmit.len])));
            }
        }
        all
    }

    fn reboot(&mut self, seed: u32) {
        *self = Self::new(self.id, seed);
    }
}

#[test]
fn without_loss_all_hosts_are_registered_within_a_minute() {
    for seed in 0..20 {
        let mut bench = Bench::new(seed, 0);
        bench.pass(60);
        assert!(bench.is_settled(), "seed {seed}");
    }
}

#[test]
fn with_loss_all_hosts_are_registered_and_stay_so() {
    for seed in 0..20 {
        let mut bench = Bench::new(seed, 25);
        bench.pass(1_800);
        assert!(
            bench.is_settled(),
            "seed {seed}: {:?}",
            HOSTS.map(|id| bench.address(id)).collect::<Vec<_>>()
        );
        let mut settled = 0;
        for _ in 0..60 {
            bench.pass(60);
            settled += u32::from(bench.is_settled());
        }
        assert!(settled >= 45, "seed {seed}: {settled} of 60 minutes");
    }
}

#[test]
fn hosts_of_a_router_that_fails_move_to_the_other_and_back_when_that_one_fails() {
    for seed in 0..20 {
        let mut bench = Bench::new(seed, 10);
        bench.pass(300);
        for off in [1, 2] {
            bench.off = Some(off);
            bench.pass(4_500);
            for id in 10..14 {
                assert_eq!(bench.address(id), Some(global(id)), "seed {seed}: {id} without {off}");
            }
            bench.off = None;
            bench.station(off).reboot(seed + off);
            for station in &mut bench.stations {
                station.elapse(bench.now);
            }
            bench.pass(3_600);
        }
    }
}
