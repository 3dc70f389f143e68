//! De Rubertis et al. (2013): AH, ESP and DTLS at an MB851 that sends back what it gets.

pub(super) mod fig_3;
pub(super) mod fig_4;
pub(super) mod fig_5;
pub(super) mod fig_6;
pub(super) mod fig_7;
pub(super) mod handshake;
mod testbed;

use self::testbed::{PROTECTED, SIZES, SecurityMode, Taken, Testbed, WAYS};
use crate::claim::Claim;
use crate::figure::Figure;
use crate::published::Table;
use crate::sample::Sample;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;

const PAPER: &str = include_str!("../../../../../published/derubertis2013.toml");

/// What rows of a way are called where they say what it takes more in the worst case.
fn worst(way: SecurityMode) -> String {
    format!("{}, in the worst case", way.label)
}

/// What each way takes more than no security in the worst case, beside the paper's.
fn worst_of(
    testbed: &Testbed,
    title: &'static str,
    unit: &'static str,
    published: &Table,
    more: impl Fn(SecurityMode, u16) -> Option<Sample>,
) -> Figure {
    let rows = PROTECTED.map(|way| {
        let most = testbed.worst(|bytes| more(way, bytes));
        most.row(worst(way), unit).beside(published.get(way.label))
    });
    Figure { title, across: None, rows: rows.into() }
}

/// The same of the sizes with which security needs as many frames as there are without it.
fn worst_of_as_many_frames(
    testbed: &Testbed,
    title: &'static str,
    published: &Table,
    value: fn(&Taken) -> Sample,
) -> Figure {
    worst_of(testbed, title, "%", published, |way, bytes| {
        (!testbed.needs_more_frames(way, bytes)).then(|| testbed.overhead(way, bytes, value))
    })
}

/// Adds to claims of worst cases what the figure of this title says: how it is where security needs as many frames as there are without it.
fn without_more_frames(claims: [Claim; 3], title: &'static str, figures: &[Figure]) -> Vec<Claim> {
    let with_as_many = |statement: &Statement| match statement {
        Statement::Published(series, tolerance) => {
            Statement::Published(Series { figure: title, ..series.clone() }, *tolerance)
        }
        other => other.clone(),
    };
    let tried = |claim: Claim| {
        let statement = with_as_many(&claim.statement);
        claim.without("with some sizes security needs a frame more, there and back", &statement, figures)
    };
    claims.map(tried).into()
}

/// Whether that is what the paper says: for each way, `text` of its name and of the paper's value.
fn worst_claims(
    figures: &[Figure],
    title: &'static str,
    tolerance: Tolerance,
    text: impl Fn(&str, f64) -> String,
) -> [Claim; 3] {
    PROTECTED.map(|way| {
        let series = Series::new(title, worst(way));
        let text = text(way.label, series.published(figures).unwrap_or(f64::NAN));
        Claim::stated(text, Statement::Published(series, tolerance), figures)
    })
}

/// A figure of one value for each size and each way.
fn by_size(
    testbed: &Testbed,
    title: &'static str,
    unit: &'static str,
    value: fn(&Taken) -> Sample,
) -> Figure {
    let rows = WAYS.into_iter().flat_map(|way| {
        SIZES.map(|bytes| testbed.get(way, bytes, value).row(way.label, unit).at(bytes.into()))
    });
    Figure { title, across: Some("payload, bytes"), rows: rows.collect() }
}
