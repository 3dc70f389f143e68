//! A plan for programs.

use serde_json::{Map, Value, json};
use sixlock_plan::{Candidate, Network, OBJECTIVES, Plan};

use super::words::verdict;

/// The version of the format.
const SCHEMA: u32 = 1;

/// The whole plan.
pub(super) fn document(network: &Network, plan: &Plan) -> Value {
    json!({
        "schema": SCHEMA,
        "network": network.name(),
        "simulated_s": plan.duration.as_secs(),
        "first_seed": plan.limits.first_seed,
        "options": plan.candidates.iter().map(|candidate| option(plan, candidate)).collect::<Vec<_>>(),
    })
}

fn option(plan: &Plan, candidate: &Candidate) -> Value {
    let (name, why) = verdict(plan, &candidate.verdict);
    let values = OBJECTIVES.iter().enumerate().filter_map(|(index, objective)| {
        let (mean, interval) = candidate.estimate(index)?;
        let [low, high] = interval.map_or([None; 2], |interval| interval.map(Some));
        Some((objective.column.to_owned(), json!({ "mean": mean, "low": low, "high": high })))
    });
    json!({
        "security": candidate.choice.security.to_string(),
        "listen": candidate.choice.listen,
        "verdict": name,
        "why": why,
        "seeds": candidate.seeds(),
        "protection": candidate.protection,
        "values": values.collect::<Map<_, _>>(),
    })
}
