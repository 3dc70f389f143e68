//! `sixlock node`: one device, as a program.

use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;

use sixlock_base::{Duration, Eui64, Instant};
use sixlock_crypto::Soft;
use sixlock_dtls::Refusal;
use sixlock_node::ipsec::{self, Selector};
use sixlock_node::rpl::RplNode;
use sixlock_node::{
    Access, AskedSensor, COAPS_PORT, Cloud, Config, Datagrams, Event, Identity, Link, Measurement,
    RadioMachine, Readings, Stack,
};
use sixlock_router::{Air, Inbound};
use sixlock_sim::{CLOUD, Environment, Span, Time};

use crate::args::{Node as Args, Routing};
use crate::key_ring;
use crate::keys::{DeviceFile, MAX_NODES};
use crate::mesh::WAITING;
use crate::neighbour_file::NeighbourFile;
use crate::protection::{Compression, Ipsec, Reassembly, Refused, bypass, compress, peering, protect};
use crate::routing::{NodeRouting, Router, ToRouter};
use crate::station::{CHANNEL, Context, Lent, Moment, Station, allow, drive, interface};

/// The longest IPv6 packet, in bytes.
const MTU: usize = 1280;

/// Neighbours whose frames it takes: all on its channel.
const NEIGHBOURS: usize = MAX_NODES + 1;

/// How long it waits for an answer before it says that there is none: RPL and a handshake take less, also if datagrams are lost.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long before it looks whether it is the border router's kind of routing.
const SUSPICION: Duration = Duration::from_secs(15);

/// At most eight observe its readings in the clear, and four in each of four sessions.
type Machine<R> = sixlock_node::Node<Soft, AskedSensor<Soft, 4, 5, 4>, Layers<R>, Readings<3, 8>>;
/// IPsec has a policy for RPL, and one for the rest.
type Layers<R> =
    Stack<Link<true, NEIGHBOURS, 2>, Datagrams<MTU, 4>, R, Ipsec<2, 1>, Compression<8>, Reassembly>;

pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let file = DeviceFile::read(&args.device)?;
    match args.routing.or(file.mesh.map(|mesh| mesh.routing)).unwrap_or_default() {
        Routing::Static => run_by::<ToRouter>(args, file),
        Routing::Rpl => run_by::<RplNode<Router>>(args, file),
    }
}

fn run_by<R: NodeRouting>(args: &Args, file: DeviceFile) -> Result<(), Box<dyn Error>> {
    let told = |why: &str| format!("{}: {why}", args.device.display());
    let mode = file.mode()?;
    let mesh = file.mesh.ok_or_else(|| {
        told("it says nothing of a network: make the device with sixlock keys psk --network FILE")
    })?;
    allow(args.air, file.llsec.as_ref())?;
    if mode.transport.is_none() {
        return Err(told("a node without DTLS proves no identity; its mode is to have dtls-psk in it").into());
    }
    if args.serve && mode.link.is_none() && mode.network.is_none() {
        return Err(
            told("--serve tells readings without DTLS; its mode is to have llsec, ah or esp, too").into()
        );
    }
    let access = match key_ring::of(&file).map_err(|error| told(&error.to_string()))? {
        Some(keys) => Access::DtlsPublicKey(keys),
        None => Access::DtlsPsk(Identity {
            name: file.device.identity.as_bytes(),
            key: file.device.key.as_bytes(),
        }),
    };
    let counters = args.counters.clone().unwrap_or_else(|| args.device.with_extension("counters"));
    let mut station = NodeStation {
        machine: Box::new(Machine::<R>::new()),
        lent: Lent::new([&counters])?,
        neighbours: NeighbourFile::beside(&counters, file.llsec.as_ref(), NEIGHBOURS)?,
        sensors: Sensors::new(args.sensors.as_deref(), mesh.id)?,
        silence: Silence::new(args.air),
        refusal: None,
        by_ipsec: IpsecLog::default(),
    };
    let period = u32::try_from(args.period.micros() / 1000).map_err(|_| "--period is too long")?;
    let cloud = Cloud {
        address: CLOUD,
        port: COAPS_PORT,
        access,
        period: Duration::from_millis(period),
        first: Duration::from_millis(0),
    };
    let interface = interface(mesh.id, file.llsec.as_ref(), R::SPEAKS_RPL)?;
    let config = Config { interface, cloud: Some(cloud), serves: args.serve, echoes: false };
    let now = Instant::from_millis(0);
    let started = station.machine.start(&mut station.lent.cx(now), &config);
    started.map_err(|_| told("its identity or key is too long for a device"))?;
    for (neighbour, counter) in station.neighbours.iter().flat_map(NeighbourFile::counters) {
        // The table has as much room as the file.
        station.machine.interface().restore_frame_counter(neighbour, counter);
    }
    let interface = station.machine.interface();
    interface.routing().begin(&mut station.lent.cx(now), Eui64::of_node(mesh.id))?;
    // One that does not speak RPL may ask whether its border router does.
    bypass(interface.security(), Selector::RPL)?;
    interface.compression().payloads = args.compression.choice();
    match (mode.network, &file.ipsec) {
        (None, _) if args.tunnel => return Err(told("a tunnel needs ah or esp in its mode").into()),
        (None, _) => bypass(interface.security(), Selector::ANY)?,
        (Some(suite), Some(keys)) => {
            let peering = peering(mesh.id, suite, keys, args.tunnel)?;
            protect(interface.security(), mesh.id, &peering)?;
            compress(interface.compression(), &peering);
        }
        (Some(suite), None) => return Err(told(&format!("it has no keys for {suite}")).into()),
    }

    let mut air = Air::join(args.air, CHANNEL, mesh.id as u16)?;
    let (to_node, inbound) = sync_channel(WAITING);
    air.read(to_node)?;
    to_stdout!(
        "node {} ({}) joins at {} and reports every {} s, protected by {mode}",
        mesh.id,
        file.device.name,
        args.air,
        args.period.as_secs()
    );
    drive(&mut station, &mut air, &inbound, &AtomicBool::new(false));
    Ok(())
}

