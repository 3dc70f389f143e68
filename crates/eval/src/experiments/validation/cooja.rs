//! Echoes in Cooja: motes with Contiki-NG that always listen.

use sixlock_sim::{Destination, Options, ScenarioBuilder, Simulation, TrafficKind};

use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Findings};
use crate::figure::{EchoSetting, Figure};
use crate::published::Paper;
use crate::sample::Sample;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

const TITLE: &str = "An echo, there and back, beside Cooja's";
pub(super) const FILE: &str = "scenarios/cooja.toml";
pub(super) const SCENARIO: &str = include_str!("../../../../../scenarios/cooja.toml");

/// A chain of so many hops, at whose end a node sends datagrams back, and how long they are, in bytes.
struct Chain {
    label: &'static str,
    hops: u32,
    sizes: &'static [u16],
}

const CHAINS: [Chain; 2] = [
    Chain { label: "1 hop", hops: 1, sizes: &[16, 64, 512] },
    Chain { label: "3 hops", hops: 3, sizes: &[64] },
];

pub(super) fn run(context: &Context<'_>, measured: &Paper) -> Result<Findings, Error> {
    let published = measured.table("cooja-echo")?;
    let each = |chain: &'static Chain| chain.sizes.iter().map(move |&bytes| (chain, bytes));
    let settings: Vec<_> = CHAINS.iter().flat_map(each).collect();
    let row = |&(chain, bytes): &(&Chain, u16)| {
        let seeds = 1..=u64::from(context.runs);
        let times = seeds.map(|seed| there_and_back(chain.hops, bytes, seed));
        let row = Sample::of(&times.collect::<Result<Vec<_>, _>>()?).row(chain.label, "ms");
        let echo = EchoSetting { hops: chain.hops, bytes, security: "none", mac: "csma" };
        Ok::<_, Error>(
            row.at(bytes.into()).of_echo(Some(echo)).beside(published.at(chain.label, bytes.into())),
        )
    };
    let rows = context.each(&settings, row)?;
    let figures = vec![Figure { title: TITLE, across: Some("payload, bytes"), rows }];
    let claims = CHAINS.iter().map(|chain| {
        let statement = Statement::Published(Series::new(TITLE, chain.label), Tolerance::Validation);
        let text = format!("An echo over {} takes as long as in Cooja", chain.label);
        Claim::stated(text, statement, &figures)
    });
    Ok(Findings { claims: claims.collect(), figures })
}

/// The mean time of echoes, in milliseconds.
fn there_and_back(hops: u32, bytes: u16, seed: u64) -> Result<f64, Error> {
    let scenario = ScenarioBuilder::parse(FILE, SCENARIO)?
        .nodes(hops)
        .destination(Destination::Node(hops))
        .traffic_kind(TrafficKind::Echo { payload: bytes })
        .seed(seed)
        .build()?;
    let report = Simulation::new(&scenario, Options::default())?.run();
    let report = report.map_err(|error| Error(error.to_string()))?;
    let farthest = report.nodes.last().and_then(|node| node.rtt_ms);
    let lost = || Error(format!("there was no echo: {hops} hops, {bytes} bytes, seed {seed}"));
    farthest.map(|times| times.mean).ok_or_else(lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::MEASUREMENTS;

    #[test]
    fn each_echo_takes_as_long_as_in_cooja_up_to_a_tenth() {
        let measured = Paper::parse(MEASUREMENTS).unwrap();
        for Chain { label, hops, sizes } in CHAINS {
            for &bytes in sizes {
                let ours = there_and_back(hops, bytes, 1).unwrap();
                let published = measured.table("cooja-echo").unwrap().at(label, bytes.into()).unwrap().value;
                println!("{label}, {bytes} bytes: {ours:.1} ms, in Cooja {published}");
                let [least, most] = Tolerance::Validation.range(published);
                assert!(least <= ours && ours <= most, "{label}, {bytes} bytes: {ours} ms");
            }
        }
    }
}
