//! What would change the answer: one condition at a time is made much less and much more, and where that changes something, values in
//! between tell from where on.

use sixlock_sim::ScenarioError;

use crate::candidate::Verdict;
use crate::choice::Choice;
use crate::comparison::Comparison;
use crate::condition::Condition;
use crate::limits::{Deadline, Limits};
use crate::network::Network;
use crate::objective::OBJECTIVES;

/// What another value of a condition does to the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Screening {
    /// The condition.
    pub condition: Condition,
    /// Its value in the network's file.
    pub base: f64,
    /// The value that was tried.
    pub value: f64,
    /// What came of that.
    pub outcome: Outcome,
}

/// What came of another value.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// These things change; nothing, if there are none.
    Changes(Vec<Shift>),
    /// There is no such network; why not, in a sentence.
    Impossible(String),
    /// The time did not allow to tell.
    Open,
}

/// A change, and between which values of the condition it comes.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// The change.
    pub change: Change,
    /// The last value without it, from the network's own on, and the first with it.
    pub between: [f64; 2],
}

/// What changes. Options are told by their place.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// This option does not do any more what is demanded; what, in a sentence.
    FallsShort(usize, String),
    /// This option does what is demanded now.
    Suffices(usize),
    /// The first option is now at least as good as the second in every objective, with 95 % confidence, and better in one.
    Dominates(usize, usize),
    /// The first option is surely better than the second in this objective, by its place, and was surely worse.
    Overtakes(usize, usize, usize),
}

impl Change {
    /// Whether it is the same change, for whatever reason.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::FallsShort(one, _), Self::FallsShort(other, _)) => one == other,
            // By whichever other option.
            (Self::Dominates(_, one), Self::Dominates(_, other)) => one == other,
            _ => self == other,
        }
    }
}

/// How many steps lie between the network's value and the one tried.
const STEPS: u32 = 4;

/// Screens the conditions of `network` for those options of `found` that remain, or if there are none, those that fall short; and calls
/// `done` before each value with how many there are.
///
/// # Errors
/// When a run fails.
pub(crate) fn screen(
    network: &Network,
    found: &Comparison,
    limits: &Limits,
    deadline: Deadline,
    done: impl Fn(Condition, u32, u32),
) -> Result<Vec<Screening>, ScenarioError> {
    let with = |is_wanted: fn(&Verdict) -> bool| {
        let all = found.candidates.iter().enumerate();
        all.filter(|(_, candidate)| is_wanted(&candidate.verdict)).map(|(index, _)| index).collect::<Vec<_>>()
    };
    let mut options = with(|verdict| *verdict == Verdict::Remains);
    if options.is_empty() {
        options = with(|verdict| matches!(verdict, Verdict::FallsShort(_)));
    }
    // Where all are struck, nothing else would be simulated either.
    if options.is_empty() {
        return Ok(Vec::new());
    }
    let field = Field { network, found, options, limits, deadline };
    let mut screenings = Vec::new();
    let conditions = network.demands().conditions.as_deref().unwrap_or(&Condition::ALL);
    let values: Vec<_> = conditions
        .iter()
        .filter_map(|&condition| Some((condition, network.values(condition)?)))
        .flat_map(|(condition, (base, extremes))| extremes.map(|value| (condition, base, value)))
        .filter(|(_, base, value)| value != base)
        .collect();
    // Each value first, and then from where on: what the time does not allow is how near to the network's own a change comes.
    for &(condition, base, value) in &values {
        done(condition, screenings.len() as u32, values.len() as u32);
        let outcome = match field.has_a_say(condition) {
            true => field.tried(condition, base, value)?,
            false => Outcome::Changes(Vec::new()),
        };
        screenings.push(Screening { condition, base, value, outcome });
    }
    for screening in &mut screenings {
        if let Outcome::Changes(shifts) = &mut screening.outcome {
            field.approach(screening.condition, screening.base, screening.value, shifts)?;
        }
    }
    Ok(screenings)
}

/// The options that are screened, and what they are compared with.
struct Field<'a> {
    network: &'a Network,
    found: &'a Comparison,
    /// Their places.
    options: Vec<usize>,
    limits: &'a Limits,
    deadline: Deadline,
}

