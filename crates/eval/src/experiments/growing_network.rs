//! Networks from 4 to 1,000 nodes: what becomes of readings, and of the nodes' energy, under each kind of security.

use rayon::prelude::*;
use sixlock_base::Security;
use sixlock_sim::{
    NodeReport, Options, Report, Scenario, ScenarioBuilder, Simulation, Span, Time, run as simulate,
};

use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method, OWN};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::sample::Sample;
use crate::series::Series;
use crate::statement::Statement;
use crate::wording::{CLEARLY, SIMILAR};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "growing-network",
    paper: OWN,
    at: "larger networks, the future work of Raza et al. (2012)",
    shows: "delivery, round trip and energy of readings in fields of 4 to 1,000 nodes, under link security, AH, ESP, DTLS and without",
    method: Method::Run(run),
};

const NOTHING: &str = "no security";
const LINK: &str = "link";
const AH: &str = "AH";
const ESP: &str = "ESP";
const DTLS: &str = "DTLS";
const WAYS: [(&str, &str); 5] =
    [(NOTHING, "none"), (LINK, "llsec:ccm-64"), (AH, "ah:xcbc"), (ESP, "esp:ctr-xcbc"), (DTLS, "dtls-psk")];
const SIZES: [u32; 8] = [4, 10, 25, 50, 100, 250, 500, LARGEST];
const LARGEST: u32 = 1000;
/// The side of the square that a node has for itself, in metres: each hears thirteen others on average, however many there are.
const SPACE: f64 = 24.0;
/// Runs of the largest networks at most, which take most of the time.
const RUNS_OF_LARGE: u32 = 5;
const LARGE: u32 = 250;

const DELIVERED: &str = "Readings that are delivered";
const DELIVERED_LATER: &str = "Readings of 1,000 nodes that are delivered in the ten minutes after these";
const ADDED: &str = "Energy that security adds to a node's, of what it takes without: mean";
const ROUND_TRIP: &str = "Round trip of a reading, mean of the nodes";
const ENERGY: &str = "Energy of a node in 15 minutes, CPU, sending and receiving: mean";
const BUSIEST: &str = "Energy of a node in 15 minutes, CPU, sending and receiving: the busiest node";
const BYTES: &str = "Bytes that a node sends in 15 minutes, mean";
const HOPS: &str = "Hops of the farthest node";
const TO_REACH: &str = "to reach";
/// Of a hundred readings.
const AIM: f64 = 95.0;

/// How long is simulated, in seconds, and how much longer for readings that come after all handshakes.
const DURATION: u64 = 900;
const LATER: u64 = 600;
/// The sizes of which shares are compared.
const ENDS: [(u32, &str); 2] = [(4, "4 nodes"), (LARGEST, "1,000 nodes")];

/// What one run has shown.
struct Taken {
    delivered: f64,
    round_trip: f64,
    energy: f64,
    busiest: f64,
    bytes: f64,
    hops: f64,
}

fn run(context: &Context<'_>, _: &Paper) -> Result<Findings, Error> {
    let mut runs = Vec::new();
    // The longest first, so that none is waited for at the end.
    for nodes in SIZES.into_iter().rev() {
        for way in WAYS {
            runs.extend((1..=seeds(nodes, context.runs)).map(|seed| (way, nodes, seed)));
        }
    }
    let taken = context.each(&runs, |&((_, mode), nodes, seed)| one(mode, nodes, seed.into()))?;
    let of = |way: &str, nodes: u32, value: fn(&Taken) -> f64| {
        let both = runs.iter().zip(&taken).filter(|(((name, _), of, _), _)| *name == way && *of == nodes);
        Sample::of(&both.map(|(_, taken)| value(taken)).collect::<Vec<_>>())
    };
    let figure = |title, unit, value: fn(&Taken) -> f64| {
        let mut rows = Vec::new();
        for (name, _) in WAYS {
            rows.extend(SIZES.map(|nodes| of(name, nodes, value).row(name, unit).at(nodes.into())));
        }
        Figure { title, across: Some("nodes"), rows }
    };
    let mut delivered = figure(DELIVERED, "of 100", |taken| taken.delivered);
    let aim = |nodes: u32| Row::new(TO_REACH, AIM, "of 100", Provenance::Aim).at(nodes.into());
    delivered.rows.extend(SIZES.map(aim));
    let share = |way: &'static str, nodes| {
        let energy = |way| of(way, nodes, |taken| taken.energy);
        energy(way).per_cent_more(&energy(NOTHING))
    };
    let ends = |way| ENDS.map(|(nodes, size)| share(way, nodes).row(at_size(way, size), "of 100"));
    let added = [LINK, AH, ESP].into_iter().flat_map(ends).collect();
    let hops = |nodes| of(NOTHING, nodes, |taken| taken.hops).row("any", "hops").at(f64::from(nodes));
    let figures = vec![
        delivered,
        later(context)?,
        figure(ROUND_TRIP, "ms", |taken| taken.round_trip),
        figure(ENERGY, "mJ", |taken| taken.energy),
        Figure { title: ADDED, across: None, rows: added },
        figure(BUSIEST, "mJ", |taken| taken.busiest),
        figure(BYTES, "B", |taken| taken.bytes),
        Figure { title: HOPS, across: Some("nodes"), rows: SIZES.map(hops).into() },
    ];
    let claims = claims(&figures);
    Ok(Findings { figures, claims })
}

