//! Figure 10: what a message consumes at the node that answers it, by the paper's metric and by ours.

use super::chain::{
    AH, AH_ENGINE, Chain, ESP, ESP_ENGINE, LINK_CCM_16, NOTHING, SecurityMode, Setting, Taken,
};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;
use crate::wording::{CLEARLY, MUCH, NEGLIGIBLE};

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

const CPU: &str = "Energy of the CPU at work, the paper's metric";
const OURS: &str = "Energy of CPU and radio, sending and receiving, ours";
const ADDED: &str = "What ESP adds, by the paper's metric";
const ADDED_ROW: &str = "ESP, security alone, 512 bytes";
const AS_LONG: &str = "Time in which a radio that listens 1 % of the time consumes as much";
const SAVED: &str = "What the radio's AES saves of the energy, 512 bytes, by the paper's metric";
const FORWARDER: &str = "Time of the CPU at a forwarder, 512 bytes there and back";
const FORWARDING: &str = "What security adds to the CPU's work at a forwarder";
/// What link security adds there if as little as can be goes over the bus.
const LEAST: &str = "link, CCM-128, counter and command on the bus";

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let near = WAYS.map(|way| SIZES.map(|bytes| Setting::new(way, bytes, 1))).concat();
    let far = WAYS.map(|way| Setting::new(way, LARGE, 2));
    let chain = Chain::measure(context, &[&near[..], &far].concat())?;
    let by_size = |title, value| {
        let row = |setting: &Setting| {
            chain.get(*setting, value).row(label(title, setting.way), "mJ").at(setting.bytes.into())
        };
        Figure { title, across: Some("payload, bytes"), rows: near.iter().map(row).collect() }
    };
    let energy = |way| chain.get(Setting::new(way, LARGE, 1), |taken| taken.cpu.clone());
    let added = energy(ESP).minus(&energy(NOTHING));
    let (of_figure, listening) = (paper.table("figure-10")?, paper.table("listening")?);
    let halved = paper.table("hardware-saves")?.get("energy");
    let saved = |[software, engine]: [SecurityMode; 2]| {
        let less = energy(engine).per_cent_more(&energy(software));
        less.times(-1.0).row(software.label, "%").beside(halved)
    };
    let at_work = |setting: &Setting| {
        chain.get(*setting, |taken| taken.forwarder.clone()).row(label(FORWARDER, setting.way), "ms")
    };
    let work = |way| chain.get(Setting::new(way, LARGE, 2), |taken| taken.forwarder.clone());
    let forwarding = paper.table("forwarding")?.at("link layer", LARGE.into());
    let mut forwarded: Vec<_> = far
        .iter()
        .skip(1)
        .map(|setting| work(setting.way).minus(&work(NOTHING)).row(label(FORWARDING, setting.way), "ms"))
        .collect();
    forwarded.push(Row::new(LEAST, super::fig_9::least_of_link()?, "ms", Provenance::Estimate));
    for row in &mut forwarded {
        if [label(FORWARDING, LINK_CCM_16).as_str(), LEAST].contains(&row.label.as_str()) {
            *row = row.clone().beside(forwarding);
        }
    }
    let figure = |title, rows| Figure { title, across: None, rows };
    let figures = vec![
        by_size(CPU, |taken: &Taken| taken.cpu.clone()),
        by_size(OURS, |taken: &Taken| taken.node.clone()),
        figure(
            ADDED,
            vec![added.row(ADDED_ROW, "mJ").beside(of_figure.at("ESP, security alone", LARGE.into()))],
        ),
        figure(
            AS_LONG,
            vec![
                added.times(1.0 / LISTENING).row(ADDED_ROW, "s").beside(listening.get("ESP, security alone")),
            ],
        ),
        figure(SAVED, PAIRS.map(saved).into()),
        figure(FORWARDER, far.iter().map(at_work).collect()),
        figure(FORWARDING, forwarded),
    ];
    let claims = claims(&figures);
    Ok(Findings { figures, claims })
}

/// In software, and by the radio.
const PAIRS: [[SecurityMode; 2]; 2] = [[AH, AH_ENGINE], [ESP, ESP_ENGINE]];

