//! What the source files of a floor may not contain.

use std::fs;
use std::path::{Path, PathBuf};

use crate::floors::{DETERMINISTIC_FLOORS, DEVICE_FLOORS};

/// A word that may not stand in the sources up to a floor.
struct Forbidden {
    word: &'static str,
    up_to: usize,
    why: &'static str,
}

const FORBIDDEN: &[Forbidden] = &[
    Forbidden { word: "f32", up_to: DEVICE_FLOORS, why: "devices have no floating point" },
    Forbidden { word: "f64", up_to: DEVICE_FLOORS, why: "devices have no floating point" },
    Forbidden { word: "dyn", up_to: DEVICE_FLOORS, why: "what is linked is chosen by type parameters" },
    Forbidden { word: "async", up_to: DEVICE_FLOORS, why: "machines are driven by their verbs" },
    Forbidden { word: "HashMap", up_to: DETERMINISTIC_FLOORS, why: "its order is not the same in every run" },
    Forbidden { word: "HashSet", up_to: DETERMINISTIC_FLOORS, why: "its order is not the same in every run" },
    Forbidden { word: "SystemTime", up_to: DETERMINISTIC_FLOORS, why: "time is handed in" },
    Forbidden { word: "thread_rng", up_to: DETERMINISTIC_FLOORS, why: "randomness comes from the seed" },
    Forbidden { word: "println", up_to: usize::MAX, why: "it panics where nobody reads the output" },
    Forbidden { word: "eprintln", up_to: usize::MAX, why: "it panics where nobody reads the output" },
    Forbidden { word: "todo", up_to: usize::MAX, why: "what is not done is not merged" },
    Forbidden { word: "unimplemented", up_to: usize::MAX, why: "what is not done is not merged" },
];

/// What in `source`, a file on floor `floor`, may not be there: the line's number and why.
pub fn violations(source: &str, floor: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, code) in code_lines(source) {
        for forbidden in FORBIDDEN.iter().filter(|forbidden| floor <= forbidden.up_to) {
            if words(code).any(|word| word == forbidden.word) {
                found.push((line, format!("`{}`: {}", forbidden.word, forbidden.why)));
            }
        }
    }
    found
}

/// The numbers of the lines of `source` whose code names `word`.
pub fn lines_naming(source: &str, word: &str) -> Vec<usize> {
    let lines = code_lines(source);
    lines.filter(|(_, code)| words(code).any(|other| other == word)).map(|(line, _)| line).collect()
}

/// The lines of code, numbered from 1: no comment lines, and nothing of the tests at the end.
fn code_lines(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = source.lines().enumerate().take_while(|(_, line)| !line.starts_with("mod tests {"));
    lines.map(|(n, line)| (n + 1, line.split("//").next().unwrap_or_default()))
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// The Rust files below `directory` that are not tests, in the order of their names.
///
/// # Panics
///
/// When the folder cannot be read.
pub fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let is_test = |path: &Path| path.file_stem().is_some_and(|stem| stem == "tests");
    files(directory, &|path| !is_test(path))
}

/// The Rust files of the workspace in the folder `root`, tests included: all but hidden ones and those that cargo makes.
///
/// # Panics
///
/// When the folder cannot be read.
pub fn all_rust_files(root: &Path) -> Vec<PathBuf> {
    let is_made = |name: &str| name == "target" || name.starts_with('.');
    let is_made = |path: &Path| path.file_name().is_some_and(|name| name.to_str().is_some_and(is_made));
    files(root, &|path| !is_made(path))
}

/// The Rust files below `directory`, without the files and folders that `is_wanted` leaves out.
fn files(directory: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    for path in entries.map(|entry| entry.expect("a folder's entry").path()).filter(|path| is_wanted(path)) {
        if path.is_dir() {
            found.extend(files(&path, is_wanted));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_forbidden_by_floor_and_in_code_only() {
        let source =
            "// todo, f64\nlet x: f64 = 0; // dyn\nlet my_dyn = 1;\nuse std::collections::HashMap;\n";
        let lines = |floor| violations(source, floor).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
        assert_eq!(lines(0), [2, 4]);
        assert_eq!(lines(DETERMINISTIC_FLOORS), [4]);
        assert_eq!(lines(6), [0; 0]);
    }

    #[test]
    fn lines_name_whole_words_in_code() {
        assert_eq!(
            lines_naming("// benchmark\nuse tiny::{aes, benchmark};\nlet benchmarks = 1;", "benchmark"),
            [2]
        );
    }

    #[test]
    fn tests_may_use_everything() {
        assert_eq!(violations("#[cfg(test)]\nmod tests { fn f(x: &dyn Fn()) {} }", 0), []);
    }
}
