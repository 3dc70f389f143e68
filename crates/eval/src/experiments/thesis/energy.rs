//! Figures 30 to 32, 37 and 38: what the microcontroller consumes, and the radio when it receives and when it sends.

use super::network::{
    AH, COPIES, ESP, MODES, Measured, Network, Part, SIZES, SecurityMode, Setting, WITHOUT,
};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::{Paper, Table};
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

pub(in super::super) const FIGURE_30: Experiment = Experiment {
    name: "thesis-fig30",
    at: "figure 30 (section 6.3.3)",
    shows: "energy of the first node of network 1 by Energest: microcontroller, receiving and sending, one hop, by size",
    method: Method::Run(|context, paper| {
        let figure = BySize {
            network: Network::One,
            hop: 0,
            of: Of::FirstNode,
            titles: [
                "Energy of the first node's microcontroller",
                "Energy of the first node's radio while it receives or waits",
                "Energy of the first node's radio while it sends",
            ],
            section: "6.3.3",
        };
        figure.findings(context, Some(paper.table("figure-30")?))
    }),
    paper: super::PAPER,
};

pub(in super::super) const FIGURE_31: Experiment = Experiment {
    name: "thesis-fig31",
    at: "figure 31 (section 6.3.3)",
    shows: "energy of all of network 1 by Energest: microcontroller, receiving and sending, six hops, by size",
    method: Method::Run(|context, paper| {
        let figure =
            BySize { network: Network::One, hop: 2, of: Of::AllNodes, titles: ALL_NODES, section: "6.3.3" };
        figure.findings(context, Some(paper.table("figure-31")?))
    }),
    paper: super::PAPER,
};

// What the text says of figure 37 are the numbers of figure 31, word for word: ours stands beside none.
pub(in super::super) const FIGURE_37: Experiment = Experiment {
    name: "thesis-fig37",
    at: "figure 37 (section 6.4.2)",
    shows: "energy of all of network 2 by Energest: microcontroller, receiving and sending, to sensor 13, by size, and beside network 1's",
    method: Method::Run(|context, _| {
        let figure =
            BySize { network: Network::Two, hop: 2, of: Of::AllNodes, titles: ALL_NODES, section: "6.4.2" };
        let Findings { mut figures, mut claims } = figure.findings(context, None)?;
        figures.extend(in_both_networks(context)?);
        claims.extend(less_in_first(&figures));
        Ok(Findings { figures, claims })
    }),
    paper: super::PAPER,
};

pub(in super::super) const FIGURE_32: Experiment = Experiment {
    name: "thesis-fig32",
    at: "figure 32 (section 6.3.3)",
    shows: "energy of all of network 1 by Energest, with AH and ESP, 16 bytes over one, three and six hops",
    method: Method::Run(|context, paper| by_hops(context, paper, Network::One, "6.3.3", "figure-32-axis")),
    paper: super::PAPER,
};

pub(in super::super) const FIGURE_38: Experiment = Experiment {
    name: "thesis-fig38",
    at: "figure 38 (section 6.4.2)",
    shows: "energy of all of network 2 by Energest, with AH and ESP, 16 bytes to sensors 1, 6 and 13; the thesis' axis has the number of the sensor, and how many hops away each is, is assumed",
    method: Method::Run(|context, paper| by_hops(context, paper, Network::Two, "6.4.2", "figure-38-axis")),
    paper: super::PAPER,
};

const ALL_NODES: [&str; 3] = [
    "Energy of all microcontrollers",
    "Energy of all radios while they receive or wait",
    "Energy of all radios while they send",
];

const BOTH_NETWORKS: [&str; 3] = [
    "Energy of all microcontrollers, in both networks",
    "Energy of all radios while they receive or wait, in both networks",
    "Energy of all radios while they send, in both networks",
];
/// What a row is called that says where an axis of the thesis ends.
const END: &str = "end of the thesis' axis";

