//! Table 4 and figure 29: two implementations of AES, over one hop.

use super::loss::{LOSSES, as_many};
use super::network::{AH, COPIES, ESP, Measured, Network, SIZES, SecurityMode, Setting};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::{Figure, Provenance, Row};
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;
use crate::wording::{MUCH, NEGLIGIBLE};

pub(in super::super) const TABLE_4: Experiment = Experiment {
    name: "thesis-table4",
    at: "table 4 (section 6.3.2)",
    shows: "datagrams lost of 100 on network 1 over one hop, by both of the thesis' implementations of AES",
    method: Method::Run(lost),
    paper: super::PAPER,
};
pub(in super::super) const FIGURE_29: Experiment = Experiment {
    name: "thesis-fig29",
    at: "figure 29 (section 6.3.2)",
    shows: "response time by the host's clock on network 1 over one hop, by size, by both of the thesis' implementations of AES",
    method: Method::Run(response),
    paper: super::PAPER,
};

const LOST: &str = "Datagrams lost of 100";
const RESPONSE: &str = "Response time by the host's clock, one hop";
const INSTANT: &str = "Response time by the host's clock, one hop, if processors took no time";
/// The sizes at which the text says that the one, and that the other is faster with AH.
const ENDS: &str = "Response time by the host's clock, one hop, 8 and 64 bytes";
const MIDDLE: &str = "Response time by the host's clock, one hop, 16 and 32 bytes";
const LOWER_OF_AH: &str = "AH, lower end of the axis";
const UPPER_OF_AH: &str = "AH, upper end of the axis";
const UPPER_OF_ESP: &str = "ESP, upper end of the axis";
const ACROSS: Option<&str> = Some("datagram, bytes");

/// An implementation of AES: what the thesis calls it, and ours that stands beside it.
#[derive(Clone, Copy)]
enum Aes {
    /// With the keys of all rounds in RAM, and a table of columns.
    Miracl,
    /// With the key of each round made when it is needed, in little RAM.
    Ti,
}

impl Aes {
    const BOTH: [Self; 2] = [Self::Miracl, Self::Ti];

    const fn name(self) -> &'static str {
        match self {
            Self::Miracl => "MIRACL",
            Self::Ti => "TI",
        }
    }
}

fn label(mode: SecurityMode, aes: Aes) -> String {
    format!("{}, {}", mode.label, aes.name())
}

/// Datagrams of this size to the first node.
fn setting(mode: SecurityMode, aes: Aes, bytes: u16) -> Setting {
    let [nearest, ..] = Network::One.targets();
    let setting = Setting::new(Network::One, mode, bytes, nearest);
    match aes {
        Aes::Miracl => setting.with_tables(),
        Aes::Ti => setting,
    }
}

/// Each line of the table and the figure, at each size.
fn all() -> impl Iterator<Item = (SecurityMode, Aes, u16)> {
    let of_mode = |mode| Aes::BOTH.into_iter().flat_map(move |aes| SIZES.map(|bytes| (mode, aes, bytes)));
    [AH, ESP].into_iter().flat_map(of_mode)
}

fn measured(context: &Context<'_>) -> Result<Measured, Error> {
    let settings: Vec<_> = all().map(|(mode, aes, bytes)| setting(mode, aes, bytes)).collect();
    Measured::new(context, &settings)
}

fn lost(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let measured = measured(context)?;
    let table = paper.table("table-4")?;
    let row = |(mode, aes, bytes)| {
        let (label, x) = (label(mode, aes), f64::from(bytes));
        let published = table.at(&label, x);
        let setting = setting(mode, aes, bytes);
        measured.lost(setting).row(label, "of 100").at(x).beside(published).on(setting.platform())
    };
    let figures = vec![Figure { title: LOST, across: ACROSS, rows: all().map(row).collect() }];
    let of = |mode, aes| Series::new(LOST, label(mode, aes));
    let mut claims = Vec::new();
    for mode in [AH, ESP] {
        for aes in Aes::BOTH {
            let text = format!(
                "So many datagrams are lost with {} by the AES of {} as the table has, and some where it has some (section {})",
                mode.label,
                aes.name(),
                table.section
            );
            let claim = Claim::stated(text, as_many(of(mode, aes), &figures), &figures);
            claims.push(claim.perhaps(LOSSES));
        }
    }
    for (mode, text) in [
        (
            ESP,
            "Both implementations lose the same number of datagrams with ESP, and some where the table has some (section 6.3.2)",
        ),
        (
            AH,
            "What one implementation loses more than the other with AH is negligible, and both lose some where the table has some (section 6.3.2)",
        ),
    ] {
        let same = Statement::All(vec![
            Statement::Same(of(mode, Aes::Miracl), of(mode, Aes::Ti), Tolerance::Loss),
            Statement::SomeWherePublished(of(mode, Aes::Miracl)),
            Statement::SomeWherePublished(of(mode, Aes::Ti)),
        ]);
        claims.push(Claim::stated(text, same, &figures).perhaps(LOSSES));
    }
    Ok(Findings { figures, claims })
}

