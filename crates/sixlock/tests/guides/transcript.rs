//! What a guide shows: commands, each with what it prints.

use std::ops::Range;

/// Stands for text that differs from run to run: within a line for the rest of a word or more, alone for any number of lines.
const ELLIPSIS: &str = "…";

/// One command of a guide.
pub(crate) struct Step {
    /// The command, of several lines if one ends with `\` or begins a here-document.
    pub(crate) command: String,
    /// What it prints.
    pub(crate) output: Vec<String>,
    /// Which lines of the guide show that, counted from 0.
    pub(crate) lines: Range<usize>,
}

impl Step {
    /// Whether the command goes on while later ones run.
    pub(crate) fn is_in_background(&self) -> bool {
        self.command.trim_end().ends_with('&')
    }

    /// Whether `printed` is what the guide shows.
    pub(crate) fn matches(&self, printed: &str) -> bool {
        let shown: Vec<_> = self.output.iter().map(|line| line.trim_end()).collect();
        let printed: Vec<_> = printed.lines().map(str::trim_end).collect();
        lines_match(&shown, &printed)
    }
}

/// The commands in the `console` blocks of a guide, in their order.
pub(crate) fn steps(guide: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = guide.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        if line != "```console" {
            continue;
        }
        let first = steps.len();
        while let Some((number, line)) = lines.next().filter(|(_, line)| *line != "```") {
            if let Some(command) = line.strip_prefix("$ ") {
                let mut command = command.to_owned();
                let mut last = number;
                let end = here_document(&command);
                while command.ends_with('\\') || end.is_some_and(|end| !ends_with_line(&command, end)) {
                    let (number, line) = lines.next().expect("a command ends within its guide");
                    last = number;
                    command.push('\n');
                    command.push_str(line);
                }
                steps.push(Step { command, output: Vec::new(), lines: last + 1..last + 1 });
            } else {
                let is_new = steps.len() == first;
                assert!(!is_new, "line {} of a block of commands belongs to none", number + 1);
                let step = steps.last_mut().expect("there is one");
                step.output.push(line.to_owned());
                step.lines.end = number + 1;
            }
        }
    }
    steps
}

/// What ends the here-document that a command begins.
fn here_document(command: &str) -> Option<&'static str> {
    command.contains("<<'END'").then_some("END")
}

fn ends_with_line(text: &str, end: &str) -> bool {
    text.lines().skip(1).last() == Some(end)
}

fn lines_match(shown: &[&str], printed: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        [ELLIPSIS] => true,
        [ELLIPSIS, rest @ ..] => (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..])),
        [line, rest @ ..] => {
            printed.first().is_some_and(|first| line_matches(line, first)) && lines_match(rest, &printed[1..])
        }
    }
}

fn line_matches(shown: &str, printed: &str) -> bool {
    let Some((first, shown)) = shown.split_once(ELLIPSIS) else { return shown == printed };
    let Some(mut printed) = printed.strip_prefix(first) else { return false };
    let (middle, last) = shown.rsplit_once(ELLIPSIS).unwrap_or(("", shown));
    for part in middle.split(ELLIPSIS) {
        let Some((_, after)) = printed.split_once(part) else { return false };
        printed = after;
    }
    printed.ends_with(last)
}

#[test]
fn a_guide_is_commands_and_what_they_print() {
    let guide = "text\n```console\n$ one \\\n  two\na\nb\n$ cat <<'END'\nx\nEND\nx\n```\n```\n$ not run\n```\n```console\n$ three &\n```\n";
    let steps = steps(guide);
    let commands: Vec<_> = steps.iter().map(|step| step.command.as_str()).collect();
    assert_eq!(commands, ["one \\\n  two", "cat <<'END'\nx\nEND", "three &"]);
    assert_eq!((steps[0].output.join(","), steps[0].lines.clone()), ("a,b".to_owned(), 4..6));
    assert_eq!((steps[1].output.join(","), steps[1].lines.clone()), ("x".to_owned(), 9..10));
    assert_eq!((steps[2].output.len(), steps[2].lines.clone()), (0, 16..16));
    assert!(steps[2].is_in_background() && !steps[0].is_in_background());
}

#[test]
fn an_ellipsis_stands_for_what_differs_and_for_nothing_else() {
    for (shown, printed, expected) in [
        ("a", "a", true),
        ("a", "b", false),
        ("a", "a\nb", false),
        ("port=… up", "port=8080 up", true),
        ("port=… up", "port=8080 down", false),
        ("a…b…c", "a1b2c", true),
        ("a…b…c", "a1c", false),
        ("…\nlast", "x\ny\nlast", true),
        ("first\n…", "first", true),
        ("first\n…\nlast", "first\nx", false),
        ("", "", true),
        ("", "x", false),
    ] {
        let output = shown.lines().map(str::to_owned).collect();
        let step = Step { command: String::new(), output, lines: 0..0 };
        assert_eq!(step.matches(printed), expected, "{shown:?} and {printed:?}");
    }
}
