//! What the command says of itself: first steps, completions of shells and manual pages.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output, Stdio};

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

/// The script that completes the command in a shell.
fn completions(shell: &str) -> String {
    let output = sixlock(&["completions", shell]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What bash proposes for the last of these words.
fn bash_proposes(words: &[&str]) -> BTreeSet<String> {
    let script = format!(
        "{}\nCOMP_WORDS=(sixlock \"$@\") COMP_CWORD=$#\n_sixlock sixlock \"${{@: -1}}\" \"${{COMP_WORDS[$# - 1]}}\"\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        completions("bash")
    );
    let output = Command::new("bash").args(["-uc", &script, "bash"]).args(words).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_and_values() {
    let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(bash_proposes(&["ke"]), set(&["keys"]));
    assert_eq!(bash_proposes(&["keys", "x"]), set(&["x509"]));
    assert_eq!(bash_proposes(&["cloud", "--tls-"]), set(&["--tls-cert", "--tls-key"]));
    assert_eq!(bash_proposes(&["up", "--routing", "r"]), set(&["rpl"]));
}

#[test]
fn other_shells_know_each_command() {
    let commands = bash_proposes(&[""]);
    let commands: Vec<_> = commands.iter().filter(|word| !word.starts_with('-')).collect();
    assert!(commands.len() > 10, "{commands:?}");
    for shell in ["zsh", "fish"] {
        let script = completions(shell);
        for command in &commands {
            assert!(script.contains(command.as_str()), "{shell} does not know {command}");
        }
    }
}

#[test]
fn a_shell_that_reads_no_completions_is_no_fault() {
    let command = Command::new(env!("CARGO_BIN_EXE_sixlock"))
        .args(["completions", "zsh"])
        .stdout(Stdio::piped())
        .spawn();
    let mut command = command.unwrap();
    drop(command.stdout.take());
    assert!(command.wait().unwrap().success());
}

/// The names of the commands below `command`, each with those above it, as help lists them.
fn commands(above: &str) -> Vec<String> {
    let words: Vec<_> = above.split('-').skip(1).chain(["--help"]).collect();
    let help = String::from_utf8(sixlock(&words).stdout).unwrap();
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !["", "help"].contains(name)).map(|name| format!("{above}-{name}"));
    let below = names.flat_map(|name| commands(&name));
    std::iter::once(above.to_owned()).chain(below).collect()
}

#[test]
fn each_command_has_a_manual_page_that_groff_sets_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("made/man1");
    let output = sixlock(&["man", "--out", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let commands = commands("sixlock");
    assert!(commands.contains(&"sixlock-keys-identity-add".to_owned()), "{commands:?}");
    let pages: BTreeSet<_> =
        fs::read_dir(&folder).unwrap().map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(pages, commands.iter().map(|name| format!("{name}.1")).collect());
    for page in pages {
        let output = Command::new("groff")
            .args(["-man", "-ww", "-Tutf8", "-Kutf8", "-P-cbu"])
            .arg(folder.join(&page))
            .output();
        let output = output
            .unwrap_or_else(|error| panic!("groff: {error}. Install it with: apt-get install groff-base"));
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{page}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(String::from_utf8(output.stdout).unwrap().contains("SYNOPSIS"), "{page}");
    }
}
