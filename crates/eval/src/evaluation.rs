//! What an experiment has shown.

use serde::{Serialize, Serializer};

use crate::claim::Claim;
use crate::figure::{Figure, Row};
use crate::published::Unchecked;
use crate::setup::Parameters;

/// What an experiment has shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// The version of this format.
    pub schema: u32,
    /// The experiment's name.
    pub experiment: &'static str,
    /// The paper, and what of it is reproduced.
    pub source: String,
    /// The paper's title, or that of who else has measured.
    #[serde(skip)]
    pub paper: String,
    /// How far the intervals of the paper's results go from their mean at most, in per cent, if it says so.
    #[serde(skip)]
    pub relative_error: Option<f64>,
    /// What of it is reproduced.
    #[serde(skip)]
    pub at: &'static str,
    /// What it shows, in a sentence.
    #[serde(skip)]
    pub shows: &'static str,
    /// What of it is not made, each with the reason.
    #[serde(skip)]
    pub missing: &'static [&'static str],
    /// Whether it is of no paper, but this project's own.
    #[serde(skip)]
    pub is_own: bool,
    /// That it was reproduced, all of it or some: a part of the format.
    pub reproduced: bool,
    /// What it was made with.
    pub parameters: Parameters,
    /// Its values.
    #[serde(rename = "rows", serialize_with = "flat")]
    pub figures: Vec<Figure>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// What the paper says besides that is not checked.
    pub unchecked: Vec<Unchecked>,
}

/// A row, with where it stands.
#[derive(Serialize)]
struct Placed<'e> {
    figure: &'static str,
    x_axis: Option<&'static str>,
    x_unit: Option<&'static str>,
    #[serde(flatten)]
    row: &'e Row,
}

fn flat<S: Serializer>(figures: &[Figure], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(figures.iter().flat_map(|figure| {
        let axis = figure.axis();
        let (x_axis, x_unit) = (axis.map(|axis| axis.name), axis.and_then(|axis| axis.unit));
        figure.rows.iter().map(move |row| Placed { figure: figure.title, x_axis, x_unit, row })
    }))
}
