//! What a plan is told in.

use std::path::Path;

use sixlock_plan::{
    Candidate, Change, Footprint, Modes, Network, OBJECTIVES, Outcome, Plan, Screening, Shift, Verdict,
};

/// The commit that this program was built from.
pub(super) const COMMIT: &str = env!("SIXLOCK_COMMIT");

/// Whether options are compared that were given, whatever is demanded.
pub(super) fn is_comparison(plan: &Plan) -> bool {
    matches!(plan.limits.modes, Modes::These(_))
}

/// The places of two options that are compared, with each way of listening.
pub(super) fn pairs(plan: &Plan) -> impl Iterator<Item = (usize, usize)> {
    let candidates = &plan.comparison.candidates;
    let is_pair =
        |first: usize, second: usize| candidates[first].choice.listen == candidates[second].choice.listen;
    let all = (0..candidates.len())
        .flat_map(move |first| (first + 1..candidates.len()).map(move |second| (first, second)));
    all.filter(move |&(first, second)| is_pair(first, second))
}

/// What a difference, which is printed with two places, and its interval say.
pub(super) fn better(mean: f64, [low, high]: [f64; 2], is_gain: bool) -> &'static str {
    const LEAST: f64 = 0.005;
    match (low <= 0.0 && high >= 0.0, low > 0.0) {
        _ if low > -LEAST && high < LEAST => "no difference",
        (true, _) => "not decided",
        _ if mean.abs() < LEAST => "no difference",
        (false, is_more) if is_more == is_gain => "better",
        _ => "worse",
    }
}

/// What a verdict is called, and why it is so.
pub(super) fn verdict(
    network: &Network,
    plan: &Plan,
    index: usize,
    candidate: &Candidate,
) -> (&'static str, String) {
    match &candidate.verdict {
        Verdict::Struck(why) => ("struck", why.clone()),
        Verdict::FallsShort(why) => {
            let battery = candidate.capacity_needed(network.demands());
            let battery = battery.map(|capacity| match capacity.is_finite() {
                true => format!(" For the life demanded it takes {capacity:.0} mAh."),
                false => {
                    " No battery of this kind lasts for the life demanded: by itself it is empty before."
                        .into()
                }
            });
            ("falls short", why.clone() + &battery.unwrap_or_default())
        }
        Verdict::Dominated(by) => (
            "dominated",
            format!("{} is at least as good in all, and better in something.", option(plan, *by)),
        ),
        Verdict::Remains if is_comparison(plan) => ("compared", String::new()),
        Verdict::Remains => {
            let missed = candidate.may_miss(network.demands());
            let missed = match missed.is_empty() {
                true => None,
                false => Some(format!("It may miss what is demanded: {}.", missed.join("; "))),
            };
            let notes: Vec<_> = missed.into_iter().chain(beside_others(plan, index)).collect();
            ("remains", notes.join(" "))
        }
        Verdict::Open => ("open", "The time did not allow to tell: --full takes as long as it needs.".into()),
    }
}

/// Beside which others an option that remains is surely better in nothing.
fn beside_others(plan: &Plan, index: usize) -> Option<String> {
    let better = plan.comparison.better_all_round(index);
    if better.is_empty() {
        return None;
    }
    let better: Vec<_> = better.into_iter().map(|other| option(plan, other)).collect();
    Some(format!(
        "It is surely better in no column than {}, and surely worse in one: chance may be all that keeps it.",
        better.join(" or ")
    ))
}

/// What to say where every option was struck.
pub(super) fn nothing_simulated(plan: &Plan) -> Option<&'static str> {
    let is_struck = |candidate: &Candidate| matches!(candidate.verdict, Verdict::Struck(_));
    plan.comparison.candidates.iter().all(is_struck).then_some(
        "Every option is struck, so nothing was simulated: what is demanded cannot be had at once. Take the demand back that most of the reasons name.",
    )
}

