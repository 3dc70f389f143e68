//! Tables 5 to 10: how many of 100 datagrams are lost.

use super::network::{AH, ESP, MODES, Measured, Network, SIZES, SecurityMode, Setting, WITHOUT};
use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::{Context, Experiment, Findings, Method};
use crate::figure::Figure;
use crate::published::Paper;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

const fn experiment(
    name: &'static str,
    at: &'static str,
    shows: &'static str,
    run: fn(&Context<'_>, &Paper) -> Result<Findings, Error>,
) -> Experiment {
    Experiment { name, at, shows, method: Method::Run(run), paper: super::PAPER }
}

pub(in super::super) const TABLE_5: Experiment = experiment(
    "thesis-table5",
    "table 5 (section 6.3.5)",
    "datagrams lost of 100 on network 1 over one hop",
    |context, paper| lost(context, paper, Network::One, 0, "table-5"),
);
pub(in super::super) const TABLE_6: Experiment = experiment(
    "thesis-table6",
    "table 6 (section 6.3.5)",
    "datagrams lost of 100 on network 1 over three hops",
    |context, paper| lost(context, paper, Network::One, 1, "table-6"),
);
pub(in super::super) const TABLE_7: Experiment = experiment(
    "thesis-table7",
    "table 7 (section 6.3.5)",
    "datagrams lost of 100 on network 1 over six hops",
    |context, paper| lost(context, paper, Network::One, 2, "table-7"),
);
pub(in super::super) const TABLE_8: Experiment = experiment(
    "thesis-table8",
    "table 8 (section 6.4.4)",
    "datagrams lost of 100 to sensor 1 of network 2",
    |context, paper| lost(context, paper, Network::Two, 0, "table-8"),
);
pub(in super::super) const TABLE_9: Experiment = experiment(
    "thesis-table9",
    "table 9 (section 6.4.4)",
    "datagrams lost of 100 to sensor 6 of network 2",
    |context, paper| lost(context, paper, Network::Two, 1, "table-9"),
);
pub(in super::super) const TABLE_10: Experiment = experiment(
    "thesis-table10",
    "table 10 (section 6.4.4)",
    "datagrams lost of 100 to sensor 13 of network 2",
    |context, paper| lost(context, paper, Network::Two, 2, "table-10"),
);

const TITLE: &str = "Datagrams lost of 100";

/// What a claim says that the run loses less, or nothing.
pub(super) const LOSSES: &str = "what the thesis loses its own code loses, such as with ESP, in each network and over all hops, 8 of 100 datagrams of 32 bytes: here the same frames go over the same links, on which none is lost but by collisions and sleep";

/// That as many are lost as the paper has at each size, and some wherever the paper has some: by chance alone, none of 100 may be as good as 5.
pub(super) fn as_many(series: Series, figures: &[Figure]) -> Statement {
    let has_some = series.rows(figures).any(|row| row.published.is_some_and(|lost| lost > 0.0));
    let mut all = vec![Statement::Published(series.clone(), Tolerance::Loss)];
    all.extend(has_some.then_some(Statement::SomeWherePublished(series)));
    Statement::All(all)
}

fn lost(
    context: &Context<'_>,
    paper: &Paper,
    network: Network,
    target: usize,
    published: &str,
) -> Result<Findings, Error> {
    let target = network.targets()[target];
    let of = |mode, bytes| Setting::new(network, mode, bytes, target);
    let settings: Vec<_> = MODES.into_iter().flat_map(|mode| SIZES.map(|bytes| of(mode, bytes))).collect();
    let measured = Measured::new(context, &settings)?;
    let table = paper.table(published)?;
    let row = |setting: &Setting| {
        let (label, x) = (setting.mode.label, f64::from(setting.bytes));
        measured.lost(*setting).row(label, "of 100").at(x).beside(table.at(label, x))
    };
    let figures = vec![Figure {
        title: TITLE,
        across: Some("datagram, bytes"),
        rows: settings.iter().map(row).collect(),
    }];
    let claim = |mode: SecurityMode| {
        Claim::stated(
            format!(
                "So many datagrams are lost {} as the table has, and some where it has some (section {})",
                mode.phrase(),
                table.section
            ),
            as_many(Series::new(TITLE, mode.label), &figures),
            &figures,
        )
        .perhaps(LOSSES)
    };
    let mut claims: Vec<_> = [WITHOUT, AH, ESP].map(claim).into();
    claims.extend(none_without(&figures, &table.section));
    Ok(Findings { figures, claims })
}

/// That no datagram is lost without IPsec, where the table has it so.
fn none_without(figures: &[Figure], section: &str) -> Option<Claim> {
    let series = Series::new(TITLE, WITHOUT.label);
    let has_none = series.rows(figures).all(|row| row.published == Some(0.0));
    let text = format!("Without IPsec no datagram is lost (section {section})");
    let claim = || Claim::stated(text, Statement::NoneOf(series), figures);
    has_none.then(claim).map(|claim| claim.perhaps("frames collide by chance, and may find nobody awake"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::figure::{Provenance, Row};
    use crate::published::{Published, Read};

    #[test]
    fn that_nothing_is_lost_is_said_only_where_the_table_has_none_and_a_loss_is_noticed() {
        let verdict = |published, lost| {
            let row = Row::new(WITHOUT.label, lost, "of 100", Provenance::Estimate).at(8.0);
            let row = row.beside(Some(Published { value: published, read: Read::Printed }));
            let figures = [Figure { title: TITLE, across: None, rows: vec![row] }];
            none_without(&figures, "6.3.5").map(|claim| claim.verdict)
        };
        assert_eq!(verdict(0.0, 0.0), Some(Verdict::Holds));
        assert_eq!(verdict(0.0, 1.0), Some(Verdict::DoesNotHold));
        assert_eq!(verdict(1.0, 0.0), None);
    }

    #[test]
    fn of_32_bytes_8_are_always_lost_with_esp_and_not_with_ah() {
        let paper = Paper::parse(super::super::PAPER).unwrap();
        let lost = |mode: SecurityMode, table: u32| {
            paper.table(&format!("table-{table}")).unwrap().at(mode.label, 32.0).unwrap().value
        };
        assert!((5..=10).all(|table| lost(ESP, table) == 8.0));
        assert!((5..=10).all(|table| lost(AH, table) != 8.0));
        assert!(LOSSES.contains("with ESP") && !LOSSES.contains("AH"));
    }
}
