//! `sixlock users`: who may sign in to the cloud.

mod accounts;
mod password;

use std::error::Error;

use crate::args::{Users, UsersAction, UsersAdd, UsersName, UsersRole};
use accounts::Accounts;

pub(crate) fn run(args: &Users) -> Result<(), Box<dyn Error>> {
    match &args.action {
        UsersAction::Add(args) => add(args),
        UsersAction::Passwd(args) => set_password(args),
        UsersAction::ResetLink(args) => make_reset_link(args),
        UsersAction::RemoveSecondFactor(args) => remove_second_factor(args),
        UsersAction::Role(args) => set_role(args),
        UsersAction::List(cloud) => list(&Accounts::open(cloud)?),
        UsersAction::Remove(args) => remove(args),
    }
}

fn add(args: &UsersAdd) -> Result<(), Box<dyn Error>> {
    let accounts = Accounts::open(&args.cloud)?;
    let password = password::read(&args.name)?;
    accounts.add(&args.name, &args.email, password, args.role.of_cloud())?;
    to_stdout!("{}: added as {}", args.name, args.role.of_cloud().name());
    accounts.close()
}

fn set_password(args: &UsersName) -> Result<(), Box<dyn Error>> {
    let accounts = Accounts::open(&args.cloud)?;
    let password = password::read(&args.name)?;
    accounts.set_password(&args.name, password)?;
    to_stdout!(
        "{}: the password is set; the sessions of before are over, tokens for programs stay",
        args.name
    );
    accounts.close()
}

fn make_reset_link(args: &UsersName) -> Result<(), Box<dyn Error>> {
    let accounts = Accounts::open(&args.cloud)?;
    let link = accounts.make_reset_link(&args.name)?;
    to_stdout!("{link}");
    to_stderr!(
        "hand it to {}: it sets a new password once, within an hour, and ends all sessions",
        args.name
    );
    accounts.close()
}

fn remove_second_factor(args: &UsersName) -> Result<(), Box<dyn Error>> {
    let accounts = Accounts::open(&args.cloud)?;
    accounts.remove_second_factor(&args.name)?;
    to_stdout!("{}: signs in without a code from now on", args.name);
    accounts.close()
}

fn set_role(args: &UsersRole) -> Result<(), Box<dyn Error>> {
    let accounts = Accounts::open(&args.cloud)?;
    accounts.set_role(&args.name, args.role.of_cloud())?;
    to_stdout!("{}: {} from now on", args.name, args.role.of_cloud().name());
    accounts.close()
}

fn remove(args: &UsersName) -> Result<(), Box<dyn Error>> {
    let accounts = Accounts::open(&args.cloud)?;
    accounts.remove(&args.name)?;
    to_stdout!("{}: removed, with all devices and data", args.name);
    accounts.close()
}

fn list(accounts: &Accounts) -> Result<(), Box<dyn Error>> {
    to_stdout!("{:>8}  {:<32} {:<13} email", "id", "name", "role");
    for user in accounts.list()? {
        to_stdout!("{:>8}  {:<32} {:<13} {}", user.id, user.username, user.role.name(), user.email);
    }
    Ok(())
}
