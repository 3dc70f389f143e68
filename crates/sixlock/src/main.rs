//! The `sixlock` command.

#[macro_use]
mod standard_streams;

mod announce;
mod args;
mod cloud;
mod columns;
mod decode;
mod documents;
mod durable;
mod estimates;
mod evaluate;
mod gateway_file;
mod help;
mod key_ring;
mod keys;
mod mesh;
mod modes;
mod neighbour_file;
mod node;
mod planning;
mod progress;
mod protection;
mod published;
mod reload;
mod router;
mod routing;
mod secure_services;
mod simulate;
mod station;
mod up;
mod users;
mod variation;
mod xfrm_files;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Action, Command, FIRST_STEPS};
use crate::standard_streams::unless_unread;

fn main() -> ExitCode {
    // Usage errors end here, with status 2.
    let Some(action) = Command::parse().action else {
        // Help, as cargo and git give it. The status is that of a usage error: a script whose command came out empty must not go on.
        to_stderr!("{FIRST_STEPS}");
        return ExitCode::from(2);
    };
    let done: Result<(), Box<dyn Error>> = match action {
        Action::Up(args) => up::run(&args),
        Action::Sim(args) => unless_unread(simulate::run(&args)),
        Action::Eval(args) => unless_unread(evaluate::run(&args)),
        Action::Plan(args) => unless_unread(planning::run(&args)),
        Action::Cloud(args) => cloud::run(&args),
        Action::Router(args) => router::run(&args),
        Action::Node(args) => node::run(&args),
        Action::Keys(args) => keys::run(&args),
        Action::Users(args) => users::run(&args),
        Action::Decode(args) => decode::run(&args),
        Action::Completions(args) => unless_unread(help::completions(&args)),
        Action::Man(args) => help::man(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            to_stderr!("sixlock: {error}");
            let mut source = error.source();
            while let Some(cause) = source {
                to_stderr!("  because: {cause}");
                source = cause.source();
            }
            ExitCode::FAILURE
        }
    }
}
