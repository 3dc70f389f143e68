//! The experiments of the papers, made again with this code: what they printed beside what we find, and each of their
//! claims as a statement that is checked.
//!
//! [`EXPERIMENTS`] lists them. A value is computed by the run that returns it, with the code that goes into devices, or
//! from costs that were measured in emulators (`costs/`); [`Provenance`] says which. What the papers say is data in
//! `published/`.

mod claim;
mod error;
mod escape;
mod evaluation;
mod experiment;
mod experiment_name;
mod experiments;
mod figure;
mod measured;
mod plot;
mod published;
mod relative_error;
mod report;
mod sample;
mod series;
mod setup;
mod statement;
mod text;
mod tolerance;
mod verdict;
mod wording;

pub use claim::Claim;
pub use error::Error;
pub use escape::escape;
pub use evaluation::Evaluation;
pub use experiment::{Context, Experiment, Findings, KeptRuns, Method, Run, State};
pub use experiment_name::experiment_by_name;
pub use experiments::EXPERIMENTS;
pub use figure::{Axis, EchoSetting, Figure, Provenance, Row};
pub use measured::{Measurements, Mistake, has_more_typed};
pub use plot::svg;
pub use published::{Paper, Published, Read, Table, Unchecked};
pub use report::{MEASUREMENTS_FILE, ReportFile, Summary, report};
pub use series::Series;
pub use setup::Parameters;
pub use statement::Statement;
pub use text::text;
pub use tolerance::Tolerance;
pub use verdict::Verdict;