impl Field<'_> {
    /// Whether a condition can change something for one of the options.
    fn has_a_say(&self, condition: Condition) -> bool {
        let has_sessions = |&index: &usize| self.found.candidates[index].choice.security.transport.is_some();
        condition != Condition::Handshakes || self.options.iter().any(has_sessions)
    }

    /// What `value` changes.
    fn tried(&self, condition: Condition, base: f64, value: f64) -> Result<Outcome, ScenarioError> {
        let shift = |change| Shift { change, between: [base, value] };
        Ok(match self.changes(condition, value)? {
            Point::Changes(changes) => Outcome::Changes(changes.into_iter().map(shift).collect()),
            Point::Impossible(why) => Outcome::Impossible(why),
            Point::Open => Outcome::Open,
        })
    }

    /// Goes from the value that was tried towards the network's own, as long as one of `shifts` is still there and the time allows: the
    /// first point without a change is the one before it comes.
    fn approach(
        &self,
        condition: Condition,
        base: f64,
        value: f64,
        shifts: &mut [Shift],
    ) -> Result<(), ScenarioError> {
        let at = |step: u32| base + (value - base) * f64::from(step) / f64::from(STEPS);
        let mut still: Vec<_> = shifts.iter_mut().collect();
        for step in (1..STEPS).rev() {
            if still.is_empty() {
                break;
            }
            let Point::Changes(here) = self.changes(condition, at(step))? else { break };
            for shift in &mut still {
                match here.iter().find(|change| change.is(&shift.change)) {
                    // What it comes to at this value, and not farther away.
                    Some(same) => {
                        shift.change = same.clone();
                        shift.between[1] = at(step);
                    }
                    None => shift.between[0] = at(step),
                }
            }
            still.retain(|shift| shift.between[1] == at(step));
        }
        Ok(())
    }

    /// What changes with this value.
    fn changes(&self, condition: Condition, value: f64) -> Result<Point, ScenarioError> {
        // What the battery holds changes nothing but how long it lasts.
        if condition == Condition::Battery {
            let of = |&index: &usize| self.found.candidates[index].with_capacity((1000.0 * value) as u64);
            let candidates = self.options.iter().map(of).collect();
            return Ok(Point::Changes(
                self.compare(&Comparison { candidates, duration: self.found.duration }),
            ));
        }
        let choices: Vec<Choice> =
            self.options.iter().map(|&index| self.found.candidates[index].choice.clone()).collect();
        let mut other =
            match Comparison::new(self.network, choices, &[condition.setting(value)?], self.limits) {
                Ok(other) => other,
                Err(error) => return Ok(Point::Impossible(error.message)),
            };
        if let Some(Verdict::Struck(why)) =
            other.candidates.iter().map(|candidate| &candidate.verdict).find(is_struck)
        {
            return Ok(Point::Impossible(why.clone()));
        }
        // No more seeds than an option has before it can fall: all have the same.
        let is_done =
            other.run(self.network.demands(), self.limits, self.limits.least_seeds, self.deadline, |_| ())?;
        Ok(if is_done { Point::Changes(self.compare(&other)) } else { Point::Open })
    }

    /// What is otherwise in `other`, whose options are those of this field in their order.
    fn compare(&self, other: &Comparison) -> Vec<Change> {
        let demands = self.network.demands();
        let mut changes = Vec::new();
        for (here, &there) in self.options.iter().enumerate() {
            let fell_short = matches!(self.found.candidates[there].verdict, Verdict::FallsShort(_));
            match (fell_short, other.candidates[here].falls_short(demands)) {
                (false, Some(why)) => changes.push(Change::FallsShort(there, why)),
                (true, None) => changes.push(Change::Suffices(there)),
                _ => {}
            }
        }
        for (here, &there) in self.options.iter().enumerate() {
            for (rival_here, &rival_there) in self.options.iter().enumerate() {
                let [this, rival] = [here, rival_here].map(|index| &other.candidates[index]);
                let is_out = |change: &Change| matches!(change, Change::Dominates(_, out) if *out == there);
                // One other is enough.
                if here != rival_here && rival.makes_superfluous(this) && !changes.iter().any(is_out) {
                    changes.push(Change::Dominates(rival_there, there));
                }
                for objective in 0..OBJECTIVES.len() {
                    let is_better = other.is_surely_better(here, rival_here, objective);
                    if is_better && self.found.is_surely_better(rival_there, there, objective) {
                        changes.push(Change::Overtakes(there, rival_there, objective));
                    }
                }
            }
        }
        changes
    }
}

/// What is found at one value.
enum Point {
    Changes(Vec<Change>),
    Impossible(String),
    Open,
}

fn is_struck(verdict: &&Verdict) -> bool {
    matches!(verdict, Verdict::Struck(_))
}
