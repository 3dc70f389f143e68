//! From text to a syntax tree.

use crate::error::{ExpressionError, refuse, refuse_at};
use crate::limits::{DEEPEST, LONGEST_SOURCE, MOST_OPERATIONS, MOST_WINDOWS};
use crate::token::{self, Token};
use crate::tree::{Aggregate, Function, Node, Operator};
use crate::window::Window;

/// The functions that there are, for messages.
const FUNCTIONS: &str = "abs, age, ceil, coalesce, count, delta, exp, floor, if, intensity, ln, log10, max, mean, meansmooth, median, min, pow, \
     rate, round, smooth, sqrt, sum";

/// What [`smooth`](Node::Smooth) and `meansmooth` go over where nothing is said.
const SMOOTHED: Window = Window::Points(10);

/// How tightly an operator binds, and which one it is.
fn operator(sign: &str) -> Option<(u8, Operator)> {
    Some(match sign {
        "||" => (1, Operator::Or),
        "&&" => (2, Operator::And),
        "==" => (3, Operator::Equal),
        "!=" => (3, Operator::NotEqual),
        "<" => (4, Operator::Less),
        "<=" => (4, Operator::LessOrEqual),
        ">" => (4, Operator::Greater),
        ">=" => (4, Operator::GreaterOrEqual),
        "+" => (5, Operator::Add),
        "-" => (5, Operator::Subtract),
        "*" => (6, Operator::Multiply),
        "/" => (6, Operator::Divide),
        "%" => (6, Operator::Remainder),
        _ => return None,
    })
}

/// Reads `source`.
pub(crate) fn parse<S: AsRef<str>>(source: &str, inputs: &[S]) -> Result<Node, ExpressionError> {
    if source.len() > LONGEST_SOURCE {
        return Err(refuse(format!("an expression has at most {LONGEST_SOURCE} bytes")));
    }
    let tokens = token::split(source)?;
    let end = source.chars().count() + 1;
    let mut parser = Parser { tokens, next: 0, end, inputs, depth: 0, operations: 0, windows: 0 };
    let node = parser.binary(0)?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser.unexpected("an operator or the end")),
    }
}

/// What stands between the brackets of a call.
enum Argument {
    /// The name of an input, and nothing else.
    Input(usize),
    Text(String, usize),
    Node(Node),
}

struct Parser<'a, S> {
    tokens: Vec<(usize, Token)>,
    next: usize,
    /// The place behind the last character.
    end: usize,
    inputs: &'a [S],
    depth: usize,
    operations: usize,
    windows: usize,
}

