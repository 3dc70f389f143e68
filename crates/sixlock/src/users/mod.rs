//! `sixlock users`: who may sign in to the cloud.

mod accounts;
mod password;

use std::error::Error;

use crate::args::{Role, Users, UsersAction, UsersAdd, UsersName, UsersRole};
use accounts::Accounts;

pub(crate) fn run(args: &Users) -> Result<(), Box<dyn Error>> {
    match &args.action {
        UsersAction::Add(args) => add(args),
        UsersAction::Passwd(args) => set_password(args),
        UsersAction::Role(args) => set_role(args),
        UsersAction::List(cloud) => list(&Accounts::open(cloud)?),
        UsersAction::Remove(args) => remove(args),
    }
}

fn add(args: &UsersAdd) -> Result<(), Box<dyn Error>> {
    let accounts = Accounts::open(&args.cloud)?;
    let password = password::read(&args.name)?;
    accounts.add(&args.name, &args.email, password, args.role == Role::Admin)?;
    to_stdout!("{}: added as {}", args.name, args.role.name());
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

fn set_role(args: &UsersRole) -> Result<(), Box<dyn Error>> {
    let accounts = Accounts::open(&args.cloud)?;
    accounts.set_role(&args.name, args.role == Role::Admin)?;
    to_stdout!("{}: {} from now on", args.name, args.role.name());
    accounts.close()
}

fn remove(args: &UsersName) -> Result<(), Box<dyn Error>> {
    let accounts = Accounts::open(&args.cloud)?;
    accounts.remove(&args.name)?;
    to_stdout!("{}: removed, with all devices and data", args.name);
    accounts.close()
}

fn list(accounts: &Accounts) -> Result<(), Box<dyn Error>> {
    to_stdout!("{:>8}  {:<32} {:<6} email", "id", "name", "role");
    for user in accounts.list()? {
        let role = if user.admin { Role::Admin } else { Role::User };
        to_stdout!("{:>8}  {:<32} {:<6} {}", user.id, user.username, role.name(), user.email);
    }
    Ok(())
}
