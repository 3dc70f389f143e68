//! Figures 30 to 32, 37 and 38: what the microcontroller consumes, and the radio when it receives and when it sends.

use super::network::{
    AH, COPIES, ESP, MODES, Measured, Network, Part, SIZES, SecurityMode, Setting, WITHOUT,
};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::Figure;
use crate::published::Table;
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
    shows: "energy of all of network 2 by Energest: microcontroller, receiving and sending, to sensor 13, by size",
    method: Method::Run(|context, _| {
        let figure =
            BySize { network: Network::Two, hop: 2, of: Of::AllNodes, titles: ALL_NODES, section: "6.4.2" };
        figure.findings(context, None)
    }),
    paper: super::PAPER,
};

pub(in super::super) const FIGURE_32: Experiment = Experiment {
    name: "thesis-fig32",
    at: "figure 32 (section 6.3.3)",
    shows: "energy of all of network 1 by Energest, with AH and ESP, 16 bytes over one, three and six hops",
    method: Method::Run(|context, _| by_hops(context, Network::One, "6.3.3")),
    paper: super::PAPER,
};

pub(in super::super) const FIGURE_38: Experiment = Experiment {
    name: "thesis-fig38",
    at: "figure 38 (section 6.4.2)",
    shows: "energy of all of network 2 by Energest, with AH and ESP, 16 bytes to sensors 1, 6 and 13",
    method: Method::Run(|context, _| by_hops(context, Network::Two, "6.4.2")),
    paper: super::PAPER,
};

const ALL_NODES: [&str; 3] = [
    "Energy of all microcontrollers",
    "Energy of all radios while they receive or wait",
    "Energy of all radios while they send",
];

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
                Statement::Below(series(WITHOUT), series(AH)),
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
fn by_hops(context: &Context<'_>, network: Network, section: &str) -> Result<Findings, Error> {
    const BYTES: u16 = 16;
    const TITLES: [(SecurityMode, &str); 2] =
        [(AH, "Energy of all nodes, with AH"), (ESP, "Energy of all nodes, with ESP")];
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
        Figure { title, across: Some("hops"), rows: rows.collect() }
    };
    let figures: Vec<_> = TITLES.into_iter().map(figure).collect();
    let claims = TITLES.into_iter().flat_map(|(mode, title)| {
        let figures = &figures;
        Part::ALL.map(move |part| {
            Claim::stated(
                format!(
                    "{}: the energy grows in proportion to the hops, {} (section {section})",
                    part.name(),
                    mode.phrase()
                ),
                Statement::InProportion(Series::new(title, part.name()), Tolerance::Energy),
                figures,
            )
            .perhaps(COPIES)
        })
    });
    let claims = claims.collect();
    Ok(Findings { figures, claims })
}