impl<S: AsRef<str>> Parser<'_, S> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    fn position(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(position, _)| *position)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Sign(next)) if *next == sign);
        self.next += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), ExpressionError> {
        if self.takes(sign) { Ok(()) } else { Err(self.unexpected(sign)) }
    }

    fn unexpected(&self, expected: &str) -> ExpressionError {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(Token::Number(number)) => number.to_string(),
            Some(Token::Name(name)) => name.chars().take(40).collect(),
            Some(Token::Text(_)) => "a text".to_owned(),
            Some(Token::Sign(sign)) => (*sign).to_owned(),
        };
        refuse_at(self.position(), format!("{expected} is expected here, not {found}"))
    }

    /// Counts an operation.
    fn operation(&mut self) -> Result<(), ExpressionError> {
        self.operations += 1;
        if self.operations > MOST_OPERATIONS {
            return Err(refuse_at(
                self.position(),
                format!("an expression has at most {MOST_OPERATIONS} operations"),
            ));
        }
        Ok(())
    }

    /// Reads with `read` what stands in brackets, a call or behind a sign.
    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ExpressionError>,
    ) -> Result<T, ExpressionError> {
        if self.depth == DEEPEST {
            return Err(refuse_at(
                self.position(),
                format!("more than {DEEPEST} brackets stand in each other here"),
            ));
        }
        self.depth += 1;
        let found = read(self)?;
        self.depth -= 1;
        Ok(found)
    }

    /// Operators that bind more tightly than `bound`, and what they join.
    fn binary(&mut self, bound: u8) -> Result<Node, ExpressionError> {
        let mut left = self.unary()?;
        while let Some(Token::Sign(sign)) = self.peek()
            && let Some((binding, operator)) = operator(sign)
            && binding > bound
        {
            self.next += 1;
            self.operation()?;
            let right = self.binary(binding)?;
            left = Node::Binary(operator, Box::new((left, right)));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Node, ExpressionError> {
        self.operation()?;
        if self.takes("-") {
            return Ok(Node::Negative(Box::new(self.deeper(Self::unary)?)));
        }
        if self.takes("!") {
            return Ok(Node::Not(Box::new(self.deeper(Self::unary)?)));
        }
        if self.takes("(") {
            let node = self.deeper(|parser| parser.binary(0))?;
            self.expect(")")?;
            return Ok(node);
        }
        let position = self.position();
        match self.tokens.get(self.next).map(|(_, token)| token.clone()) {
            Some(Token::Number(number)) => {
                self.next += 1;
                Ok(Node::Number(number))
            }
            Some(Token::Name(name)) => {
                self.next += 1;
                if self.takes("(") {
                    return self.deeper(|parser| parser.call(&name, position));
                }
                self.input(&name).map(Node::Latest).ok_or_else(|| {
                    let inputs: Vec<&str> = self.inputs.iter().map(AsRef::as_ref).collect();
                    let name: String = name.chars().take(40).collect();
                    refuse_at(position, format!("there is no input {name}, but {}", inputs.join(", ")))
                })
            }
            _ => Err(self.unexpected("a number, an input or a function")),
        }
    }

    fn input(&self, name: &str) -> Option<usize> {
        self.inputs.iter().position(|input| input.as_ref() == name)
    }

    /// The arguments of a call and the bracket behind them.
    fn arguments(&mut self) -> Result<Vec<Argument>, ExpressionError> {
        let mut arguments = Vec::new();
        if self.takes(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.argument()?);
            if self.takes(")") {
                return Ok(arguments);
            }
            if !self.takes(",") {
                return Err(self.unexpected("a comma or )"));
            }
        }
    }

    fn argument(&mut self) -> Result<Argument, ExpressionError> {
        let position = self.position();
        if let Some(Token::Text(text)) = self.peek() {
            let text = Argument::Text(text.clone(), position);
            self.next += 1;
            return Ok(text);
        }
        Ok(match self.binary(0)? {
            Node::Latest(input) => Argument::Input(input),
            node => Argument::Node(node),
        })
    }

    /// A call of the function `name`, which stands at `position`.
    fn call(&mut self, name: &str, position: usize) -> Result<Node, ExpressionError> {
        let arguments = self.arguments()?;
        let call = Call { name, position, arguments };
        let node = call.node()?;
        if let Node::OfPoints(..) | Node::Delta(..) | Node::Rate(..) | Node::Smooth(..) = node {
            self.windows += 1;
        }
        if self.windows > MOST_WINDOWS {
            return Err(refuse_at(position, format!("an expression has at most {MOST_WINDOWS} windows")));
        }
        Ok(node)
    }
}

/// A call of a function.
struct Call<'a> {
    name: &'a str,
    position: usize,
    arguments: Vec<Argument>,
}

