//! What a computed stream is: an expression over the points of other streams. It is a function of the expression, these points and a
//! time alone, whatever the order in which the points arrived.
//!
//! An expression has no loops, and its windows are written out in it. So what it costs, which points it needs and which computed points
//! another point changes are known when it is saved.

mod error;
mod evaluate;
mod limits;
mod names;
mod parse;
mod point;
mod reach;
mod token;
mod tree;
mod window;
mod zone;

use error::refuse;
use tree::Node;
use window::Window;

pub use error::ExpressionError;
pub use evaluate::Evaluated;
pub use limits::{
    DEEPEST, LONGEST_SOURCE, LONGEST_SPAN_MS, MOST_INPUTS, MOST_OPERATIONS, MOST_WINDOWS, POINTS_PER_WINDOW,
};
pub use names::is_input_name;
pub use point::Point;
pub use reach::{Need, Reach};
pub use zone::Zone;

/// An expression, ready to be evaluated.
#[derive(Clone, Debug)]
pub struct Expression {
    root: Node,
    zone: Zone,
    /// Which windows there are over each input.
    windows: Vec<Vec<Window>>,
}

impl Expression {
    /// Reads the expression `source`, whose inputs have these names. Days are those of `time_zone`: `UTC`, a difference from it such as
    /// `+02:00`, or the name of a zone such as `Europe/Stockholm`.
    pub fn new<S: AsRef<str>>(source: &str, inputs: &[S], time_zone: &str) -> Result<Self, ExpressionError> {
        names::check(inputs)?;
        let zone = Zone::new(time_zone)?;
        let root = parse::parse(source, inputs)?;
        let mut windows = vec![Vec::new(); inputs.len()];
        root.windows(&mut windows);
        if let Some(unused) = windows.iter().position(Vec::is_empty) {
            return Err(refuse(format!("the expression does not use the input {}", inputs[unused].as_ref())));
        }
        Ok(Self { root, zone, windows })
    }
}
