//! Figure 12: response time by the size of the datagram, with integrity.

use crate::experiment::{Experiment, Method};

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "raza2012-fig12",
    paper: super::PAPER,
    at: "figure 12 (section 6.6.1)",
    shows: "response time by the size of the datagram, with integrity",
    method: Method::Run(|context, paper| super::INTEGRITY.by_size(context, paper)),
};