struct NodeStation<R: NodeRouting> {
    machine: Box<Machine<R>>,
    lent: Lent,
    /// What its neighbours' frame counters have reached, if links are secured.
    neighbours: Option<NeighbourFile>,
    sensors: Sensors,
    silence: Silence,
    /// Why DTLS has refused something last, since its session was lost or opened.
    refusal: Option<Refusal>,
    by_ipsec: IpsecLog,
}

impl<R: NodeRouting> Station for NodeStation<R> {
    type Machine = Machine<R>;

    fn lend(&mut self, now: Instant) -> (&mut Machine<R>, Context<'_>) {
        (&mut self.machine, self.lent.cx(now))
    }

    fn handle(&mut self, time: Moment, inbound: Inbound) {
        if let Inbound::Frame(mut frame) = inbound {
            self.machine.handle_frame(&mut self.lent.cx(time.now), time.at, &mut frame);
            if let Some(neighbours) = &mut self.neighbours {
                // What it reads is checked again by DTLS, also if this one could not be kept.
                neighbours.keep(self.machine.interface().latest_frame_counter());
            }
        }
    }

    fn settle(&mut self, time: Moment) {
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.settle(time.now);
        }
        let interface = self.machine.interface();
        if self.silence.asks(time.now) {
            interface.routing().ask(time.now);
        }
        let trouble = || interface.router().trouble(&self.lent.counters);
        self.silence.settle(time.now, trouble);
        self.refusal = self.machine.poll_refusal().or(self.refusal);
        let event = self.machine.interface().security().poll_event();
        if let Some(line) = self.by_ipsec.settle(time.now, event) {
            to_stdout!("{line}");
        }
        if let Some((name, value)) = self.machine.application().poll_set() {
            to_stdout!("{name} is set to {value}");
        }
        while let Some(event) = self.machine.poll_event(time.now) {
            match event {
                Event::Sample => match self.sensors.read(time.now) {
                    Ok([temperature, humidity, light]) => {
                        let tenths = |value: i32| f64::from(value) / 10.0;
                        to_stdout!(
                            "reading: {:.1} °C, {:.1} %RH, {light} lx",
                            tenths(temperature),
                            tenths(humidity)
                        );
                        let measurements = Measurement::of_sensors(temperature, humidity, light);
                        self.machine.report(&mut self.lent.cx(time.now), time.at, &measurements);
                    }
                    Err(error) => to_stderr!("no reading: {error}"),
                },
                Event::Connected => {
                    self.silence.end();
                    self.refusal = None;
                    to_stdout!("DTLS session opened");
                }
                Event::Disconnected => {
                    self.silence.begin(time.now);
                    match self.refusal.take() {
                        Some(refusal) => to_stdout!("DTLS session lost, or refused: {}", refusal.name()),
                        None => to_stdout!("DTLS session lost, or refused"),
                    }
                }
                Event::ReadingConfirmed => to_stdout!("the cloud has the reading"),
                Event::ReadingFailed => to_stdout!("the cloud does not have the reading"),
                // It takes in nobody's.
                Event::ReadingReceived(_) => {}
            }
        }
    }
}

/// How often a node says what IPsec refuses, at most.
const TOLD_EVERY: Duration = Duration::from_secs(1);

/// What IPsec has refused, as a node tells it: a line, when something was refused since the last one.
#[derive(Default)]
struct IpsecLog {
    refused: Refused,
    is_untold: bool,
    /// When it was said last.
    at: Option<Instant>,
}

