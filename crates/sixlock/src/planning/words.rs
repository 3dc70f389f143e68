//! What a plan is told in.

use std::path::Path;

use sixlock_plan::{Candidate, Plan, Verdict};

/// What a verdict is called, and why it is so.
pub(super) fn verdict(plan: &Plan, verdict: &Verdict) -> (&'static str, String) {
    match verdict {
        Verdict::Struck(why) => ("struck", why.clone()),
        Verdict::FallsShort(why) => ("falls short", why.clone()),
        Verdict::Dominated(by) => {
            let by =
                plan.candidates.get(*by).map(|candidate| candidate.choice.to_string()).unwrap_or_default();
            ("dominated", format!("{by} is at least as good in all, and better in something."))
        }
        Verdict::Remains => ("remains", String::new()),
        Verdict::Open => ("open", "The time did not allow to tell: --full takes as long as it needs.".into()),
    }
}

/// The command that repeats the runs of an option.
pub(super) fn again(file: &Path, plan: &Plan, candidate: &Candidate) -> String {
    let listen = candidate.choice.listen.iter().map(|listen| format!(" --vary mac.listen={listen}"));
    format!(
        "sixlock sim {} --security {}{} --duration {}s --seed {} --runs {}",
        file.display(),
        candidate.choice.security,
        listen.collect::<String>(),
        plan.duration.micros() / 1_000_000,
        plan.limits.first_seed,
        candidate.seeds(),
    )
}