/// A kind of security in a network of this size, as rows name it.
fn at_size(way: &str, size: &str) -> String {
    format!("{way}, {size}")
}

/// What is delivered over DTLS when the handshakes are over: the same runs go on, and nothing else differs.
fn later(context: &Context<'_>) -> Result<Figure, Error> {
    let all: Vec<_> = (1..=u64::from(seeds(LARGEST, context.runs))).collect();
    let mode = WAYS.iter().find(|(name, _)| *name == DTLS).map_or("", |(_, mode)| mode);
    let taken = all.par_iter().map(|&seed| delivered_later(mode, LARGEST, seed));
    let delivered = Sample::of(&taken.collect::<Result<Vec<_>, Error>>()?).row(DTLS, "of 100");
    let aim = Row::new(TO_REACH, AIM, "of 100", Provenance::Aim);
    Ok(Figure { title: DELIVERED_LATER, across: None, rows: vec![delivered, aim] })
}

/// How many of a hundred readings are delivered of those that are decided after the quarter of an hour.
fn delivered_later(mode: &str, nodes: u32, seed: u64) -> Result<f64, Error> {
    let mut simulation =
        Simulation::new(&scenario(mode, nodes, DURATION + LATER, seed)?, Options::default())?;
    let mut until = |seconds| {
        simulation.step_until(Time::ZERO + Span::from_secs(seconds));
        let report = simulation.report();
        (report.sum(|node| node.delivered), over(&report))
    };
    let ((delivered_before, over_before), (delivered, over)) = (until(DURATION), until(DURATION + LATER));
    Ok(100.0 * (delivered - delivered_before) as f64 / (over - over_before) as f64)
}

/// How many readings are delivered, or never will be.
fn over(report: &Report) -> u64 {
    report.sum(|node| node.due - node.pending)
}

/// How many runs a network of this size has.
fn seeds(nodes: u32, runs: u32) -> u32 {
    if nodes > LARGE { runs.min(RUNS_OF_LARGE) } else { runs }
}

/// A field in which each node posts readings, with the border router in its midst. Every seed is another field.
fn scenario(mode: &str, nodes: u32, seconds: u64, seed: u64) -> Result<Scenario, Error> {
    let side = SPACE * f64::from(nodes).sqrt();
    let network = format!(
        "duration = \"{seconds}s\"\n[platform]\nprofile = \"openmote\"\n[mac]\nmin_be = 5\nmax_be = 7\nmax_retries = 7\n\
         [topology]\nkind = \"random\"\nnodes = {nodes}\nwidth = \"{side:.0}m\"\nheight = \"{side:.0}m\"\n\
         [traffic]\nperiod = \"300s\""
    );
    let security = Security::any(mode).map_err(|error| Error(format!("{mode}: {error}")))?;
    Ok(ScenarioBuilder::parse("growing-network", &network)?.security(security).seed(seed).build()?)
}