impl IpsecLog {
    /// Takes in an event, if there is one. The line that is to be said now.
    fn settle(&mut self, now: Instant, event: Option<ipsec::Event>) -> Option<String> {
        self.is_untold |= event.is_some_and(|event| self.refused.count(event));
        let is_early = self.at.is_some_and(|at| now.since(at).millis() < TOLD_EVERY.millis());
        if !self.is_untold || is_early {
            return None;
        }
        (self.is_untold, self.at) = (false, Some(now));
        Some(format!("IPsec has refused so far:{}", self.refused))
    }
}

/// The time in which nobody answers.
struct Silence {
    /// Where the border router's channel is.
    air: SocketAddr,
    /// Since when there is no session.
    since: Option<Instant>,
    has_asked: bool,
    is_told: bool,
}

impl Silence {
    fn new(air: SocketAddr) -> Self {
        Self { air, since: Some(Instant::from_millis(0)), has_asked: false, is_told: false }
    }

    /// There is no session from now on.
    fn begin(&mut self, now: Instant) {
        (self.since, self.has_asked) = (Some(now), false);
    }

    /// There is one.
    fn end(&mut self) {
        self.since = None;
        if std::mem::take(&mut self.is_told) {
            to_stderr!("{} answers now", self.air);
        }
    }

    /// Whether it is long enough, once, to look what is wrong.
    fn asks(&mut self, now: Instant) -> bool {
        let is_long = self.since.is_some_and(|since| now.since(since) >= SUSPICION);
        is_long && !std::mem::replace(&mut self.has_asked, is_long)
    }

    /// Says, once, that it is long, and what is wrong, if that is known.
    fn settle(&mut self, now: Instant, trouble: impl FnOnce() -> Option<String>) {
        let is_long = self.since.is_some_and(|since| now.since(since) >= PATIENCE);
        if is_long && !self.is_told {
            self.is_told = true;
            let trouble = trouble().map(|trouble| format!(": {trouble}")).unwrap_or_default();
            to_stderr!(
                "no answer from {} yet{trouble}; is the border router's channel there (sixlock router NETWORK.toml --air), is the cloud where the border \
                 router says that it sends to, and does it know this device (sixlock keys list)?",
                self.air
            );
        }
    }
}

/// What a reading is of: temperature and humidity in tenths, light in lux.
enum Sensors {
    /// Values as a simulated node has them.
    MadeUp(Box<Environment>),
    /// What a file says when it is read.
    File(PathBuf),
}

impl Sensors {
    fn new(path: Option<&Path>, id: u32) -> Result<Self, getrandom::Error> {
        Ok(match path {
            Some(path) => Self::File(path.to_owned()),
            None => Self::MadeUp(Box::new(Environment::new(getrandom::u64()?, id))),
        })
    }

    fn read(&mut self, now: Instant) -> Result<[i32; 3], String> {
        match self {
            Self::MadeUp(environment) => {
                let at = Time::ZERO + Span::from_millis(now.millis().into());
                let reading = environment.at(at);
                Ok([reading.temperature, reading.humidity, reading.light])
            }
            Self::File(path) => {
                let text =
                    fs::read_to_string(&*path).map_err(|error| format!("{}: {error}", path.display()))?;
                values(&text).ok_or_else(|| {
                    format!("{}: it is to hold °C, %RH and lux, such as: 21.4 43.1 310", path.display())
                })
            }
        }
    }
}

/// The three numbers of a reading.
fn values(text: &str) -> Option<[i32; 3]> {
    let numbers: Vec<f64> = text.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let [temperature, humidity, light] = numbers[..] else { return None };
    let rounded = |value: f64| (value.abs() < 1e8).then(|| value.round() as i32);
    Some([rounded(temperature * 10.0)?, rounded(humidity * 10.0)?, rounded(light)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ipsec_refuses_is_told_once_a_second_at_most() {
        let mut log = IpsecLog::default();
        let event = || Some(ipsec::Event::Refused(ipsec::Refusal::Inbound(ipsec::InboundError::BadIcv)));
        let at = Instant::from_millis;
        assert_eq!(log.settle(at(1), None), None);
        assert_eq!(log.settle(at(2), event()).unwrap(), "IPsec has refused so far: in/icv=1");
        assert_eq!(log.settle(at(3), event()), None);
        assert_eq!(log.settle(at(900), event()), None);
        assert_eq!(log.settle(at(1002), None).unwrap(), "IPsec has refused so far: in/icv=3");
        assert_eq!(log.settle(at(5000), None), None);
    }

    #[test]
    fn a_reading_is_three_numbers() {
        assert_eq!(values("21.44 43.1\n310.5\n"), Some([214, 431, 311]));
        assert_eq!(values("-3 0 0"), Some([-30, 0, 0]));
        for wrong in ["", "1 2", "1 2 3 4", "1 2 x", "1 2 NaN", "1e30 2 3"] {
            assert_eq!(values(wrong), None, "{wrong}");
        }
    }
}
