//! A plan for programs.

use serde_json::{Map, Value, json};
use sixlock_plan::{Candidate, Network, OBJECTIVES, Outcome, Plan, Screening};

use super::words::{COMMIT, better, changes, is_comparison, pairs, verdict};

/// The version of the format.
const SCHEMA: u32 = 1;

/// The whole plan.
pub(super) fn document(network: &Network, plan: &Plan) -> Value {
    let mut document = json!({
        "schema": SCHEMA,
        "network": network.name(),
        "simulated_s": plan.comparison.duration.as_secs(),
        "first_seed": plan.limits.first_seed,
        "commit": COMMIT,
        "options": plan.comparison.candidates.iter().enumerate().map(|option_of| option(network, plan, option_of)).collect::<Vec<_>>(),
        "conditions": plan.screenings.iter().map(|screening| condition(plan, screening)).collect::<Vec<_>>(),
    });
    if is_comparison(plan) {
        document["differences"] = pairs(plan).map(|pair| difference(plan, pair)).collect();
    }
    document
}

/// How much more the second of two options has than the first.
fn difference(plan: &Plan, (first, second): (usize, usize)) -> Value {
    let [one, other] = [first, second].map(|index| &plan.comparison.candidates[index].choice);
    let values = OBJECTIVES.iter().enumerate().filter_map(|(index, objective)| {
        let (mean, [low, high]) = plan.comparison.difference(second, first, index)?;
        let says = better(mean, [low, high], objective.is_gain);
        let value = json!({ "mean": mean, "low": low, "high": high, "says": says });
        Some((objective.quantity.column.to_owned(), value))
    });
    json!({
        "security": other.security.to_string(),
        "than": one.security.to_string(),
        "listen": one.listen,
        "values": values.collect::<Map<_, _>>(),
    })
}

/// What another value of a condition changes.
fn condition(plan: &Plan, screening: &Screening) -> Value {
    let outcome = match &screening.outcome {
        Outcome::Changes(_) => "tried",
        Outcome::Impossible(_) => "impossible",
        Outcome::Open => "open",
    };
    let spell = |value| screening.condition.spell(value).to_string();
    json!({
        "key": screening.condition.key(),
        "base": spell(screening.base),
        "value": spell(screening.value),
        "outcome": outcome,
        "says": changes(plan, screening),
    })
}

fn option(network: &Network, plan: &Plan, (index, candidate): (usize, &Candidate)) -> Value {
    let (name, why) = verdict(network, plan, index, candidate);
    let values = OBJECTIVES.iter().enumerate().filter_map(|(index, objective)| {
        let estimate = candidate.estimate(index);
        let (mean, [low, high]) =
            (estimate.mean()?, estimate.interval().map_or([None; 2], |ends| ends.map(Some)));
        Some((objective.quantity.column.to_owned(), json!({ "mean": mean, "low": low, "high": high })))
    });
    json!({
        "security": candidate.choice.security.to_string(),
        "listen": candidate.choice.listen,
        "verdict": name,
        "why": why,
        "seeds": candidate.seeds(),
        "protection": candidate.protection,
        "footprint": candidate.footprint,
        "values": values.collect::<Map<_, _>>(),
    })
}
