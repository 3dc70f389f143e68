//! What is made of the command's help: completions of shells and manual pages.

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap_complete::generate;

use crate::args::{Command, Completions, Man};

pub(crate) fn completions(args: &Completions) -> Result<(), Box<dyn Error>> {
    // Into memory first: the generator panics when it cannot write.
    let mut script = Vec::new();
    generate(args.shell, &mut Command::command(), "sixlock", &mut script);
    let mut output = io::stdout().lock();
    Ok(output.write_all(&script).and_then(|()| output.flush())?)
}

/// Writes a page for the command and one for each of its subcommands.
pub(crate) fn man(args: &Man) -> Result<(), Box<dyn Error>> {
    let mut command = Command::command().disable_help_subcommand(true);
    // Gives each subcommand its whole name, and with it its file.
    command.build();
    let written = std::fs::create_dir_all(&args.out).and_then(|()| write_pages(command, &args.out));
    written.map_err(|error| format!("{}: {error}", args.out.display()).into())
}

fn write_pages(command: clap::Command, folder: &Path) -> io::Result<()> {
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        write_pages(subcommand.clone(), folder)?;
    }
    let page = clap_mangen::Man::new(command).source(concat!("sixlock ", env!("CARGO_PKG_VERSION")));
    page.manual("Sixlock").generate_to(folder)?;
    Ok(())
}
