//! Figures 26 and 27: the headers of packets, captured from network 1 while it runs.

use sixlock_base::Counter;
use sixlock_decode::{Extension, Layer, Udp};
use sixlock_ipv6::next_header;
use sixlock_sim::{Simulation, Time};

use super::super::captured::{Captured, Frame};
use super::network::{Network, SecurityMode, Setting, counted, echoes, scenario};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::Findings;
use crate::figure::{Figure, Provenance, Row};
use crate::published::{Paper, Table};
use crate::sample::Sample;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

/// Bytes in a datagram: so few that a frame has room for a packet.
const BYTES: u16 = 16;
const SEED: u64 = 1;
/// Where nodes echo.
const ECHO_PORT: u16 = 7;
/// What IPsec counts when it refuses a packet that is protected, and that has not come before.
const REFUSALS: [Counter; 3] = [Counter::IpsecMalformed, Counter::IpsecNoAssociation, Counter::IpsecBadIcv];

const ORDER: &str = "Places of the headers in a packet";
const HEADERS: &str = "Headers of a packet, in their order";
const ON_THE_AIR: &str = "The frame that carries it over the link";
const ECHOES: &str = "Echoes, after the network has formed";
const SENT: &str = "sent";
const BACK: &str = "came back";
const REFUSED: &str = "packets that IPsec has refused";

/// One of the two packets of an echo.
#[derive(Clone, Copy)]
enum Direction {
    Request,
    Answer,
}

impl Direction {
    const BOTH: [Self; 2] = [Self::Request, Self::Answer];

    const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Answer => "answer",
        }
    }

    fn is_of(self, udp: &Udp) -> bool {
        ECHO_PORT
            == match self {
                Self::Request => udp.destination_port,
                Self::Answer => udp.source_port,
            }
    }
}

/// What was captured of a run, and what came of its echoes.
struct Run {
    frames: Vec<Frame>,
    sent: usize,
    back: usize,
    refused: u32,
}

impl Run {
    fn new(mode: SecurityMode) -> Result<Self, Error> {
        let [.., target] = Network::One.targets();
        let scenario = scenario(Setting::new(Network::One, mode, BYTES, target), SEED)?;
        let captured = Captured::default();
        let mut simulation = Simulation::new(&scenario, captured.options())?;
        simulation.step_until(counted().start);
        let before = refused(&simulation);
        simulation.step_until(Time::ZERO + scenario.duration());
        let (sent, times) = echoes(&simulation);
        Ok(Self {
            frames: captured.frames()?,
            sent,
            back: times.len(),
            refused: refused(&simulation) - before,
        })
    }

    /// The first frame that carries such a packet over a link of the mesh.
    fn first(&self, direction: Direction) -> Result<&Frame, Error> {
        let is_of_it = |layer: &Layer| matches!(layer, Layer::Udp(udp) if direction.is_of(udp));
        let first = self.frames.iter().find(|frame| frame.layers.iter().any(is_of_it));
        first.ok_or_else(|| Error(format!("no {} was captured", direction.name())))
    }
}

/// The packets that IPsec has refused at any station.
fn refused(simulation: &Simulation) -> u32 {
    let stations = (0..).map_while(|id| simulation.counters(id));
    stations.map(|counters| REFUSALS.iter().map(|&counter| counters.get(counter)).sum::<u32>()).sum()
}

/// The headers of a packet: protocol number, name, and bytes before compression.
fn headers(frame: &Frame) -> Vec<(u8, &'static str, usize)> {
    let header = |layer: &Layer| match layer {
        Layer::Ipv6(header) => Some((next_header::IPV6, "IPv6", header.bytes)),
        Layer::Extension(Extension { kind: kind @ "hop-by-hop", bytes, .. }) => {
            Some((next_header::HOP_BY_HOP, *kind, *bytes))
        }
        Layer::Ah(header) => Some((next_header::AH, "AH", header.bytes)),
        Layer::Esp(header) => Some((next_header::ESP, "ESP, its trailer and ICV included", header.bytes)),
        Layer::Udp(header) => Some((next_header::UDP, "UDP", header.bytes)),
        _ => None,
    };
    frame.layers.iter().filter_map(header).collect()
}

/// Where each kind of header stands first, beside the thesis.
fn places(direction: Direction, frame: &Frame, published: &Table) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for ((kind, ..), place) in headers(frame).into_iter().zip(1u8..) {
        let x = f64::from(kind);
        if rows.iter().all(|row| row.x != Some(x)) {
            let said = published.at("place", x);
            let row = Row::new(direction.name(), place.into(), "place", Provenance::Measured);
            rows.push(row.at(x).beside(said));
        }
    }
    rows
}

