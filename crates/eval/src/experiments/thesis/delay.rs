//! Figures 33 to 35 and 39 to 41: response times.

use super::network::{AH, COPIES, ESP, MODES, Measured, Network, SIZES, SecurityMode, Setting, WITHOUT};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::Figure;
use crate::published::Paper;
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
    method: Method::Run(|context, paper| by_hops(context, paper, Network::One, "6.3.4", "figure-33")),
    paper: super::PAPER,
};
pub(in super::super) const FIGURE_34: Experiment = Experiment {
    name: "thesis-fig34",
    at: "figure 34 (section 6.3.4)",
    shows: "response time by the host's clock on network 1, by size, over one, three and six hops",
    method: Method::Run(|context, _| by_size(context, Network::One, "6.3.4")),
    paper: super::PAPER,
};
pub(in super::super) const FIGURE_35: Experiment = Experiment {
    name: "thesis-fig35",
    at: "figure 35 (section 6.3.4)",
    shows: "response time by the bridge's clock on network 1, by hops, 16 bytes",
    method: Method::Run(|context, _| inside(context, Network::One, "6.3.4")),
    paper: super::PAPER,
};
pub(in super::super) const FIGURE_39: Experiment = Experiment {
    name: "thesis-fig39",
    at: "figure 39 (section 6.4.3)",
    shows: "response time by the host's clock on network 2, by size, of sensors 1, 6 and 13",
    method: Method::Run(|context, _| by_size(context, Network::Two, "6.4.3")),
    paper: super::PAPER,
};
pub(in super::super) const FIGURE_40: Experiment = Experiment {
    name: "thesis-fig40",
    at: "figure 40 (section 6.4.3)",
    shows: "response time by the host's clock on network 2, by hops, 16 and 64 bytes",
    method: Method::Run(|context, paper| by_hops(context, paper, Network::Two, "6.4.3", "figure-40")),
    paper: super::PAPER,
};
pub(in super::super) const FIGURE_41: Experiment = Experiment {
    name: "thesis-fig41",
    at: "figure 41 (section 6.4.3)",
    shows: "response time by the bridge's clock on network 2, by hops, 16 bytes",
    method: Method::Run(|context, _| inside(context, Network::Two, "6.4.3")),
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

/// Settings and, behind them, the same with processors that take no time.
fn with_instant(settings: &[Setting]) -> Vec<Setting> {
    let instant = settings.iter().map(|setting| setting.instant());
    settings.iter().copied().chain(instant).collect()
}

/// The figures of these settings, on the Tmote Sky and with processors that take no time.
fn figures(
    measured: &Measured,
    titles: Titles,
    across: &'static str,
    settings: &[Setting],
    x: fn(&Setting) -> f64,
) -> [Figure; 2] {
    let [boards, instant] = titles;
    let figure = |title, change: fn(Setting) -> Setting| {
        let row = |setting: &Setting| {
            let changed = change(*setting);
            let row = measured.response(changed).row(setting.mode.label, "ms");
            row.at(x(setting)).of_echo(changed.echo()).on(changed.platform())
        };
        Figure { title, across: Some(across), rows: settings.iter().map(row).collect() }
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
    published: &str,
) -> Result<Findings, Error> {
    const WITH: &str = "the response with ESP";
    const MORE: &str = "what ESP adds";
    const INSTANT: &str = ", if processors took no time";
    let [small, large] = [SMALL, LARGE].map(|bytes| all_hops(network, bytes));
    let measured = Measured::new(context, &with_instant(&[&small[..], &large].concat()))?;
    let table = paper.table(published)?;
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
    for (titles, settings) in [(AT_SMALL, &small), (AT_LARGE, &large)] {
        shown.extend(figures(&measured, titles, "hops", settings, hops));
    }
    shown.push(Figure { title: ADDED, across: None, rows });
    let mut claims = Vec::new();
    for (titles, bytes) in [(AT_SMALL, SMALL), (AT_LARGE, LARGE)] {
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

fn by_size(context: &Context<'_>, network: Network, section: &str) -> Result<Findings, Error> {
    let to = |target| {
        let of_mode = |mode| SIZES.map(|bytes| Setting::new(network, mode, bytes, target));
        MODES.into_iter().flat_map(of_mode).collect::<Vec<_>>()
    };
    let settings = network.targets().map(to);
    let measured = Measured::new(context, &with_instant(&settings.concat()))?;
    let bytes = |setting: &Setting| setting.bytes.into();
    let mut shown = Vec::new();
    for (titles, settings) in BY_SIZE.into_iter().zip(&settings) {
        shown.extend(figures(&measured, titles, "datagram, bytes", settings, bytes));
    }
    let mut claims = Vec::new();
    for (titles, target) in BY_SIZE.into_iter().zip(network.targets()) {
        let at = format!("over {} hops (section {section})", target.hops);
        for (text, less, more) in
            [("AH is faster than ESP", AH, ESP), ("without IPsec is faster than AH", WITHOUT, AH)]
        {
            claims.push(claim(&shown, titles, format!("{text}, {at}"), |of| {
                Statement::Below(of(less), of(more))
            }));
        }
    }
    Ok(Findings { figures: shown, claims })
}

fn inside(context: &Context<'_>, network: Network, section: &str) -> Result<Findings, Error> {
    let settings: Vec<_> = all_hops(network, SMALL).into_iter().map(Setting::by_bridge).collect();
    let measured = Measured::new(context, &with_instant(&settings))?;
    let figures: Vec<_> = figures(&measured, INSIDE, "hops", &settings, hops).into();
    let mut claims = Vec::new();
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