fn response(context: &Context<'_>, paper: &Paper) -> Result<Findings, Error> {
    let instant = |mode, bytes| setting(mode, Aes::Ti, bytes).instant();
    let modes = || [AH, ESP].into_iter().flat_map(|mode| SIZES.map(|bytes| (mode, bytes)));
    let settings = all().map(|(mode, aes, bytes)| setting(mode, aes, bytes));
    let settings: Vec<_> = settings.chain(modes().map(|(mode, bytes)| instant(mode, bytes))).collect();
    let measured = Measured::new(context, &settings)?;
    let table = paper.table("figure-29")?;
    let row = |(mode, aes, bytes)| {
        let setting = setting(mode, aes, bytes);
        let row = measured.response(setting).row(label(mode, aes), "ms").at(f64::from(bytes));
        row.on(setting.platform())
    };
    let end = |name: &'static str| {
        let at = table.get(name).map_or(f64::NAN, |published| published.value);
        SIZES.map(|bytes| Row::new(name, at, "ms", Provenance::Published).at(f64::from(bytes)))
    };
    let axes = || [LOWER_OF_AH, UPPER_OF_AH, UPPER_OF_ESP].into_iter().flat_map(end);
    let rows = all().map(row).chain(axes()).collect();
    let instant = |(mode, bytes): (SecurityMode, u16)| {
        let setting = instant(mode, bytes);
        measured.response(setting).row(mode.label, "ms").at(f64::from(bytes)).on(setting.platform())
    };
    let instant = modes().map(instant).chain(axes()).collect();
    let figure = |title, sizes: [u16; 2]| {
        let of_ah = all().filter(|(mode, _, bytes)| *mode == AH && sizes.contains(bytes));
        Figure { title, across: ACROSS, rows: of_ah.map(row).collect() }
    };
    let figures = vec![
        Figure { title: RESPONSE, across: ACROSS, rows },
        Figure { title: INSTANT, across: ACROSS, rows: instant },
        figure(ENDS, [8, 64]),
        figure(MIDDLE, [16, 32]),
    ];
    let of = |figure, mode, aes| Series::new(figure, label(mode, aes));
    let both = |mode| Aes::BOTH.map(|aes| of(RESPONSE, mode, aes)).into();
    let alone = |mode: SecurityMode| vec![Series::new(INSTANT, mode.label)];
    let claim = |text: &str, statement| Claim::stated(text, statement, &figures);
    const CHANCE: &str = "a frame goes out when its receiver wakes up: the millisecond or two that an AES takes less mostly pass in the wait for that, and otherwise which copy of a frame is heard changes by chance";
    let claims = vec![
        claim(
            "With ESP the AES of MIRACL is faster than that of TI for all sizes (section 6.3.2)",
            Statement::Below(of(RESPONSE, ESP, Aes::Miracl), of(RESPONSE, ESP, Aes::Ti)),
        )
        .perhaps(CHANCE),
        claim(
            &format!("With ESP it is so only slightly: that of TI takes less than {NEGLIGIBLE} % more (section 6.3.2)"),
            Statement::HardlyMore(of(RESPONSE, ESP, Aes::Ti), of(RESPONSE, ESP, Aes::Miracl), NEGLIGIBLE),
        )
        .perhaps(CHANCE),
        claim(
            &format!("With AH the AES of MIRACL is much faster than that of TI for 16 and 32 bytes: it takes less than {MUCH} % (section 6.3.2)"),
            Statement::FarBelow(of(MIDDLE, AH, Aes::Miracl), of(MIDDLE, AH, Aes::Ti), MUCH),
        )
        .perhaps(CHANCE),
        claim(
            "With AH the AES of TI is faster than that of MIRACL for 8 and 64 bytes (section 6.3.2)",
            Statement::Below(of(ENDS, AH, Aes::Ti), of(ENDS, AH, Aes::Miracl)),
        )
        .perhaps(CHANCE),
        claim(
            &format!("With AH it is so only slightly for 8 and 64 bytes: that of MIRACL takes less than {NEGLIGIBLE} % more (section 6.3.2)"),
            Statement::HardlyMore(of(ENDS, AH, Aes::Miracl), of(ENDS, AH, Aes::Ti), NEGLIGIBLE),
        )
        .perhaps(CHANCE),
        claim(
            "With AH each response takes what the figure's axis has room for, from its lower end to its upper (figure 29a)",
            within_axis(RESPONSE, both(AH)),
        )
        .without(COPIES, &within_axis(INSTANT, alone(AH)), &figures),
        claim(
            "With ESP no response takes more than the figure's axis ends at (figure 29b)",
            Statement::Most(Series::new(RESPONSE, UPPER_OF_ESP), both(ESP)),
        )
        .without(COPIES, &Statement::Most(Series::new(INSTANT, UPPER_OF_ESP), alone(ESP)), &figures),
    ];
    Ok(Findings { figures, claims })
}

/// That each of these responses with AH is within the axis of the thesis' figure.
fn within_axis(figure: &'static str, responses: Vec<Series>) -> Statement {
    let end = |label| Series::new(figure, label);
    Statement::All(vec![
        Statement::Least(end(LOWER_OF_AH), responses.clone()),
        Statement::Most(end(UPPER_OF_AH), responses),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn an_axis_has_two_ends_and_one_is_not_enough() {
        let verdict = |value| {
            let row = |label: &str, value| Row::new(label, value, "ms", Provenance::Estimate).at(8.0);
            let rows = vec![row(LOWER_OF_AH, 120.0), row(UPPER_OF_AH, 165.0), row("AH, TI", value)];
            let figures = [Figure { title: RESPONSE, across: ACROSS, rows }];
            within_axis(RESPONSE, vec![Series::new(RESPONSE, "AH, TI")]).verdict(&figures)
        };
        assert_eq!(
            [100.0, 140.0, 300.0].map(verdict),
            [Verdict::DoesNotHold, Verdict::Holds, Verdict::DoesNotHold]
        );
    }
}