/// What an option protects readings from.
pub(super) fn protects(candidate: &Candidate) -> String {
    let protection = &candidate.protection;
    let list = |who: Vec<String>| if who.is_empty() { "nobody".into() } else { who.join("; ") };
    let secret = list(protection.secret_from.iter().map(ToString::to_string).collect());
    let unforgeable = list(protection.unforgeable_by.iter().map(ToString::to_string).collect());
    let forward =
        if protection.forward_secrecy { "; what was recorded stays secret when keys are stolen" } else { "" };
    format!("secret from: {secret}; proof against: {unforgeable}{forward}")
}

/// What an option takes of memory, if that is known.
pub(super) fn takes(candidate: &Candidate) -> Option<String> {
    let Footprint { flash, ram, is_measured } = candidate.footprint?;
    let source = if is_measured { "measured" } else { "a sum of measured differences" };
    Some(format!("{flash} bytes of flash, {ram} of RAM ({source})"))
}

/// The command that repeats the runs of an option.
pub(super) fn again(file: &Path, network: &Network, plan: &Plan, candidate: &Candidate) -> String {
    let listen = candidate.choice.listen.iter().map(|listen| format!(" --vary mac.listen={listen}"));
    format!(
        "sixlock sim {} --security {}{} --vary traffic.begin={} --duration {}s --seed {} --runs {}",
        file.display(),
        candidate.choice.security,
        listen.collect::<String>(),
        network.begin_key(),
        plan.comparison.duration.micros() / 1_000_000,
        plan.limits.first_seed,
        candidate.seeds(),
    )
}

/// Which value of a condition was tried.
pub(super) fn tried(Screening { condition, base, value, .. }: &Screening) -> String {
    format!("{} = {} instead of {}", condition.key(), condition.spell(*value), condition.spell(*base))
}

/// What that changes, a sentence each.
pub(super) fn changes(plan: &Plan, screening: &Screening) -> Vec<String> {
    match &screening.outcome {
        Outcome::Open => {
            vec!["The time did not allow to tell: --full takes as long as it needs, and fewer `conditions` less.".into()]
        }
        Outcome::Impossible(why) => {
            vec![format!("There is no such network: {}", why.trim_end_matches('.')) + "."]
        }
        Outcome::Changes(shifts) if shifts.is_empty() => vec!["Nothing changes.".into()],
        Outcome::Changes(shifts) => shifts.iter().map(|shift| changed(plan, screening, shift)).collect(),
    }
}

fn changed(plan: &Plan, screening: &Screening, Shift { change, between }: &Shift) -> String {
    let [from, to] = between.map(|value| screening.condition.spell(value));
    let what = match change {
        Change::FallsShort(index, why) => format!("{} falls short. {why}", option(plan, *index)),
        Change::Suffices(index) => format!("{} does what is demanded.", option(plan, *index)),
        Change::Dominates(one, other) => {
            format!("{} makes {} superfluous.", option(plan, *one), option(plan, *other))
        }
        Change::Overtakes(one, other, objective) => {
            let name = OBJECTIVES.get(*objective).map_or("", |objective| objective.quantity.name);
            format!(
                "{} is better than {}, and was worse: {}.",
                option(plan, *one),
                option(plan, *other),
                name
            )
        }
    };
    format!("Between {from} and {to}: {what}")
}

/// What an option is called.
fn option(plan: &Plan, index: usize) -> String {
    plan.comparison.candidates.get(index).map(|candidate| candidate.choice.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_as_nothing_is_neither_better_nor_worse() {
        assert_eq!(better(0.0, [0.0, 0.0], true), "no difference");
        assert_eq!(better(0.003, [0.001, 0.004], true), "no difference");
        assert_eq!(better(-0.003, [-0.006, -0.001], false), "no difference");
        assert_eq!(better(0.5, [-0.1, 1.1], true), "not decided");
        assert_eq!(better(0.004, [-0.5, 0.6], true), "not decided");
        assert_eq!(better(0.5, [0.1, 0.9], true), "better");
        assert_eq!(better(0.5, [0.1, 0.9], false), "worse");
        assert_eq!(better(-0.5, [-0.9, -0.1], false), "better");
    }
}
