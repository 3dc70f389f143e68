//! What an experiment is.

use core::any::Any;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use crate::claim::Claim;
use crate::error::Error;
use crate::evaluation::Evaluation;
use crate::figure::Figure;
use crate::published::{Paper, Unchecked};
use crate::relative_error;
use crate::setup::Parameters;

/// What this project is to reach.
pub(crate) const OWN: &str = include_str!("../../../published/sixlock.toml");
/// What others have measured, outside of the papers.
pub(crate) const MEASUREMENTS: &str = include_str!("../../../published/measurements.toml");
/// What the IETF prints of security protocols.
pub(crate) const COMPARISON: &str = include_str!("../../../published/comparison.toml");

/// Runs that several experiments look at, so that each is made once.
#[derive(Default)]
pub struct KeptRuns(Mutex<HashMap<String, Arc<dyn Any + Send + Sync>>>);

impl KeptRuns {
    /// What the run of this name has shown, which is made now if it was not before.
    pub(crate) fn get<T: Any + Send + Sync>(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<T, Error>,
    ) -> Result<Arc<T>, Error> {
        // Whoever panicked has entered a run or none.
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().get(name).cloned();
        if let Some(run) = known.and_then(|run| run.downcast().ok()) {
            return Ok(run);
        }
        // Others look for their runs meanwhile.
        let run = Arc::new(make()?);
        kept().insert(name.into(), Arc::clone(&run) as Arc<dyn Any + Send + Sync>);
        Ok(run)
    }
}

/// What a run is told, and tells.
pub struct Context<'a> {
    /// How many runs, each with a seed of its own, an experiment makes where chance has a say.
    pub runs: u32,
    /// How many it makes at most where the paper went on until its results were as certain as it says.
    pub most_runs: u32,
    /// The commit that the program was built from.
    pub commit: &'a str,
    /// Runs that were made for an experiment before.
    pub kept: &'a KeptRuns,
    /// Is told, as the run goes on, which part of it is done: from 0 to 1.
    pub progress: &'a (dyn Fn(f64) + Sync),
}

impl Context<'_> {
    /// What `run` makes of each of `settings`, in their order, several at a time. It tells how many of them are done.
    pub(crate) fn each<S: Sync, R: Send>(
        &self,
        settings: &[S],
        run: impl Fn(&S) -> Result<R, Error> + Sync,
    ) -> Result<Vec<R>, Error> {
        let done = AtomicUsize::new(0);
        let each = settings.par_iter().map(|setting| {
            let found = run(setting);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.progress)(done as f64 / settings.len() as f64);
            found
        });
        each.collect()
    }
}

/// What a run has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Values.
    pub figures: Vec<Figure>,
    /// Claims of the paper, checked.
    pub claims: Vec<Claim>,
}

/// What makes an experiment.
pub type Run = fn(&Context<'_>, &Paper) -> Result<Findings, Error>;

/// How much of an experiment is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All that the paper has.
    Made,
    /// Some of it.
    Part,
}

impl State {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::Part => "part",
        }
    }
}

/// How an experiment is made.
#[derive(Debug)]
pub enum Method {
    /// By this function.
    Run(Run),
    /// By this function, but for these parts of it, each with the reason.
    Part(Run, &'static [&'static str]),
}

/// An experiment of a paper.
#[derive(Debug)]
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// The paper: a file of `published/`.
    pub paper: &'static str,
    /// What of the paper it is: a figure or a table.
    pub at: &'static str,
    /// What it shows, in a sentence.
    pub shows: &'static str,
    /// How it is made.
    pub method: Method,
}

impl Experiment {
    /// How much of it is made.
    pub const fn state(&self) -> State {
        match self.method {
            Method::Run(_) => State::Made,
            Method::Part(..) => State::Part,
        }
    }