/// The energies of both networks side by side, over six hops.
fn in_both_networks(context: &Context<'_>) -> Result<[Figure; 3], Error> {
    let of_network = |network: Network| {
        let [.., farthest] = network.targets();
        MODES.map(|mode| SIZES.map(|bytes| Setting::new(network, mode, bytes, farthest))).concat()
    };
    let settings = [Network::One, Network::Two].map(of_network).concat();
    let measured = Measured::new(context, &settings)?;
    let mut parts = Part::ALL.into_iter();
    Ok(BOTH_NETWORKS.map(|title| {
        let part = parts.next();
        let row = |setting: &Setting| {
            let row = measured.of_network(*setting, part?).row(setting.mode.in_network(setting.network), "J");
            Some(row.at(setting.bytes.into()))
        };
        Figure { title, across: Some("datagram, bytes"), rows: settings.iter().filter_map(row).collect() }
    }))
}

/// That the first network consumes less than the second.
fn less_in_first(figures: &[Figure]) -> Vec<Claim> {
    let of_part = |(part, title): (Part, &'static str)| {
        let below = |mode: SecurityMode| {
            let series = |network| Series::new(title, mode.in_network(network));
            Statement::Below(series(Network::One), series(Network::Two))
        };
        let text = format!(
            "{}: all of network 1 consumes less than all of network 2, without IPsec and with either header (section 6.6)",
            part.name()
        );
        Claim::stated(text, Statement::All(MODES.map(below).into()), figures).perhaps(COPIES)
    };
    Part::ALL.into_iter().zip(BOTH_NETWORKS).map(of_part).collect()
}

/// Whose energy it is.
#[derive(Clone, Copy)]
enum Of {
    FirstNode,
    AllNodes,
}

/// A figure of energies by the size of datagrams.
struct BySize {
    network: Network,
    /// Which of the network's targets datagrams go to.
    hop: usize,
    of: Of,
    titles: [&'static str; 3],
    section: &'static str,
}

impl BySize {
    fn findings(&self, context: &Context<'_>, published: Option<&Table>) -> Result<Findings, Error> {
        let of = |mode, bytes| Setting::new(self.network, mode, bytes, self.network.targets()[self.hop]);
        let settings: Vec<_> =
            MODES.into_iter().flat_map(|mode| SIZES.map(|bytes| of(mode, bytes))).collect();
        let measured = Measured::new(context, &settings)?;
        let row = |setting: &Setting, part: Part| {
            let sample = match self.of {
                Of::FirstNode => measured.of_first_node(*setting, part),
                Of::AllNodes => measured.of_network(*setting, part),
            };
            let x = f64::from(setting.bytes);
            let said = format!("{}, {}", setting.mode.label, part.name());
            sample
                .row(setting.mode.label, "J")
                .at(x)
                .beside(published.and_then(|published| published.at(&said, x)))
        };
        let figures: Vec<_> = Part::ALL
            .into_iter()
            .zip(self.titles)
            .map(|(part, title)| Figure {
                title,
                across: Some("datagram, bytes"),
                rows: settings.iter().map(|setting| row(setting, part)).collect(),
            })
            .collect();
        let claims = self.claims(&figures, published.is_some());
        Ok(Findings { figures, claims })
    }

