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
const HOPS: [u32; 4] = [1, 2, 3, 4];
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
/// What a radio that listens is to take less than, in the paper's words.
const LIMIT: &str = "the paper's limit";
const ON_THE_PATH: &str = "Energy of the CPUs of all nodes on the path more than without security, 512 bytes, by the paper's metric";

fn run(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let near = WAYS.map(|way| SIZES.map(|bytes| Setting::new(way, bytes, 1))).concat();
    let far = WAYS.map(|way| Setting::new(way, LARGE, 2));
    let farther = WAYS.map(|way| [3, 4].map(|hops| Setting::new(way, LARGE, hops))).concat();
    let chain = Chain::measure(context, &[&near[..], &far, &farther].concat())?;
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
    let forwarded: Vec<_> = far
        .iter()
        .skip(1)
        .map(|setting| {
            let row = work(setting.way).minus(&work(NOTHING)).row(label(FORWARDING, setting.way), "ms");
            row.beside(forwarding.filter(|_| setting.way == LINK_CCM_16))
        })
        .collect();
    let limit = listening.get("ESP, security alone");
    let mut as_long = vec![added.times(1.0 / LISTENING).row(ADDED_ROW, "s").beside(limit)];
    as_long.extend(limit.map(|limit| Row::new(LIMIT, limit.value, "s", Provenance::Published)));
    let path = |way, hops| chain.get(Setting::new(way, LARGE, hops), |taken| taken.path.clone());
    let on_the_path = WAYS.into_iter().skip(1).flat_map(|way| {
        HOPS.map(|hops| {
            let added = path(way, hops).minus(&path(NOTHING, hops));
            added.row(label(ON_THE_PATH, way), "mJ").at(hops.into())
        })
    });
    let on_the_path = Figure { title: ON_THE_PATH, across: Some("hops"), rows: on_the_path.collect() };
    let figure = |title, rows| Figure { title, across: None, rows };
    let figures = vec![
        by_size(CPU, |taken: &Taken| taken.cpu.clone()),
        by_size(OURS, |taken: &Taken| taken.node.clone()),
        figure(
            ADDED,
            vec![added.row(ADDED_ROW, "mJ").beside(of_figure.at("ESP, security alone", LARGE.into()))],
        ),
        figure(AS_LONG, as_long),
        figure(SAVED, PAIRS.map(saved).into()),
        figure(FORWARDER, far.iter().map(at_work).collect()),
        figure(FORWARDING, forwarded),
        on_the_path,
    ];
    let claims = claims(&figures);
    Ok(Findings { figures, claims })
}

/// IPsec, in software and with the radio's AES.
const IPSEC: [SecurityMode; 4] = [AH, ESP, AH_ENGINE, ESP_ENGINE];
/// In software, and by the radio.
const PAIRS: [[SecurityMode; 2]; 2] = [[AH, AH_ENGINE], [ESP, ESP_ENGINE]];

/// What rows of a figure are called: JSON and tables have them without its title.
fn label(figure: &'static str, way: SecurityMode) -> String {
    let what = match figure {
        CPU => "CPU",
        OURS => "CPU and radio",
        FORWARDER => "at a forwarder",
        ON_THE_PATH => "all nodes on the path",
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
    let mut claims = Vec::new();
    for [ah, esp] in [[AH, ESP], [AH_ENGINE, ESP_ENGINE]] {
        claims.push(
            claim(
                format!("The node consumes more with {} than with {} (section 6.5)", esp.label, ah.label),
                Statement::Below(of_cpu(ah), of_cpu(esp)),
            )
            .perhaps("AH authenticates the IPv6 header too, which is more than ESP has to encrypt of the smallest messages"),
        );
    }
    for way in IPSEC {
        claims.push(
            claim(
                format!(
                    "{}: the node clearly consumes more with IPsec than without security (section 6.5)",
                    way.label
                ),
                Statement::FarBelow(of_cpu(NOTHING), of_cpu(way), CLEARLY),
            )
            .perhaps("if the radio does AES, little is left that IPsec takes more"),
        );
    }
    for way in IPSEC {
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
            Statement::Below(Series::new(AS_LONG, ADDED_ROW), Series::new(AS_LONG, LIMIT)),
        )
        .perhaps("the paper's own 1.2 mJ are exactly what such a radio consumes in 2 s, at 20 mA and 3 V")
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
    for way in IPSEC {
        claims.push(claim(
            format!("{} has no overhead for forwarding nodes but for a small amount of header processing (section 6.5)", way.label),
            Statement::HardlyMore(series(FORWARDER, way), series(FORWARDER, NOTHING), NEGLIGIBLE),
        ));
        claims.push(claim(
            format!("Link-layer security is more efficient for the end node than {}, with 512 bytes (section 6.7)", way.label),
            Statement::BelowFrom(of_cpu(LINK_CCM_16), of_cpu(way), LARGE.into()),
        ));
        claims.push(claim(
            format!(
                "{} is much more efficient for forwarding nodes than link-layer security (section 6.7)",
                way.label
            ),
            Statement::FarBelow(series(FORWARDING, way), series(FORWARDING, LINK_CCM_16), MUCH),
        ));
    }
    claims.push(claim(
        "For link-layer security, the energy consumption grows with every node on the path (section 6.5)"
            .into(),
        Statement::Grows(series(ON_THE_PATH, LINK_CCM_16)),
    ));
    claims.push(
        claim(
            "Link-layer security takes a forwarder 0.3 ms for 512 bytes (section 6.5)".into(),
            Statement::Published(Series::new(FORWARDING, label(FORWARDING, LINK_CCM_16)), Tolerance::Time),
        )
        .perhaps("the paper counts the cipher alone; here a forwarder takes in and makes 8 frames for the 6 that there are without security, there and back, waits for the engine, and writes its nonces over the bus whole"),
    );
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_about_ipsec_are_about_each_series_of_it() {
        let claims = claims(&[]);
        for way in IPSEC {
            let of_cpu = |claim: &&Claim| claim.statement.series().contains(&&series(CPU, way));
            assert!(claims.iter().filter(of_cpu).count() >= 4, "{}", way.label);
            let of_forwarder = |claim: &Claim| claim.statement.series().contains(&&series(FORWARDER, way));
            assert!(claims.iter().any(of_forwarder), "{}", way.label);
        }
    }

    #[test]
    fn less_than_two_seconds_is_not_two_seconds_and_a_little() {
        let verdict = |seconds| {
            let row = |label: &str, value| Row::new(label, value, "s", Provenance::Estimate);
            let rows = vec![row(ADDED_ROW, seconds), row(LIMIT, 2.0)];
            let claims = claims(&[Figure { title: AS_LONG, across: None, rows }]);
            claims.iter().find(|claim| claim.text.contains("in less than 2 s")).unwrap().verdict
        };
        use crate::verdict::Verdict;
        assert_eq!([verdict(1.99), verdict(2.08)], [Verdict::Holds, Verdict::DoesNotHold]);
    }
}
