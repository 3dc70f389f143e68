//! Figure 27: a packet with ESP behind the header of RPL.

use super::network::ESP;
use crate::experiment::{Experiment, Method};

pub(in super::super) const EXPERIMENT: Experiment = Experiment {
    name: "thesis-fig27",
    paper: super::PAPER,
    at: "figure 27 (section 6.2)",
    shows: "the headers of packets with ESP that RPL carries, captured from network 1",
    method: Method::Run(|_, paper| super::capture::capture(paper, ESP, "figure-27")),
};