    fn claims(&self, figures: &[Figure], is_published: bool) -> Vec<Claim> {
        let section = self.section;
        let mut claims = Vec::new();
        for (part, title) in Part::ALL.into_iter().zip(self.titles) {
            let (part, series) = (part.name(), |mode: SecurityMode| Series::new(title, mode.label));
            let mut claim = |text: String, statement| {
                let text = format!("{part}: {text} (section {section})");
                claims.push(Claim::stated(text, statement, figures).perhaps(COPIES));
            };
            if is_published {
                claim(
                    "in the worst case, ESP on 64 bytes, it is what the text says".into(),
                    Statement::Published(series(ESP), Tolerance::Energy),
                );
            }
            claim("ESP consumes more than AH".into(), Statement::Below(series(AH), series(ESP)));
            claim(
                "less is consumed without IPsec than with it".into(),
                Statement::Least(series(WITHOUT), [AH, ESP].map(series).into()),
            );
            for mode in MODES {
                claim(
                    format!("as the datagram grows, more is consumed, {}", mode.phrase()),
                    Statement::Grows(series(mode)),
                );
            }
        }
        claims
    }
}

/// A figure of energies by hops.
fn by_hops(
    context: &Context<'_>,
    paper: &Paper,
    network: Network,
    section: &str,
    axis: &str,
) -> Result<Findings, Error> {
    const BYTES: u16 = 16;
    let end = paper.table(axis)?.get("end").map_or(f64::NAN, |published| published.value);
    let settings: Vec<_> = TITLES
        .into_iter()
        .flat_map(|(mode, _)| network.targets().map(|target| Setting::new(network, mode, BYTES, target)))
        .collect();
    let measured = Measured::new(context, &settings)?;
    let figure = |(mode, title): (SecurityMode, &'static str)| {
        let rows = Part::ALL.into_iter().flat_map(|part| {
            let of_mode = settings.iter().filter(move |setting| setting.mode == mode);
            let row = |setting: &Setting| {
                measured.of_network(*setting, part).row(part.name(), "J").at(setting.target.hops.into())
            };
            of_mode.map(row).collect::<Vec<_>>()
        });
        let ends = network
            .targets()
            .map(|target| Row::new(END, end, "J", Provenance::Published).at(target.hops.into()));
        Figure { title, across: Some("hops"), rows: rows.chain(ends).collect() }
    };
    let figures: Vec<_> = TITLES.into_iter().map(figure).collect();
    let claims = claims_by_hops(section, &figures);
    Ok(Findings { figures, claims })
}

/// What a figure by hops is called.
const TITLES: [(SecurityMode, &str); 2] =
    [(AH, "Energy of all nodes, with AH"), (ESP, "Energy of all nodes, with ESP")];

fn claims_by_hops(section: &str, figures: &[Figure]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (mode, title) in TITLES {
        claims.extend(Part::ALL.map(|part| {
            Claim::stated(
                format!(
                    "{}: the increase of the energy is in proportion to the hops, as much for each hop more, {} (section {section})",
                    part.name(),
                    mode.phrase()
                ),
                Statement::Linear(Series::new(title, part.name()), Tolerance::Energy),
                figures,
            )
            .perhaps(COPIES)
        }));
        let series = || Part::ALL.map(|part| Series::new(title, part.name()));
        let claim = |text: &str, statement| {
            let text = format!("{text}, {} (section {section})", mode.phrase());
            Claim::stated(text, statement, figures).perhaps(COPIES)
        };
        claims.extend([
            claim(
                "Least energy is consumed over one hop, and most over six, by each part",
                Statement::All(series().map(Statement::Grows).into()),
            ),
            claim(
                "No part consumes more than the figure's axis ends at",
                Statement::Most(Series::new(title, END), series().into()),
            ),
        ]);
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_less_without_ipsec_is_less_than_with_either_header() {
        let figure =
            BySize { network: Network::One, hop: 2, of: Of::AllNodes, titles: ALL_NODES, section: "6.3.3" };
        let claims = figure.claims(&[], true);
        for title in ALL_NODES {
            let of = |mode: SecurityMode| Series::new(title, mode.label);
            let statement = Statement::Least(of(WITHOUT), vec![of(AH), of(ESP)]);
            assert!(claims.iter().any(|claim| claim.statement == statement), "{title}");
        }
    }

    #[test]
    fn an_offset_is_no_part_of_the_increase_and_uneven_steps_are_noticed() {
        let (_, title) = TITLES[0];
        let verdict = |values: [f64; 3]| {
            let row = |(value, x): (f64, f64)| Row::new("TX", value, "J", Provenance::Estimate).at(x);
            let rows = values.into_iter().zip([1.0, 3.0, 6.0]).map(row).collect();
            let figures = [Figure { title, across: Some("hops"), rows }];
            let claims = claims_by_hops("6.3.3", &figures);
            claims.iter().find(|claim| claim.text.starts_with("TX: the increase")).unwrap().verdict
        };
        assert_eq!(verdict([11.0, 13.0, 16.0]), crate::Verdict::Holds);
        assert_eq!(verdict([11.0, 13.0, 22.0]), crate::Verdict::DoesNotHold);
    }
}