impl Call<'_> {
    fn node(self) -> Result<Node, ExpressionError> {
        let (name, position) = (self.name, self.position);
        let call = self;
        match name {
            "abs" => call.function(Function::Abs),
            "ceil" => call.function(Function::Ceil),
            "exp" => call.function(Function::Exp),
            "floor" => call.function(Function::Floor),
            "ln" => call.function(Function::Ln),
            "log10" => call.function(Function::Log10),
            "pow" => call.function(Function::Pow),
            "round" => call.function(Function::Round),
            "sqrt" => call.function(Function::Sqrt),
            "count" => call.aggregate(Aggregate::Count),
            "max" => call.aggregate(Aggregate::Max),
            "mean" => call.aggregate(Aggregate::Mean),
            "median" => call.aggregate(Aggregate::Median),
            "min" => call.aggregate(Aggregate::Min),
            "sum" => call.aggregate(Aggregate::Sum),
            "if" => {
                let three = call.three("if(condition, then, else)")?;
                Ok(Node::If(Box::new(three)))
            }
            "intensity" => {
                let three = call.three("intensity(x, y, z)")?;
                Ok(Node::Intensity(Box::new(three)))
            }
            "coalesce" => match call.numbers()? {
                nodes if nodes.is_empty() => Err(refuse_at(position, format!("{name} needs a number"))),
                nodes => Ok(Node::Coalesce(nodes)),
            },
            "age" => match call.windowed(false)? {
                (input, None) => Ok(Node::Age(input)),
                _ => Err(refuse_at(position, "age has no window: write age(input)")),
            },
            "delta" => {
                let (input, window) = call.windowed(false)?;
                Ok(Node::Delta(input, window.unwrap_or(Window::Points(2))))
            }
            "rate" => {
                let (input, window) = call.windowed(false)?;
                Ok(Node::Rate(input, window.unwrap_or(Window::Points(2))))
            }
            "smooth" => {
                let (input, window) = call.windowed(false)?;
                Ok(Node::Smooth(input, window.unwrap_or(SMOOTHED)))
            }
            "meansmooth" => {
                let (input, window) = call.windowed(true)?;
                Ok(Node::OfPoints(Aggregate::Mean, vec![input], window.unwrap_or(SMOOTHED)))
            }
            _ => {
                let name: String = name.chars().take(40).collect();
                Err(refuse_at(position, format!("there is no function {name}, but {FUNCTIONS}")))
            }
        }
    }

    fn refuse<T>(&self, why: impl Into<String>) -> Result<T, ExpressionError> {
        Err(refuse_at(self.position, why))
    }

    /// The arguments as numbers.
    fn numbers(self) -> Result<Vec<Node>, ExpressionError> {
        let name = self.name;
        let number = |argument| match argument {
            Argument::Input(input) => Ok(Node::Latest(input)),
            Argument::Node(node) => Ok(node),
            Argument::Text(_, position) => Err(refuse_at(position, format!("{name} takes no text here"))),
        };
        self.arguments.into_iter().map(number).collect()
    }

    fn function(self, function: Function) -> Result<Node, ExpressionError> {
        let (name, position) = (self.name, self.position);
        let numbers = self.numbers()?;
        if numbers.len() != function.arity() {
            let expected = if function.arity() == 1 { "one number" } else { "two numbers" };
            return Err(refuse_at(position, format!("{name} takes {expected}, not {}", numbers.len())));
        }
        Ok(Node::Function(function, numbers))
    }

    fn three(self, form: &str) -> Result<(Node, Node, Node), ExpressionError> {
        let position = self.position;
        let numbers: Result<[Node; 3], _> = self.numbers()?.try_into();
        let [first, second, third] = numbers.map_err(|_| refuse_at(position, format!("write {form}")))?;
        Ok((first, second, third))
    }

    /// Of several numbers, or with a window at the end, of the points in it.
    fn aggregate(mut self, aggregate: Aggregate) -> Result<Node, ExpressionError> {
        let name = self.name;
        if let Some(Argument::Text(..)) = self.arguments.last() {
            let Some(Argument::Text(text, position)) = self.arguments.pop() else {
                return self.refuse("the window is missing");
            };
            let window = Window::read(&text, position)?;
            let inputs: Option<Vec<usize>> = self
                .arguments
                .iter()
                .map(|argument| if let Argument::Input(input) = argument { Some(*input) } else { None })
                .collect();
            return match inputs {
                Some(mut inputs) if !inputs.is_empty() => {
                    inputs.sort_unstable();
                    inputs.dedup();
                    Ok(Node::OfPoints(aggregate, inputs, window))
                }
                _ => self.refuse(format!("before a window, {name} takes names of inputs and nothing else")),
            };
        }
        if aggregate == Aggregate::Count {
            return self.refuse("count needs a window: write count(input, \"10m\")");
        }
        if self.arguments.is_empty() {
            return self.refuse(format!("{name} needs an input or a number"));
        }
        Ok(Node::OfNumbers(aggregate, self.numbers()?))
    }

    /// An input, and the window behind it if there is one: a text or, where `counted`, also a number of points.
    fn windowed(self, counted: bool) -> Result<(usize, Option<Window>), ExpressionError> {
        let Self { name, position, arguments } = self;
        let mut arguments = arguments.into_iter();
        let form = || refuse_at(position, format!("write {name}(input) or {name}(input, window)"));
        let (Some(Argument::Input(input)), window, None) =
            (arguments.next(), arguments.next(), arguments.next())
        else {
            return Err(form());
        };
        let window = match window {
            None => None,
            Some(Argument::Text(text, position)) => Some(Window::read(&text, position)?),
            Some(Argument::Node(Node::Number(number))) if counted && number.fract() == 0.0 => {
                Some(Window::points(number as u64, position)?)
            }
            Some(_) => return Err(form()),
        };
        Ok((input, window))
    }
}