/// What rows of a figure are called: JSON and tables have them without its title.
fn label(figure: &'static str, way: SecurityMode) -> String {
    let what = match figure {
        CPU => "CPU",
        OURS => "CPU and radio",
        FORWARDER => "at a forwarder",
        _ => "forwarding 512 bytes there and back",
    };
    format!("{}, {what}", way.label)
}

fn series(figure: &'static str, way: SecurityMode) -> Series {
    Series::new(figure, label(figure, way))
}

fn claims(figures: &[Figure]) -> Vec<Claim> {
    let claim = |text: String, statement| Claim::stated(text, statement, figures);
    let of_cpu = |way| series(CPU, way);
    let mut claims = vec![
        claim(
            "The node consumes more with ESP than with AH (section 6.5)".into(),
            Statement::Below(of_cpu(AH), of_cpu(ESP)),
        )
        .perhaps("AH authenticates the IPv6 header too, which is more than ESP has to encrypt of the smallest messages"),
    ];
    for way in [AH, ESP] {
        claims.push(claim(
            format!(
                "{}: the node clearly consumes more with IPsec than without security (section 6.5)",
                way.label
            ),
            Statement::FarBelow(of_cpu(NOTHING), of_cpu(way), CLEARLY),
        ));
    }
    for way in [AH, ESP, AH_ENGINE, ESP_ENGINE] {
        claims.push(
            claim(
                format!(
                    "{}: IPsec clearly consumes more than link-layer security at the end node (section 6.5)",
                    way.label
                ),
                Statement::FarBelow(of_cpu(LINK_CCM_16), of_cpu(way), CLEARLY),
            )
            .perhaps("if the radio does AES for both, little is left that IPsec takes more"),
        );
    }
    claims.push(claim(
        "Security consumes around 1.2 mJ at most: ESP in software, 512 bytes (section 6.5)".into(),
        Statement::Published(Series::new(ADDED, ADDED_ROW), Tolerance::Energy),
    ));
    claims.push(
        claim(
            "A radio that listens 1 % of the time consumes as much in less than 2 s (section 6.5)".into(),
            Statement::Published(Series::new(AS_LONG, ADDED_ROW), Tolerance::Time),
        )
        .uncounted("it is what the claim before says, divided by the power of a radio that listens"),
    );
    for [software, _] in PAIRS {
        claims.push(
            claim(
                format!(
                    "The radio's AES reduces the energy consumption by half, {} (section 6.5)",
                    software.label
                ),
                Statement::Published(Series::new(SAVED, software.label), Tolerance::Percent),
            )
            .perhaps(
                "here a byte on the bus to the radio takes 4.1 µs, the least that there is on this board",
            ),
        );
    }
    for [software, engine] in PAIRS {
        claims.push(claim(
            format!("{} has no overhead for forwarding nodes but for a small amount of header processing (section 6.5)", software.label),
            Statement::HardlyMore(series(FORWARDER, software), series(FORWARDER, NOTHING), NEGLIGIBLE),
        ));
        claims.push(claim(
            format!("Link-layer security is more efficient for the end node than {} by the radio's AES, with 512 bytes (section 6.7)", software.label),
            Statement::BelowFrom(of_cpu(LINK_CCM_16), of_cpu(engine), LARGE.into()),
        ));
        claims.push(claim(
            format!(
                "{} is much more efficient for forwarding nodes than link-layer security (section 6.7)",
                software.label
            ),
            Statement::FarBelow(series(FORWARDING, software), series(FORWARDING, LINK_CCM_16), MUCH),
        ));
    }
    let of_link = |label: &str| Statement::Published(Series::new(FORWARDING, label), Tolerance::Time);
    claims.push(
        claim(
            "Link-layer security takes a forwarder 0.3 ms for 512 bytes (section 6.5)".into(),
            of_link(&label(FORWARDING, LINK_CCM_16)),
        )
        .without(
            "it takes in and makes 8 frames for the 6 that there are without security, waits for the engine, and writes its nonces over the bus whole; the paper counts the cipher alone",
            &of_link(LEAST),
            figures,
        ),
    );
    claims
}
