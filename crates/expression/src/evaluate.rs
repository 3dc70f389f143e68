//! From points to a value.

use crate::Expression;
use crate::limits::POINTS_PER_WINDOW;
use crate::point::Point;
use crate::tree::{Aggregate, Function, Node, Operator};
use crate::window::Window;
use crate::zone::Zone;

/// What an expression is at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluated {
    /// The value, which is finite; `None` if there is none, as before the first point of an input.
    pub value: Option<f64>,
    /// How many points were looked at.
    pub points: usize,
}

impl Expression {
    /// Evaluates the expression at `at`, with those points of each input that are [needed](Expression::need), or more, in
    /// [their order](Point::sort). Later points are left out.
    pub fn evaluate(&self, at: i64, inputs: &[&[Point]]) -> Evaluated {
        let until = |points: &&'_ [Point]| points.partition_point(|point| point.time <= at);
        let inputs: Vec<&[Point]> = inputs.iter().map(|points| &points[..until(points)]).collect();
        let mut evaluation = Evaluation { at, inputs, zone: &self.zone, points: 0 };
        Evaluated { value: evaluation.value(&self.root), points: evaluation.points }
    }
}

struct Evaluation<'a> {
    at: i64,
    inputs: Vec<&'a [Point]>,
    zone: &'a Zone,
    /// How many points were looked at.
    points: usize,
}

impl<'a> Evaluation<'a> {
    /// The points of a window, unless there are too many.
    fn window(&mut self, input: usize, window: Window) -> Option<&'a [Point]> {
        let points = window.of(self.inputs.get(input)?, self.at, self.zone);
        if points.len() > POINTS_PER_WINDOW {
            return None;
        }
        self.points += points.len();
        Some(points)
    }

    fn latest(&mut self, input: usize) -> Option<Point> {
        self.window(input, Window::Points(1))?.last().copied()
    }

    /// The value of `node`. What is no finite number is no value, here as at the end.
    fn value(&mut self, node: &Node) -> Option<f64> {
        self.number(node).filter(|value| value.is_finite())
    }

    fn number(&mut self, node: &Node) -> Option<f64> {
        match node {
            Node::Number(number) => Some(*number),
            Node::Latest(input) => Some(self.latest(*input)?.value),
            Node::Negative(node) => Some(-self.value(node)?),
            Node::Not(node) => Some(truth(self.value(node)? == 0.0)),
            Node::Binary(operator, nodes) => self.binary(*operator, &nodes.0, &nodes.1),
            Node::Function(function, nodes) => self.function(*function, nodes),
            Node::OfNumbers(aggregate, nodes) => {
                let mut values: Vec<f64> = nodes.iter().filter_map(|node| self.value(node)).collect();
                of(*aggregate, &mut values)
            }
            Node::OfPoints(aggregate, inputs, window) => {
                let mut values = Vec::new();
                for input in inputs {
                    values.extend(self.window(*input, *window)?.iter().map(|point| point.value));
                }
                if values.len() > POINTS_PER_WINDOW {
                    return None;
                }
                of(*aggregate, &mut values)
            }
            Node::If(nodes) => {
                let is_true = self.value(&nodes.0)? != 0.0;
                self.value(if is_true { &nodes.1 } else { &nodes.2 })
            }
            Node::Coalesce(nodes) => nodes.iter().find_map(|node| self.value(node)),
            Node::Age(input) => Some(seconds(self.at, self.latest(*input)?.time)),
            Node::Delta(input, window) => {
                let (first, last) = ends(self.window(*input, *window)?)?;
                Some(last.value - first.value)
            }
            Node::Rate(input, window) => {
                let (first, last) = ends(self.window(*input, *window)?)?;
                let passed = seconds(last.time, first.time);
                (passed > 0.0).then(|| (last.value - first.value) / passed)
            }
            Node::Smooth(input, window) => {
                let (first, rest) = self.window(*input, *window)?.split_first()?;
                Some(rest.iter().fold(first.value, |smoothed, point| 0.3 * smoothed + 0.7 * point.value))
            }
            Node::Intensity(nodes) => {
                let [x, y, z] = [self.value(&nodes.0)?, self.value(&nodes.1)?, self.value(&nodes.2)?];
                Some(intensity(x, y, z))
            }
        }
    }

    fn binary(&mut self, operator: Operator, left: &Node, right: &Node) -> Option<f64> {
        let left = self.value(left)?;
        match operator {
            Operator::And if left == 0.0 => return Some(0.0),
            Operator::Or if left != 0.0 => return Some(1.0),
            _ => {}
        }
        let right = self.value(right)?;
        Some(match operator {
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            Operator::Divide => left / right,
            Operator::Remainder => left % right,
            Operator::Less => truth(left < right),
            Operator::LessOrEqual => truth(left <= right),
            Operator::Greater => truth(left > right),
            Operator::GreaterOrEqual => truth(left >= right),
            Operator::Equal => truth(left == right),
            Operator::NotEqual => truth(left != right),
            Operator::And | Operator::Or => truth(right != 0.0),
        })
    }

    fn function(&mut self, function: Function, nodes: &[Node]) -> Option<f64> {
        let number = self.value(nodes.first()?)?;
        Some(match function {
            Function::Abs => number.abs(),
            Function::Ceil => number.ceil(),
            Function::Exp => number.exp(),
            Function::Floor => number.floor(),
            Function::Ln => number.ln(),
            Function::Log10 => number.log10(),
            Function::Pow => number.powf(self.value(nodes.get(1)?)?),
            Function::Round => number.round(),
            Function::Sqrt => number.sqrt(),
        })
    }
}

fn truth(is_true: bool) -> f64 {
    f64::from(u8::from(is_true))
}

fn seconds(later: i64, earlier: i64) -> f64 {
    later.saturating_sub(earlier) as f64 / 1_000.0
}

/// The first and the last of at least two points.
fn ends(points: &[Point]) -> Option<(Point, Point)> {
    let [first, .., last] = points else { return None };
    Some((*first, *last))
}

/// One value of several; `None` of none, but for their number. They are taken in their order, on which the last digits of a sum
/// depend.
fn of(aggregate: Aggregate, values: &mut [f64]) -> Option<f64> {
    let number = values.len() as f64;
    match aggregate {
        Aggregate::Count => Some(number),
        _ if values.is_empty() => None,
        Aggregate::Max => values.iter().copied().reduce(f64::max),
        Aggregate::Min => values.iter().copied().reduce(f64::min),
        Aggregate::Sum => Some(values.iter().sum()),
        Aggregate::Mean => Some(values.iter().sum::<f64>() / number),
        Aggregate::Median => {
            let middle = values.len() / 2;
            let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
            let upper = *upper;
            match number as usize % 2 {
                1 => Some(upper),
                _ => Some((below.iter().copied().reduce(f64::max)? + upper) / 2.0),
            }
        }
    }
}

/// How hard a device is moved: 0 at rest, where it measures gravity alone, and towards 100 the more it is accelerated.
fn intensity(x: f64, y: f64, z: f64) -> f64 {
    const GRAVITY: f64 = 10.0;
    let beyond = ((x * x + y * y + z * z).sqrt() - GRAVITY).max(0.0);
    100.0 * (1.0 - 1.0 / (1.0 + beyond / 2.0))
}
