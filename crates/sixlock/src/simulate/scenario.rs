//! The scenario that is simulated.

use std::path::Path;

use sixlock_sim::{Scenario, ScenarioBuilder, ScenarioError, Setting};

use crate::args::Sim;

/// The scenario in `path`, with `settings` and what the arguments change.
pub(super) fn load(args: &Sim, path: &Path, settings: &[Setting]) -> Result<Scenario, ScenarioError> {
    let mut builder = ScenarioBuilder::load_with(path, settings)?;
    if let Some(security) = args.security {
        builder = builder.security(security);
    }
    if let Some(nodes) = args.nodes {
        builder = builder.nodes(nodes);
    }
    if let Some(duration) = args.duration {
        builder = builder.duration(duration);
    }
    if let Some(seed) = args.seed {
        builder = builder.seed(seed);
    }
    if let Some(compression) = args.compression {
        builder = builder.compression(compression.choice());
    }
    builder.build()
}
