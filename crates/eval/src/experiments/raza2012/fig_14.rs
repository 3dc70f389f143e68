//! Figure 14: response time by the size of the datagram, with integrity and confidentiality.

use crate::experiment::{Experiment, Method};

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "raza2012-fig14",
    paper: super::PAPER,
    at: "figure 14 (section 6.6.2)",
    shows: "response time by the size of the datagram, with integrity and confidentiality",
    method: Method::Run(|context, paper| super::BOTH.by_size(context, paper)),
};
