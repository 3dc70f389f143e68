//! What an experiment has shown.

use serde::{Serialize, Serializer};

use crate::claim::Claim;
use crate::figure::Figure;

/// What an experiment has shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// The version of this format.
    pub schema: u32,
    /// The experiment's name.
    pub experiment: &'static str,
    /// The paper, and what of it is reproduced.
    pub source: String,
    /// Whether it could be reproduced.
    pub reproduced: bool,
    /// If not, why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
    /// Its values.
    #[serde(rename = "rows", serialize_with = "flat")]
    pub figures: Vec<Figure>,
    /// The claims.
    pub claims: Vec<Claim>,
}

fn flat<S: Serializer>(figures: &[Figure], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(figures.iter().flat_map(|figure| &figure.rows))
}
