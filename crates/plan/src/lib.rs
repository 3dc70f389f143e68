//! Which way of protecting a network suits it. A network file is a scenario with a table `[plan]`, which says what is demanded
//! ([`Demands`]). Every [`Choice`] that meets the demands of security is simulated by the code that goes into devices, over the same
//! seeds, and one falls only where another is at least as good in every [`Objective`], with 95 % confidence.

mod candidate;
mod choice;
mod comparison;
mod condition;
mod demands;
mod footprint;
mod front;
mod limits;
mod network;
mod objective;
mod plan;
mod protection;
mod screening;

pub use candidate::{Candidate, Verdict};
pub use choice::{Choice, Modes};
pub use comparison::Comparison;
pub use condition::Condition;
pub use demands::{Demands, FarEnd};
pub use footprint::Footprint;
pub use limits::Limits;
pub use network::Network;
pub use objective::{OBJECTIVES, Objective};
pub use plan::{Plan, Progress, plan};
pub use protection::{Forger, Protection, Reader};
pub use screening::{Change, Outcome, Screening, Shift};
