//! Figures 33 to 35 and 39 to 41: response times.

use super::network::{AH, COPIES, ESP, MODES, Measured, Network, SIZES, SecurityMode, Setting, WITHOUT};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::{Paper, Table};
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;
use crate::wording::NEGLIGIBLE;

const SMALL: u16 = 16;
const LARGE: u16 = 64;

pub(in super::super) const FIGURE_33: Experiment = Experiment {
    name: "thesis-fig33",
    at: "figure 33 (section 6.3.4)",
    shows: "response time by the host's clock on network 1, by hops, 16 and 64 bytes",
    method: Method::Run(|context, paper| {
        by_hops(context, paper, Network::One, "6.3.4", ["figure-33", "figure-33-axes"])
    }),
    paper: super::PAPER,
};
pub(in super::super) const FIGURE_34: Experiment = Experiment {
    name: "thesis-fig34",
    at: "figure 34 (section 6.3.4)",
    shows: "response time by the host's clock on network 1, by size, over one, three and six hops",
    method: Method::Run(|context, paper| by_size(context, paper, Network::One, "6.3.4", "figure-34-axes")),
    paper: super::PAPER,
};
pub(in super::super) const FIGURE_35: Experiment = Experiment {
    name: "thesis-fig35",
    at: "figure 35 (section 6.3.4)",
    shows: "response time by the bridge's clock on network 1, by hops, 16 bytes",
    method: Method::Run(|context, paper| inside(context, paper, Network::One, "6.3.4", "figure-35-axis")),
    paper: super::PAPER,
};
pub(in super::super) const FIGURE_39: Experiment = Experiment {
    name: "thesis-fig39",
    at: "figure 39 (section 6.4.3)",
    shows: "response time by the host's clock on network 2, by size, of sensors 1, 6 and 13",
    method: Method::Run(|context, paper| by_size(context, paper, Network::Two, "6.4.3", "figure-39-axes")),
    paper: super::PAPER,
};
pub(in super::super) const FIGURE_40: Experiment = Experiment {
    name: "thesis-fig40",
    at: "figure 40 (section 6.4.3)",
    shows: "response time by the host's clock on network 2, by hops, 16 and 64 bytes, and beside network 1's; the thesis' axis has the number of the sensor, and how many hops away each is, is assumed",
    method: Method::Run(|context, paper| {
        by_hops(context, paper, Network::Two, "6.4.3", ["figure-40", "figure-40-axes"])
    }),
    paper: super::PAPER,
};
pub(in super::super) const FIGURE_41: Experiment = Experiment {
    name: "thesis-fig41",
    at: "figure 41 (section 6.4.3)",
    shows: "response time by the bridge's clock on network 2, by hops, 16 bytes; the thesis' axis has the number of the sensor, and how many hops away each is, is assumed",
    method: Method::Run(|context, paper| inside(context, paper, Network::Two, "6.4.3", "figure-41-axis")),
    paper: super::PAPER,
};

