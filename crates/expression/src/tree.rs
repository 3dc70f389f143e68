//! The syntax tree of an expression.

use crate::window::Window;

/// An operation. Inputs are counted from 0.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Number(f64),
    /// The value of the latest point.
    Latest(usize),
    Negative(Box<Node>),
    Not(Box<Node>),
    Binary(Operator, Box<(Node, Node)>),
    /// A function of one or two numbers.
    Function(Function, Vec<Node>),
    /// One value of several numbers, of those that there are.
    OfNumbers(Aggregate, Vec<Node>),
    /// One value of the points in a window over each of these inputs.
    OfPoints(Aggregate, Vec<usize>, Window),
    /// The second if the first is not 0, and else the third.
    If(Box<(Node, Node, Node)>),
    /// The first that has a value.
    Coalesce(Vec<Node>),
    /// How many seconds old the latest point is.
    Age(usize),
    /// How much the value changed in a window.
    Delta(usize, Window),
    /// How much it changed each second.
    Rate(usize, Window),
    /// 0.3 of what is smoothed so far and 0.7 of the next value, beginning with the first point of a window.
    Smooth(usize, Window),
    /// How hard a device that measures its acceleration in three directions is moved, from 0 to 100.
    Intensity(Box<(Node, Node, Node)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Abs,
    Ceil,
    Exp,
    Floor,
    Ln,
    Log10,
    Pow,
    Round,
    Sqrt,
}

impl Function {
    /// How many numbers it is of.
    pub(crate) const fn arity(self) -> usize {
        match self {
            Self::Pow => 2,
            _ => 1,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aggregate {
    Count,
    Max,
    Mean,
    Median,
    Min,
    Sum,
}

impl Node {
    /// Adds to `windows`, of each input, those over it.
    pub(crate) fn windows(&self, windows: &mut [Vec<Window>]) {
        match self {
            Self::Number(_) => {}
            Self::Latest(input) | Self::Age(input) => add(windows, *input, Window::Points(1)),
            Self::Negative(node) | Self::Not(node) => node.windows(windows),
            Self::Binary(_, nodes) => {
                nodes.0.windows(windows);
                nodes.1.windows(windows);
            }
            Self::If(nodes) | Self::Intensity(nodes) => {
                [&nodes.0, &nodes.1, &nodes.2].into_iter().for_each(|node| node.windows(windows));
            }
            Self::Function(_, nodes) | Self::OfNumbers(_, nodes) | Self::Coalesce(nodes) => {
                nodes.iter().for_each(|node| node.windows(windows));
            }
            Self::OfPoints(_, inputs, window) => {
                inputs.iter().for_each(|input| add(windows, *input, *window));
            }
            Self::Delta(input, window) | Self::Rate(input, window) | Self::Smooth(input, window) => {
                add(windows, *input, *window);
            }
        }
    }
}

fn add(windows: &mut [Vec<Window>], input: usize, window: Window) {
    if !windows[input].contains(&window) {
        windows[input].push(window);
    }
}
