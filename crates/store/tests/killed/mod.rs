//! A store that is killed while it is posted to.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Runs the ignored test `posts_until_it_is_killed` of this program with these variables, in a process that is killed after it has said so many
/// times that a post is stored, with its number. `acknowledged` are from before; returns how many are by then.
pub(crate) fn post_and_kill(
    variables: impl IntoIterator<Item = (&'static str, String)>,
    mut acknowledged: i64,
    mut posts: i64,
) -> i64 {
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["posts_until_it_is_killed", "--exact", "--ignored", "--nocapture"])
        .envs(variables)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // It goes on while this is read: what it does when it is killed is left to chance.
    for line in BufReader::new(process.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let Some(number) = line.strip_prefix("stored ") else { continue };
        assert_eq!(number.parse(), Ok(acknowledged));
        acknowledged += 1;
        posts -= 1;
        if posts == 0 {
            process.kill().unwrap();
        }
    }
    assert!(posts <= 0 && !process.wait().unwrap().success(), "it ended by itself");
    acknowledged
}