/// The title of a figure, and that of the one beside it in which processors take no time.
type Titles = [&'static str; 2];

const AT_SMALL: Titles = [
    "Response time by the host's clock, 16 bytes",
    "Response time by the host's clock, 16 bytes, if processors took no time",
];
const AT_LARGE: Titles = [
    "Response time by the host's clock, 64 bytes",
    "Response time by the host's clock, 64 bytes, if processors took no time",
];
const INSIDE: Titles = [
    "Response time by the bridge's clock, 16 bytes",
    "Response time by the bridge's clock, 16 bytes, if processors took no time",
];
const BY_SIZE: [Titles; 3] = [
    [
        "Response time by the host's clock, one hop",
        "Response time by the host's clock, one hop, if processors took no time",
    ],
    [
        "Response time by the host's clock, three hops",
        "Response time by the host's clock, three hops, if processors took no time",
    ],
    [
        "Response time by the host's clock, six hops",
        "Response time by the host's clock, six hops, if processors took no time",
    ],
];
const ADDED: &str = "64 bytes over six hops";
/// Whose axes those of the figures by size are.
const AXES_BY_SIZE: [&str; 3] = ["one hop", "three hops", "six hops"];
const BOTH_NETWORKS: Titles = [
    "Response time by the host's clock, 64 bytes, in both networks",
    "Response time by the host's clock, 64 bytes, in both networks, if processors took no time",
];
/// What a row is called that says where an axis of the thesis ends.
const END: &str = "end of the thesis' axis";

/// Settings and, behind them, the same with processors that take no time.
fn with_instant(settings: &[Setting]) -> Vec<Setting> {
    let instant = settings.iter().map(|setting| setting.instant());
    settings.iter().copied().chain(instant).collect()
}

/// The figures of these settings, on the Tmote Sky and with processors that take no time, with the end of the thesis' axis.
fn figures(
    measured: &Measured,
    titles: Titles,
    across: &'static str,
    settings: &[Setting],
    x: fn(&Setting) -> f64,
    end: Option<f64>,
) -> [Figure; 2] {
    let [boards, instant] = titles;
    let figure = |title, change: fn(Setting) -> Setting| {
        let row = |setting: &Setting| {
            let changed = change(*setting);
            let row = measured.response(changed).row(setting.mode.label, "ms");
            row.at(x(setting)).of_echo(changed.echo()).on(changed.platform())
        };
        let places = settings.iter().filter(|setting| setting.mode == WITHOUT).map(x);
        let ends =
            places.filter_map(|place| Some(Row::new(END, end?, "ms", Provenance::Published).at(place)));
        Figure { title, across: Some(across), rows: settings.iter().map(row).chain(ends).collect() }
    };
    [figure(boards, |setting| setting), figure(instant, Setting::instant)]
}

fn hops(setting: &Setting) -> f64 {
    setting.target.hops.into()
}

/// A claim of a figure, and what the one beside it says.
fn claim(
    figures: &[Figure],
    [boards, instant]: Titles,
    text: String,
    statement: impl Fn(&dyn Fn(SecurityMode) -> Series) -> Statement,
) -> Claim {
    let of = |title| statement(&|mode| Series::new(title, mode.label));
    Claim::stated(text, of(boards), figures).without(COPIES, &of(instant), figures)
}

/// That no response takes more than the axis of a figure has room for.
fn within_axis(figures: &[Figure], [boards, instant]: Titles, text: &str, section: &str) -> Claim {
    let of = |title| {
        let responses = MODES.map(|mode| Series::new(title, mode.label));
        Statement::Most(Series::new(title, END), responses.into())
    };
    let text = format!("No response takes more than the figure's axis ends at, {text} (section {section})");
    Claim::stated(text, of(boards), figures).without(COPIES, &of(instant), figures)
}

/// Where an axis ends.
fn end(axes: &Table, of: &str) -> Option<f64> {
    Some(axes.get(of)?.value)
}

/// All modes over all hops.
fn all_hops(network: Network, bytes: u16) -> Vec<Setting> {
    let of = |mode| network.targets().map(|target| Setting::new(network, mode, bytes, target));
    MODES.into_iter().flat_map(of).collect()
}

fn by_hops(
    context: &Context<'_>,
    paper: &Paper,
    network: Network,
    section: &str,
    [published, axes]: [&str; 2],
) -> Result<Findings, Error> {
    const WITH: &str = "the response with ESP";
    const MORE: &str = "what ESP adds";
    const INSTANT: &str = ", if processors took no time";
    let [small, large] = [SMALL, LARGE].map(|bytes| all_hops(network, bytes));
    let of_first = match network {
        Network::One => Vec::new(),
        Network::Two => all_hops(Network::One, LARGE),
    };
    let measured = Measured::new(context, &with_instant(&[&small[..], &large, &of_first].concat()))?;
    let (table, axes) = (paper.table(published)?, paper.table(axes)?);
    let [.., farthest] = network.targets();
    let mut rows = Vec::new();
    let instant = Setting::instant as fn(Setting) -> Setting;
    for (change, what) in [((|setting| setting) as fn(Setting) -> Setting, ""), (instant, INSTANT)] {
        let setting = |mode| change(Setting::new(network, mode, LARGE, farthest));
        let of = |mode| measured.response(setting(mode));
        for (label, value) in [(WITH, of(ESP)), (MORE, of(ESP).minus(&of(WITHOUT)))] {
            let row = value.row(format!("{label}{what}"), "ms").beside(table.get(label));
            rows.push(row.on(setting(ESP).platform()));
        }
    }
    let mut shown = Vec::new();
    for (titles, settings, axis) in [(AT_SMALL, &small, "16 bytes"), (AT_LARGE, &large, "64 bytes")] {
        shown.extend(figures(&measured, titles, "hops", settings, hops, end(axes, axis)));
    }
    shown.push(Figure { title: ADDED, across: None, rows });
    let mut claims = Vec::new();
    if network == Network::Two {
        shown.extend(in_both_networks(&measured, &of_first, &large));
        claims.extend(MODES.map(|mode| slower_in_second(&shown, mode)));
    }
    for (titles, bytes) in [(AT_SMALL, SMALL), (AT_LARGE, LARGE)] {
        claims.push(within_axis(&shown, titles, &format!("{bytes} bytes"), section));
        for mode in [AH, ESP] {
            let text = format!(
                "For {bytes} bytes the overhead of {} is constant, regardless of the hops (section {section})",
                mode.label
            );
            claims.push(claim(&shown, titles, text, |of| {
                Statement::SameAdded(of(mode), of(WITHOUT), Tolerance::Time)
            }));
        }
    }
    for (label, text) in [
        (
            MORE,
            format!(
                "In the worst case, ESP with 64 bytes over six hops, the overhead is what the text says (section {section})"
            ),
        ),
        (
            WITH,
            "The response to ESP with 64 bytes over six hops takes what the text says (section 6.6)".into(),
        ),
    ] {
        let of = |what| Statement::Published(Series::new(ADDED, format!("{label}{what}")), Tolerance::Time);
        claims.push(Claim::stated(text, of(""), &shown).without(COPIES, &of(INSTANT), &shown));
    }
    Ok(Findings { figures: shown, claims })
}

/// The response times of both networks side by side.
fn in_both_networks(measured: &Measured, first: &[Setting], second: &[Setting]) -> [Figure; 2] {
    let [boards, instant] = BOTH_NETWORKS;
    [(boards, (|setting| setting) as fn(Setting) -> Setting), (instant, Setting::instant)].map(
        |(title, change)| {
            let row = |setting: &Setting| {
                let changed = change(*setting);
                let row = measured.response(changed).row(setting.mode.in_network(setting.network), "ms");
                row.at(hops(setting)).on(changed.platform())
            };
            Figure { title, across: Some("hops"), rows: first.iter().chain(second).map(row).collect() }
        },
    )
}

/// That a response takes longer in the second network than in the first.
fn slower_in_second(figures: &[Figure], mode: SecurityMode) -> Claim {
    let of = |title| {
        let series = |network| Series::new(title, mode.in_network(network));
        Statement::Below(series(Network::One), series(Network::Two))
    };
    let text = format!(
        "Over as many hops a response takes less in network 1 than in network 2, {}, 64 bytes (section 6.6)",
        mode.phrase()
    );
    let [boards, instant] = BOTH_NETWORKS;
    Claim::stated(text, of(boards), figures).without(COPIES, &of(instant), figures)
}

fn by_size(
    context: &Context<'_>,
    paper: &Paper,
    network: Network,
    section: &str,
    axes: &str,
) -> Result<Findings, Error> {
    let axes = paper.table(axes)?;
    let to = |target| {
        let of_mode = |mode| SIZES.map(|bytes| Setting::new(network, mode, bytes, target));
        MODES.into_iter().flat_map(of_mode).collect::<Vec<_>>()
    };
    let settings = network.targets().map(to);
    let measured = Measured::new(context, &with_instant(&settings.concat()))?;
    let bytes = |setting: &Setting| setting.bytes.into();
    let mut shown = Vec::new();
    for ((titles, settings), axis) in BY_SIZE.into_iter().zip(&settings).zip(AXES_BY_SIZE) {
        shown.extend(figures(&measured, titles, "datagram, bytes", settings, bytes, end(axes, axis)));
    }
    let claims = claims_by_size(network, section, &shown);
    Ok(Findings { figures: shown, claims })
}

fn claims_by_size(network: Network, section: &str, shown: &[Figure]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (titles, target) in BY_SIZE.into_iter().zip(network.targets()) {
        let at = format!("over {} hops (section {section})", target.hops);
        claims.push(claim(shown, titles, format!("AH is faster than ESP, {at}"), |of| {
            Statement::Below(of(AH), of(ESP))
        }));
        let text = format!(
            "AH is only slightly more efficient: ESP takes less than {NEGLIGIBLE} % more, over {} hops (section 6.6)",
            target.hops
        );
        claims.push(claim(shown, titles, text, |of| Statement::HardlyMore(of(ESP), of(AH), NEGLIGIBLE)));
        let text = format!("Without IPsec is faster than both AH and ESP, {at}");
        claims.push(claim(shown, titles, text, |of| Statement::Least(of(WITHOUT), [AH, ESP].map(of).into())));
    }
    for (titles, axis) in BY_SIZE.into_iter().zip(AXES_BY_SIZE) {
        claims.push(within_axis(shown, titles, axis, section));
    }
    claims
}

fn inside(
    context: &Context<'_>,
    paper: &Paper,
    network: Network,
    section: &str,
    axis: &str,
) -> Result<Findings, Error> {
    let end = end(paper.table(axis)?, "16 bytes");
    let settings: Vec<_> = all_hops(network, SMALL).into_iter().map(Setting::by_bridge).collect();
    let measured = Measured::new(context, &with_instant(&settings))?;
    let figures: Vec<_> = figures(&measured, INSIDE, "hops", &settings, hops, end).into();
    let mut claims = vec![within_axis(&figures, INSIDE, "16 bytes", section)];
    for mode in [AH, ESP] {
        let label = mode.label;
        claims.push(claim(
            &figures,
            INSIDE,
            format!("The overhead of {label} is constant over one hop and several (section {section})"),
            |of| Statement::SameAdded(of(mode), of(WITHOUT), Tolerance::Time),
        ));
        claims.push(claim(
            &figures,
            INSIDE,
            format!("The overhead of {label} is negligible, less than {NEGLIGIBLE} % (section {section})"),
            |of| Statement::HardlyMore(of(mode), of(WITHOUT), NEGLIGIBLE),
        ));
    }
    Ok(Findings { figures, claims })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_faster_without_ipsec_is_faster_than_with_either_header() {
        let claims = claims_by_size(Network::One, "6.3.4", &[]);
        for [boards, _] in BY_SIZE {
            let of = |mode: SecurityMode| Series::new(boards, mode.label);
            let statement = Statement::Least(of(WITHOUT), vec![of(AH), of(ESP)]);
            assert!(claims.iter().any(|claim| claim.statement == statement), "{boards}");
        }
    }

    #[test]
    fn a_response_beyond_the_end_of_the_axis_is_noticed() {
        let [title, _] = AT_SMALL;
        let row = |label: &str, value| Row::new(label, value, "ms", Provenance::Estimate).at(1.0);
        let of = |slowest| {
            let rows =
                vec![row("AH", 80.0), row("ESP", slowest), row("without IPsec", 70.0), row(END, 100.0)];
            within_axis(&[Figure { title, across: Some("hops"), rows }], AT_SMALL, "", "").verdict
        };
        assert_eq!([of(99.0), of(101.0)], [crate::Verdict::Holds, crate::Verdict::DoesNotHold]);
    }

    #[test]
    fn each_axis_ends_where_the_thesis_has_it() {
        let paper = Paper::parse(super::super::PAPER).unwrap();
        for (axes, of) in [
            ("figure-33-axes", &["16 bytes", "64 bytes"][..]),
            ("figure-34-axes", &AXES_BY_SIZE),
            ("figure-35-axis", &["16 bytes"]),
            ("figure-39-axes", &AXES_BY_SIZE),
            ("figure-40-axes", &["16 bytes", "64 bytes"]),
            ("figure-41-axis", &["16 bytes"]),
        ] {
            assert!(of.iter().all(|of| end(paper.table(axes).unwrap(), of).is_some()), "{axes}");
        }
    }
}
