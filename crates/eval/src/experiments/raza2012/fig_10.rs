//! Figure 10: what a message consumes at the node that answers it, by the paper's metric and by ours.

use super::chain::{
    AH, AH_ENGINE, Chain, ESP, ESP_ENGINE, LINK_CCM_16, NOTHING, SecurityMode, Setting, Taken,
};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "raza2012-fig10",
    paper: super::PAPER,
    at: "figure 10 (section 6.5)",
    shows: "energy of the node that answers, by the paper's metric and by ours, and what forwarding takes",
    method: Method::Run(run),
};

const WAYS: [SecurityMode; 6] = [NOTHING, LINK_CCM_16, AH, AH_ENGINE, ESP, ESP_ENGINE];
const SIZES: [u16; 5] = [16, 64, 128, 256, 512];
const LARGE: u16 = 512;
/// A radio that listens for one per cent of the time, in milliwatts: 20 mA at 3 V.
const LISTENING: f64 = 0.01 * 20.0 * 3.0;

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let near = WAYS.map(|way| SIZES.map(|bytes| Setting::new(way, bytes, 1))).concat();
    let far = WAYS.map(|way| Setting::new(way, LARGE, 2));
    let chain = Chain::measure(context, &[&near[..], &far].concat())?;
    let by_size = |title, what: &str, value| {
        let row = |setting: &Setting| {
            let label = format!("{}, {what}", setting.way.label);
            chain.get(*setting, value).row(label, "mJ").at(setting.bytes.into())
        };
        Figure { title, across: Some("payload, bytes"), rows: near.iter().map(row).collect() }
    };
    let overhead = |way| energy(&chain, way) - energy(&chain, NOTHING);
    let security = Row::new("ESP, security alone, 512 bytes", overhead(ESP), "mJ", Provenance::Estimate)
        .beside(paper.table("figure-10")?.at("ESP, security alone", LARGE.into()));
    let forwarding = paper.table("forwarding")?;
    let forwarded = far.iter().skip(1).map(|setting| {
        let label = format!("{}, forwarding 512 bytes there and back", setting.way.label);
        let more = forwarder(&chain, setting.way) - forwarder(&chain, NOTHING);
        let published =
            (setting.way == LINK_CCM_16).then(|| forwarding.at("link layer", LARGE.into())).flatten();
        Row::new(label, more, "ms", Provenance::Estimate).beside(published)
    });
    Ok(Findings {
        figures: vec![
            by_size("Energy of the CPU at work, the paper's metric", "CPU", |taken: &Taken| taken.cpu),
            by_size(
                "Energy of CPU and radio, sending and receiving, ours",
                "CPU and radio",
                |taken: &Taken| taken.node,
            ),
            Figure { title: "What ESP adds, by the paper's metric", across: None, rows: vec![security] },
            Figure {
                title: "What security adds to the CPU's work at a forwarder",
                across: None,
                rows: forwarded.collect(),
            },
        ],
        claims: claims(&chain, super::fig_9::least_of_link()?),
    })
}

/// By the paper's metric, in millijoules.
fn energy(chain: &Chain, way: SecurityMode) -> f64 {
    at(chain, way, LARGE)
}

fn at(chain: &Chain, way: SecurityMode, bytes: u16) -> f64 {
    chain.get(Setting::new(way, bytes, 1), |taken| taken.cpu).mean
}

fn forwarder(chain: &Chain, way: SecurityMode) -> f64 {
    chain.get(Setting::new(way, LARGE, 2), |taken| taken.forwarder).mean
}

fn claims(chain: &Chain, least: f64) -> Vec<Claim> {
    let ordered = |less, more| SIZES.iter().all(|&bytes| at(chain, less, bytes) < at(chain, more, bytes));
    let larger: Vec<_> =
        SIZES.into_iter().filter(|&bytes| at(chain, AH, bytes) < at(chain, ESP, bytes)).collect();
    let of = |way| energy(chain, way);
    let most = of(ESP) - of(NOTHING);
    let listening = most / LISTENING;
    let saved = 100.0 * (1.0 - of(ESP_ENGINE) / of(ESP));
    let forwarding = |way| forwarder(chain, way) - forwarder(chain, NOTHING);
    let share = |way| 100.0 * forwarding(way) / forwarder(chain, NOTHING);
    vec![
        Claim::new(
            "The node consumes less without IPsec, and more with ESP than with AH (section 6.5)",
            ordered(NOTHING, AH) && ordered(AH, ESP),
            format!("of 512 bytes {:.2} mJ without security, {:.2} with AH, {:.2} with ESP", of(NOTHING), of(AH), of(ESP)),
        )
        .because(
            "AH authenticates the IPv6 header too, which is more than ESP has to encrypt of the smallest messages",
            format!("ESP consumes more than AH with {larger:?} bytes"),
        ),
        Claim::new(
            "IPsec consumes clearly more than link-layer security at the end node (section 6.5)",
            ordered(LINK_CCM_16, AH) && ordered(LINK_CCM_16, ESP),
            format!("of 512 bytes link-layer security consumes {:.2} mJ", of(LINK_CCM_16)),
        ),
        Claim::new(
            "Security consumes at most about 1.2 mJ: ESP in software, 512 bytes (section 6.5)",
            most <= 1.2 * 1.1,
            format!("{most:.2} mJ"),
        ),
        Claim::new(
            "A radio that listens 1 % of the time consumes as much in about 2 s (section 6.5)",
            (1.0..=2.2).contains(&listening),
            format!("in {listening:.2} s"),
        ),
        Claim::new(
            "The radio's AES reduces the energy consumption by half or more (section 6.5)",
            saved >= 45.0,
            format!("of ESP with 512 bytes by {saved:.0} %"),
        ),
        Claim::new(
            "IPsec has no overhead for forwarding nodes but for a small amount of header processing (section 6.5)",
            [AH, ESP].into_iter().all(|way| share(way) < 10.0),
            format!("to the CPU's work for 512 bytes AH adds {:.1} %, ESP {:.1} %", share(AH), share(ESP)),
        ),
        Claim::new(
            "Link-layer security is more efficient for the end node, IPsec for forwarding nodes (section 6.7)",
            [AH_ENGINE, ESP_ENGINE].into_iter().all(|way| of(LINK_CCM_16) < of(way))
                && [AH, ESP].into_iter().all(|way| forwarding(way) < forwarding(LINK_CCM_16)),
            format!(
                "of 512 bytes the end node consumes {:.2} mJ with it, {:.2} with AH and {:.2} with ESP by the radio's AES; to a forwarder it adds {:.1} ms, AH {:.1} and ESP {:.1}",
                of(LINK_CCM_16), of(AH_ENGINE), of(ESP_ENGINE), forwarding(LINK_CCM_16), forwarding(AH), forwarding(ESP)
            ),
        ),
        Claim::new(
            "Link-layer security takes a forwarder 0.3 ms for 512 bytes (section 6.5)",
            forwarding(LINK_CCM_16) <= 0.3,
            format!("it takes {:.1} ms, there and back", forwarding(LINK_CCM_16)),
        )
        .because(
            "it takes in and makes 8 frames for the 6 that there are without security, and its nonces go over the bus whole; the paper counts the cipher alone",
            format!("one pass over the message with the frame counter and the command alone on the bus takes {:.2} ms", least),
        ),
    ]
}
