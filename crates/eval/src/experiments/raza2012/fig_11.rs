//! Figure 11: response time over one to four hops, with integrity.

use crate::experiment::{Experiment, Method};

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "raza2012-fig11",
    paper: super::PAPER,
    at: "figure 11 (section 6.6.1)",
    shows: "response time over one to four hops, with integrity",
    method: Method::Run(|context, paper| super::INTEGRITY.by_hops(context, paper)),
};
