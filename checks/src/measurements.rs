//! Measurements in documents: a block of code whose first line is `$ ./bench …`, then what that printed. Below it stands when and on what it
//! was measured, in a paragraph that begins with [`MEASURED`].

use std::ops::Range;

/// How the paragraph begins that says when and on what was measured.
pub const MEASURED: &str = "Measured on ";

/// A measurement in a document.
#[derive(Debug, PartialEq, Eq)]
pub struct Measurement {
    /// The command, without the `$`.
    pub command: String,
    /// The lines that it printed, counted from 0.
    pub output: Range<usize>,
    /// The line that says when and on what it was measured; `None` if there is none.
    pub measured: Option<usize>,
}

/// The measurements in a document, in their order.
pub fn measurements(document: &str) -> Vec<Measurement> {
    let lines: Vec<&str> = document.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(command) = line.strip_prefix("$ ").filter(|command| command.starts_with("./bench")) else {
            continue;
        };
        if at == 0 || lines[at - 1] != "```" {
            continue;
        }
        let rest = &lines[at + 1..];
        let Some(length) = rest.iter().position(|line| *line == "```") else { continue };
        let output = at + 1..at + 1 + length;
        let below = output.end + 2;
        let is_measured = lines.get(below).is_some_and(|line| line.starts_with(MEASURED));
        found.push(Measurement {
            command: command.to_owned(),
            output,
            measured: is_measured.then_some(below),
        });
    }
    found
}

/// The document with what one of its measurements printed now, and the sentence that says when and on what.
pub fn replaced(document: &str, measurement: &Measurement, output: &str, measured: &str) -> String {
    let mut lines: Vec<&str> = document.lines().collect();
    match measurement.measured {
        Some(line) => lines[line] = measured,
        None => {
            let below = measurement.output.end + 1;
            lines.splice(below..below, ["", measured]);
        }
    }
    lines.splice(measurement.output.clone(), output.lines());
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# A\n\n```\n$ ./bench a --b\n1\n2\n```\n\nMeasured on a day.\n\n```\n$ ./run\n3\n```\n\n```\n$ ./bench c\n4\n```\nMore.\n";

    #[test]
    fn a_measurement_is_a_command_of_bench_with_what_it_printed() {
        let found = measurements(DOCUMENT);
        let expected = [
            Measurement { command: "./bench a --b".into(), output: 4..6, measured: Some(8) },
            Measurement { command: "./bench c".into(), output: 17..18, measured: None },
        ];
        assert_eq!(found, expected);
        assert_eq!(measurements("```console\n$ ./bench a\n```\n"), []);
    }

    #[test]
    fn what_is_printed_takes_the_place_of_what_was() {
        let found = measurements(DOCUMENT);
        let first = replaced(DOCUMENT, &found[0], "5\n6\n7\n", "Measured on another.");
        assert_eq!(first, DOCUMENT.replace("1\n2\n", "5\n6\n7\n").replace("on a day", "on another"));
        let second = replaced(DOCUMENT, &found[1], "8\n", "Measured on another.");
        assert_eq!(second, DOCUMENT.replace("4\n```\n", "8\n```\n\nMeasured on another.\n"));
    }
}