    /// What of it is not made, each with the reason.
    pub const fn missing(&self) -> &'static [&'static str] {
        match self.method {
            Method::Part(_, missing) => missing,
            Method::Run(_) => &[],
        }
    }

    /// Whether it is of none of the five papers, but this project's own.
    pub fn is_own(&self) -> bool {
        [OWN, MEASUREMENTS, COMPARISON].contains(&self.paper)
    }

    /// What the paper says of it that is not checked, each with the reason.
    ///
    /// # Errors
    /// When the file of the paper is not what it is to be.
    pub fn unchecked(&self) -> Result<Vec<Unchecked>, Error> {
        Ok(self.unchecked_of(Paper::parse(self.paper)?.unchecked))
    }

    fn unchecked_of(&self, all: Vec<Unchecked>) -> Vec<Unchecked> {
        all.into_iter().filter(|unchecked| unchecked.experiment == self.name).collect()
    }

    /// Makes it.
    ///
    /// # Errors
    /// When the run fails.
    pub fn run(&self, context: &Context<'_>) -> Result<Evaluation, Error> {
        let paper = Paper::parse(self.paper)?;
        let (runs, Findings { figures, claims }) = self.run_until_certain(context, &paper)?;
        let parameters = Parameters::of(self.name, runs, context.commit)?;
        (context.progress)(1.0);
        Ok(Evaluation {
            schema: 1,
            experiment: self.name,
            source: format!("{}, {}", paper.title, self.at),
            paper: paper.title,
            relative_error: paper.relative_error,
            at: self.at,
            shows: self.shows,
            missing: self.missing(),
            is_own: self.is_own(),
            reproduced: true,
            parameters,
            figures,
            claims,
            unchecked: self.unchecked_of(paper.unchecked),
        })
    }

    /// Makes it with twice as many runs again and again, until all values are as certain as the paper's, if that says how certain those are,
    /// or more runs are not allowed. How many there were, and what they have found.
    fn run_until_certain(&self, context: &Context<'_>, paper: &Paper) -> Result<(u32, Findings), Error> {
        let (Method::Run(run) | Method::Part(run, _)) = self.method;
        let mut runs = context.runs;
        let mut found = run(context, paper)?;
        while !relative_error::is_within(&found.figures, paper.relative_error)
            && 2 * runs <= context.most_runs
        {
            runs *= 2;
            // What was kept is of fewer runs.
            found = run(&Context { runs, kept: &KeptRuns::default(), ..*context }, paper)?;
        }
        Ok((runs, found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::EXPERIMENTS;

    #[test]
    fn each_paper_lists_what_is_not_checked_by_an_experiment_of_its_own() {
        let mut papers: Vec<_> = EXPERIMENTS.iter().map(|experiment| experiment.paper).collect();
        papers.dedup();
        for text in papers {
            let paper = Paper::parse(text).unwrap();
            let of_paper: Vec<_> = EXPERIMENTS.iter().filter(|experiment| experiment.paper == text).collect();
            assert!(paper.unchecked.is_empty() == of_paper[0].is_own(), "{}", paper.title);
            for Unchecked { experiment, section, says, why } in &paper.unchecked {
                assert!(of_paper.iter().any(|of| of.name == experiment), "{experiment}: {says}");
                assert!([section, says, why].iter().all(|part| !part.trim().is_empty()), "{says}");
                assert!(!why.ends_with('.') && !says.ends_with('.'), "{says}");
            }
            let listed = of_paper.iter().map(|of| of.unchecked().unwrap().len()).sum::<usize>();
            assert_eq!(listed, paper.unchecked.len());
        }
    }

    #[test]
    fn a_run_is_made_once_and_one_that_fails_is_made_again() {
        let kept = KeptRuns::default();
        let failed = kept.get::<u32>("a", || Err(Error("no".into())));
        assert_eq!(failed, Err(Error("no".into())));
        assert_eq!(*kept.get("a", || Ok(1)).unwrap(), 1);
        assert_eq!(*kept.get("a", || Ok(2)).unwrap(), 1);
        assert_eq!(*kept.get("b", || Ok(3)).unwrap(), 3);
    }
}
