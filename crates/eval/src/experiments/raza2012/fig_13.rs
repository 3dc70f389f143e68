//! Figure 13: response time over one to four hops, with integrity and confidentiality.

use crate::experiment::{Experiment, Method};

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "raza2012-fig13",
    paper: super::PAPER,
    at: "figure 13 (section 6.6.2)",
    shows: "response time over one to four hops, with integrity and confidentiality",
    method: Method::Run(|context, paper| super::BOTH.by_hops(context, paper)),
};
