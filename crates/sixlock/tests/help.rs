//! What the command says of itself: first steps, completions of shells and manual pages.

use std::process::{Command, Output};

fn sixlock(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sixlock")).args(args).output().unwrap()
}

#[test]
fn without_arguments_it_says_what_to_do_first_and_fails_as_a_usage_error() {
    let output = sixlock(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    let commands = said.lines().filter_map(|line| line.trim_start().strip_prefix("sixlock "));
    let commands: Vec<_> = commands.map(|rest| rest.split(' ').next().unwrap()).collect();
    assert_eq!(commands, ["up", "sim", "plan", "cloud", "help"], "{said}");
    for command in commands.into_iter().filter(|command| *command != "help") {
        let output = sixlock(&["help", command]);
        assert!(output.status.success(), "sixlock {command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