/// What the frame is made of on the air: what the MAC adds, the compressed headers, and the rest.
fn on_the_air(direction: Direction, frame: &Frame) -> Vec<Row> {
    let part = |layer: &Layer| match layer {
        Layer::Mac(header) => Some(("IEEE 802.15.4, with the FCS", header.bytes)),
        Layer::ContikiMac(header) => Some(("ContikiMAC, with padding", header.bytes)),
        Layer::Compression(headers) => Some(("6LoWPAN", headers.bytes)),
        _ => None,
    };
    let mut parts: Vec<_> = frame.layers.iter().filter_map(part).collect();
    let rest = frame.bytes - parts.iter().map(|(_, bytes)| bytes).sum::<usize>();
    parts.extend([("what is not compressed", rest), ("the frame", frame.bytes)]);
    let row = |(part, bytes)| {
        Row::new(format!("{}: {part}", direction.name()), bytes as f64, "B", Provenance::Measured)
    };
    parts.into_iter().map(row).collect()
}

/// A packet's headers and content, as they are before compression, and the whole.
fn in_order(direction: Direction, frame: &Frame) -> Vec<Row> {
    let row = |part: String, bytes: usize| {
        Row::new(format!("{}: {part}", direction.name()), bytes as f64, "B", Provenance::Measured)
    };
    let headers = headers(frame);
    let whole = headers.iter().map(|(.., bytes)| bytes).sum::<usize>() + usize::from(BYTES);
    let each = headers.into_iter().zip(1..);
    let mut rows: Vec<_> =
        each.map(|((_, name, bytes), place)| row(format!("{place}. {name}"), bytes)).collect();
    rows.extend([row("content".into(), BYTES.into()), row("the packet".into(), whole)]);
    rows
}

/// Figures 26 and 27, with the order of headers that the thesis sees, which is that of a table in `published/`.
pub(super) fn capture(paper: &Paper, mode: SecurityMode, table: &str) -> Result<Findings, Error> {
    let run = Run::new(mode)?;
    let published = paper.table(table)?;
    let [mut order, mut whole, mut air] = <[Vec<Row>; 3]>::default();
    for direction in Direction::BOTH {
        let frame = run.first(direction)?;
        order.extend(places(direction, frame, published));
        whole.extend(in_order(direction, frame));
        air.extend(on_the_air(direction, frame));
    }
    let count = |label, count: f64| Row::new(label, count, "of 100", Provenance::Measured);
    let back = Sample::share(run.back as f64, run.sent as f64).row(BACK, "of 100");
    let back = Row { provenance: Provenance::Measured, ..back };
    let counts = [count(SENT, run.sent as f64), back, count(REFUSED, run.refused.into())];
    let figures = vec![
        Figure { title: ORDER, across: Some("protocol number"), rows: order },
        Figure { title: HEADERS, across: None, rows: whole },
        Figure { title: ON_THE_AIR, across: None, rows: air },
        Figure { title: ECHOES, across: None, rows: counts.into() },
    ];
    let claims = claims(&figures);
    Ok(Findings { figures, claims })
}

fn claims(figures: &[Figure]) -> Vec<Claim> {
    let as_captured =
        |direction: Direction| Statement::Published(Series::new(ORDER, direction.name()), Tolerance::Exact);
    let claim = |text: &str, statement| Claim::stated(text, statement, figures);
    let of = |label| Series::new(ECHOES, label);
    vec![
        claim(
            "The headers of a packet from the host to a node stand in the order of the capture: RPL's is the first behind that of IPv6, and IPsec's the next (section 6.2)",
            as_captured(Direction::Request),
        )
        .without(
            "what comes from outside has no header of RPL, and no router may add one to the packets of others: the border router puts a header of IPv6 before the packet, and RPL's into that (RFC 9008, section 7.2); Contiki 2.6 adds it all the same. A node's answer is its own packet",
            &as_captured(Direction::Answer),
            figures,
        ),
        claim(
            "Packets follow the order of figure 24: IPv6, hop-by-hop options, AH or ESP, UDP; here those that a node sends (section 6.2)",
            as_captured(Direction::Answer),
        ),
        claim(
            "IPsec is working correctly with the header of RPL before it: echoes come back (section 6.2)",
            Statement::Same(of(BACK), of(SENT), Tolerance::Loss),
        ),
        claim(
            "IPsec is working correctly with the header of RPL before it: it refuses no packet (section 6.2)",
            Statement::NoneOf(of(REFUSED)),
        ),
    ]
}