fn one(mode: &str, nodes: u32, seed: u64) -> Result<Taken, Error> {
    let report = simulate(&scenario(mode, nodes, DURATION, seed)?)?;
    let energies: Vec<_> = report.nodes.iter().map(at_work).collect();
    let round_trips: Vec<_> = report.nodes.iter().filter_map(|node| Some(node.rtt_ms?.mean)).collect();
    Ok(Taken {
        delivered: 100.0 * report.sum(|node| node.delivered) as f64 / over(&report) as f64,
        round_trip: mean(&round_trips),
        energy: mean(&energies),
        busiest: energies.iter().copied().fold(0.0, f64::max),
        bytes: report.sum(|node| node.bytes.into()) as f64 / f64::from(nodes),
        hops: farthest(&report),
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn farthest(report: &Report) -> f64 {
    report.nodes.iter().filter_map(|node| node.hops).max().unwrap_or(0).into()
}

/// What a node has consumed at work, sending and receiving, in millijoules.
fn at_work(node: &NodeReport) -> f64 {
    node.energy_mj.map_or(0.0, |energy| energy.at_work())
}

fn claims(figures: &[Figure]) -> Vec<Claim> {
    let claim = |text: String, statement| Claim::stated(text, statement, figures);
    let of = |figure| move |label: &str| Series::new(figure, label);
    let (delivered, round_trip, energy, busiest) = (of(DELIVERED), of(ROUND_TRIP), of(ENERGY), of(BUSIEST));
    let names = || WAYS.iter().map(|(name, _)| *name);
    let mut claims: Vec<_> = names()
        .map(|way| {
            let statement = Statement::Below(delivered(TO_REACH), delivered(way));
            let text = format!(
                "{way}: in networks of 4 to 1,000 nodes, more than {AIM} of 100 readings are delivered"
            );
            let claim = claim(text, statement);
            match way {
                DTLS => claim.without(
                    "1,000 handshakes begin within five minutes",
                    &Statement::Below(
                        Series::new(DELIVERED_LATER, TO_REACH),
                        Series::new(DELIVERED_LATER, DTLS),
                    ),
                    figures,
                ),
                _ => claim.perhaps("frames of many nodes meet on the channel"),
            }
        })
        .collect();
    let grows = |series: &dyn Fn(&str) -> Series| {
        Statement::All(names().map(|way| Statement::Grows(series(way))).collect())
    };
    let more_runs = "each seed is another field, which is most of what they differ by";
    claims.extend([
        claim(
            "The larger the network, the more energy a node takes on average, with each kind of security: it hears and sends on more of others'".into(),
            grows(&energy),
        )
        .if_undecided(more_runs),
        claim(
            "The larger the network, the more energy its busiest node takes, with each kind of security".into(),
            grows(&busiest),
        )
        .if_undecided(more_runs),
        claim(
            "Whatever the size, a node takes the least energy on average without security".into(),
            Statement::Least(energy(NOTHING), names().filter(|name| *name != NOTHING).map(energy).collect()),
        ),
        claim(
            "At each size a node takes clearly less energy on average with link security than with DTLS, of which the handshakes are a part".into(),
            Statement::FarBelow(energy(LINK), energy(DTLS), CLEARLY),
        ),
        claim(
            "At each size a reading's round trip is shorter without security than with link security".into(),
            Statement::Below(round_trip(NOTHING), round_trip(LINK)),
        )
        .if_undecided(more_runs),
    ]);
    for way in [LINK, AH, ESP] {
        let [few, many] = ENDS.map(|(_, size)| Series::new(ADDED, at_size(way, size)));
        claims.push(
            claim(
                format!("{way}: what it adds to a node's energy is at 1,000 nodes much the same share of it as at 4, less than {SIMILAR} % more"),
                Statement::FarBelow(many, few, 100.0 + SIMILAR),
            )
            .if_undecided(more_runs)
            .perhaps("more frames are sent again, and each of them is longer"),
        );
    }
    for way in [AH, ESP] {
        claims.push(claim(
            format!("{way} scales no worse than link security, whose MIC is checked on each hop: at each size a node takes less energy on average (section 6.7 of Raza et al. has it so for long datagrams)"),
            Statement::Below(energy(way), energy(LINK)),
        )
        .if_undecided(more_runs)
        .perhaps("a reading is short, and ESP adds as much to its frame as the MIC does"));
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_networks_have_few_runs() {
        assert_eq!([seeds(250, 10), seeds(500, 10), seeds(1000, 2)], [10, 5, 2]);
    }

    #[test]
    fn what_is_delivered_later_is_counted_alone() {
        assert_eq!(delivered_later("dtls-psk", 4, 1), Ok(100.0));
    }

    #[test]
    fn a_small_network_delivers_all() {
        for (name, mode) in WAYS {
            let taken = one(mode, 4, 1).unwrap();
            assert_eq!(taken.delivered, 100.0, "{name}");
            assert!(taken.energy > 0.0 && taken.energy <= taken.busiest, "{name}");
        }
    }
}
