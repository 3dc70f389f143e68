//! What an experiment is.

use crate::error::Error;
use crate::evaluation::{Claim, Evaluation, Figure};
use crate::published::Paper;

/// What a run is told, and tells.
pub struct Context<'a> {
    /// How many runs, each with a seed of its own, an experiment makes where chance has a say.
    pub runs: u32,
    /// Is told, as the run goes on, which part of it is done: from 0 to 1.
    pub progress: &'a (dyn Fn(f64) + Sync),
}

/// What a run has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Values.
    pub figures: Vec<Figure>,
    /// Claims of the paper, checked.
    pub claims: Vec<Claim>,
}

/// How an experiment is made.
pub enum Method {
    /// By this function.
    Run(fn(&Context<'_>, &Paper) -> Result<Findings, Error>),
    /// It cannot be made yet, for this reason.
    NotYet(&'static str),
}

/// An experiment of a paper.
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
    /// Whether it can be made.
    pub const fn is_reproduced(&self) -> bool {
        matches!(self.method, Method::Run(_))
    }

    /// What it shows, or why it cannot be made yet.
    pub const fn why(&self) -> &'static str {
        match self.method {
            Method::Run(_) => self.shows,
            Method::NotYet(why) => why,
        }
    }

    /// Makes it. One that cannot be made yet has no values and no claims.
    ///
    /// # Errors
    /// When the run fails.
    pub fn run(&self, context: &Context<'_>) -> Result<Evaluation, Error> {
        let paper = Paper::parse(self.paper)?;
        let (findings, why) = match self.method {
            Method::Run(run) => (run(context, &paper)?, None),
            Method::NotYet(why) => (Findings::default(), Some(why)),
        };
        (context.progress)(1.0);
        Ok(Evaluation {
            schema: 1,
            experiment: self.name,
            source: format!("{}, {}", paper.title, self.at),
            reproduced: why.is_none(),
            why,
            figures: findings.figures,
            claims: findings.claims,
        })
    }
}
